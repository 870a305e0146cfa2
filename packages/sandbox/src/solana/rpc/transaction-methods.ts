/** Methods that find, simulate and send transactions. */
import { type Address, getBase58Encoder, getBase64Encoder } from "@solana/kit";
import { asRecord } from "../../json-file.ts";
import type { Simulation } from "../svm/bank.ts";
import type { Chain } from "../chain.ts";
import { computeUnitPriceOf, feeOf } from "../svm/fees.ts";
import { BLOCKHASH_AGE_MAX, type LandedTransaction } from "../ledger.ts";
import { MEMO_PROGRAM_ADDRESSES } from "../svm/programs.ts";
import {
  decodeMessage,
  decodeTransaction,
  type DecodedTransaction,
  sizeLimitOf,
} from "../svm/transaction.ts";
import { toAccountForm, writeAccount } from "./account-json.ts";
import { inContext, type Methods, viewOf } from "./method.ts";
import { type Params, toAddress, toCommitment, toLedgerCommitment, toInteger } from "./params.ts";
import { invalidParams, RPC_CODES, RpcError } from "./rpc-error.ts";
import { toTransactionForm, writeOutcome, writeTransaction } from "./transaction-json.ts";

const SIGNATURES_MAX = 256;
const HISTORY_MAX = 1_000n;
/** Number of blocks for which a node has a status without searching its history. */
const RECENT_STATUS_BLOCKS = 300;
const FEE_BLOCKS = 150;
const FEE_ADDRESSES_MAX = 128;

/** Returns the methods. */
export function transactionMethods(chain: Chain): Methods {
  const { ledger, bank } = chain;

  const statusOf = (landed: LandedTransaction) => {
    const commitment = ledger.commitmentOf(landed.slot);
    const depth = ledger.tip().height - (ledger.blockAt(landed.slot)?.height ?? 0n);
    return {
      slot: landed.slot,
      confirmations: commitment === "finalized" ? null : depth,
      ...writeOutcome(landed),
      confirmationStatus: commitment,
    };
  };
  const blockTimeOf = ({ slot }: LandedTransaction) => ledger.blockAt(slot)?.time ?? null;

  return {
    getSignatureStatuses: (params) => {
      const signatures = params.list(0, "signatures", SIGNATURES_MAX);
      const searches = params.optionsAt(1)["searchTransactionHistory"] === true;
      const recentFrom = ledger.newest(RECENT_STATUS_BLOCKS)[0]?.slot ?? 0n;
      const block = ledger.tip();
      const statuses = signatures.map((signature) => {
        const landed = ledger.transaction(String(signature));
        return landed && (searches || landed.slot >= recentFrom) ? statusOf(landed) : null;
      });
      return inContext({ block }, statuses);
    },
    getSignaturesForAddress: (params) => {
      const address = params.address(0);
      const options = params.optionsAt(1);
      const tip = ledger.tip(toLedgerCommitment(options["commitment"]));
      const limit =
        options["limit"] === undefined ? HISTORY_MAX : toInteger(options["limit"], "limit");
      if (limit < 1n || limit > HISTORY_MAX)
        throw invalidParams(`Invalid limit; max ${HISTORY_MAX}`);
      const newestFirst = ledger
        .transactionsOf(address)
        .filter(({ slot }) => slot <= tip.slot)
        .toReversed();
      return between(newestFirst, options)
        .slice(0, Number(limit))
        .map((landed) => ({
          signature: landed.decoded.signature,
          slot: landed.slot,
          err: landed.meta.err,
          memo: readMemo(landed.decoded),
          blockTime: blockTimeOf(landed),
          confirmationStatus: ledger.commitmentOf(landed.slot),
        }));
    },
    getTransaction: (params) => {
      const second = params.at(1);
      const options = typeof second === "string" ? { encoding: second } : params.optionsAt(1);
      const tip = ledger.tip(toLedgerCommitment(options["commitment"]));
      const landed = ledger.transaction(params.text(0, "a signature"));
      if (!landed || landed.slot > tip.slot) return null;
      const written = writeTransaction(landed, toTransactionForm(options));
      return { slot: landed.slot, blockTime: blockTimeOf(landed), ...written };
    },
    getRecentPrioritizationFees: (params) => {
      const requested =
        params.at(0) === undefined ? [] : params.list(0, "addresses", FEE_ADDRESSES_MAX);
      const addresses = requested.map(toAddress);
      return ledger.newest(FEE_BLOCKS).map(({ slot, transactions }) => ({
        slot,
        prioritizationFee: lowestPrice(transactions, addresses),
      }));
    },
    getFeeForMessage: (params) => {
      const view = viewOf(chain, params.optionsAt(1));
      const message = readMessage(params.text(0, "a message"));
      const isAlive = ledger.isAlive(message.lifetimeToken, view.block);
      return inContext(view, isAlive ? feeOf(message) : null);
    },
    simulateTransaction: (params) => {
      const options = params.optionsAt(1);
      const view = viewOf(chain, options);
      const decoded = readTransaction(params, options);
      const replaces = options["replaceRecentBlockhash"] === true;
      const sigVerify = options["sigVerify"] === true;
      if (replaces && sigVerify) {
        throw invalidParams("sigVerify may not be used with replaceRecentBlockhash");
      }
      const dead = replaces ? undefined : chain.deadReason(decoded, view.commitment);
      if (dead !== undefined) return inContext(view, { ...EMPTY_SIMULATION, err: dead });
      const simulation = bank.simulate(decoded, { sigVerify });
      const replacementBlockhash = {
        blockhash: view.block.blockhash,
        lastValidBlockHeight: view.block.height + BLOCKHASH_AGE_MAX,
      };
      return inContext(view, {
        ...writeSimulation(simulation),
        accounts: writeSimulatedAccounts(chain, simulation, options["accounts"]),
        ...(options["innerInstructions"] === true && {
          innerInstructions: simulation.innerInstructions,
        }),
        ...(replaces && { replacementBlockhash }),
      });
    },
    sendTransaction: (params) => {
      const options = params.optionsAt(1);
      const decoded = readTransaction(params, options);
      if (options["skipPreflight"] !== true) preflight(chain, decoded, options);
      if (chain.faults.dropSends > 0) chain.faults.dropSends -= 1;
      else chain.submit(decoded);
      return decoded.signature;
    },
  };
}

const EMPTY_SIMULATION = {
  err: null,
  logs: [],
  accounts: null,
  unitsConsumed: 0,
  returnData: null,
  innerInstructions: null,
} as const;

/** Throws if the transaction would fail, as a node does without `skipPreflight`. */
function preflight(
  chain: Chain,
  decoded: DecodedTransaction,
  options: Readonly<Record<string, unknown>>,
): void {
  const { minContextSlot, preflightCommitment } = options;
  const commitment = toCommitment(preflightCommitment);
  viewOf(chain, { commitment, ...(minContextSlot !== undefined && { minContextSlot }) });
  const dead = chain.deadReason(decoded, commitment);
  const simulation = dead ? undefined : chain.bank.simulate(decoded, { sigVerify: true });
  const err = dead ?? simulation?.err ?? null;
  if (err === null) return;
  if (err === "SignatureFailure") {
    throw new RpcError(
      RPC_CODES.signatureVerificationFailure,
      "Transaction signature verification failure",
    );
  }
  const written = simulation ? writeSimulation(simulation) : EMPTY_SIMULATION;
  throw new RpcError(
    RPC_CODES.preflightFailure,
    `Transaction simulation failed: ${typeof err === "string" ? err : JSON.stringify(err)}`,
    { ...written, err, accounts: null, innerInstructions: null },
  );
}

function writeSimulation({ err, logs, unitsConsumed, returnData }: Simulation) {
  return { err, logs, unitsConsumed, returnData: returnData ?? null };
}

/** Formats the requested accounts as of after the simulation. */
function writeSimulatedAccounts(chain: Chain, simulation: Simulation, requested: unknown) {
  const options = asRecord(requested);
  if (!options || simulation.err !== null) return null;
  const { addresses } = options;
  if (!Array.isArray(addresses)) throw invalidParams("Invalid params: expected accounts.addresses");
  const read = (address: Address) => simulation.accounts.get(address) ?? chain.bank.read(address);
  const form = toAccountForm({ encoding: "base64", ...options });
  return addresses.map((one) => {
    const account = read(toAddress(one));
    return writeAccount(account && account.lamports > 0n ? account : undefined, form, read);
  });
}

function readTransaction(
  params: Params,
  options: Readonly<Record<string, unknown>>,
): DecodedTransaction {
  const bytes = readBytes(params.text(0, "a transaction"), options["encoding"] ?? "base58");
  const sizeMax = sizeLimitOf(bytes);
  if (bytes.length > sizeMax) {
    throw invalidParams(
      `decoded solana_transaction::versioned::VersionedTransaction too large: ${bytes.length} bytes (max: ${sizeMax} bytes)`,
    );
  }
  return decoding("solana_transaction::versioned::VersionedTransaction", () =>
    decodeTransaction(bytes),
  );
}

function readMessage(text: string) {
  const bytes = readBytes(text, "base64");
  return decoding("solana_message::versions::VersionedMessage", () => decodeMessage(bytes));
}

function readBytes(text: string, encoding: unknown): Uint8Array {
  if (encoding !== "base64" && encoding !== "base58") {
    throw invalidParams(
      `unsupported encoding: ${String(encoding)}. Supported encodings: base58, base64`,
    );
  }
  const encoder = encoding === "base64" ? getBase64Encoder() : getBase58Encoder();
  return decoding(encoding, () => Uint8Array.from(encoder.encode(text)));
}

/** Runs a decoder and converts its exception to an error about the parameter. */
function decoding<Result>(type: string, decode: () => Result): Result {
  try {
    return decode();
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw invalidParams(`failed to deserialize ${type}: ${reason}`);
  }
}

/** Returns the part of a history between two signatures, both excluded. */
function between(
  newestFirst: readonly LandedTransaction[],
  { before, until }: Readonly<Record<string, unknown>>,
): readonly LandedTransaction[] {
  const placeOf = (signature: unknown) =>
    newestFirst.findIndex(({ decoded }) => decoded.signature === signature);
  const start = before === undefined ? 0 : placeOf(before) + 1;
  // An unknown `before` gives an empty result, as on a node that does not have the signature.
  if (before !== undefined && start === 0) return [];
  const end = until === undefined ? -1 : placeOf(until);
  return newestFirst.slice(start, end === -1 ? undefined : end);
}

/** Formats the memos of a transaction, as nodes do in a list of signatures. */
function readMemo({ instructions, staticKeys }: DecodedTransaction): string | null {
  const memos = instructions.flatMap(({ programIndex, data }) => {
    const program = staticKeys[programIndex];
    if (program === undefined || !MEMO_PROGRAM_ADDRESSES.includes(program)) return [];
    return [`[${data.length}] ${new TextDecoder().decode(data)}`];
  });
  return memos.length === 0 ? null : memos.join("; ");
}

/** Returns the lowest price per compute unit among transactions that write all of the given accounts. */
function lowestPrice(
  transactions: readonly LandedTransaction[],
  addresses: readonly Address[],
): bigint {
  const prices = transactions
    .filter(({ keys }) =>
      addresses.every((address) => keys.some((key) => key.writable && key.pubkey === address)),
    )
    .map(({ decoded }) => computeUnitPriceOf(decoded));
  return prices.reduce((least, price) => (price < least ? price : least), prices[0] ?? 0n);
}
