/** Reads sections of blocks for the scanner, at the configured commitment level. */
import { compare } from "../../core/compare.ts";
import type { OperatingError } from "../../core/errors.ts";
import { type Address, isNative, NATIVE_SOL } from "../../core/hex.ts";
import type { ChainReader, Outflow, ScannedBlock, Section, Transfer } from "../port/index.ts";
import type { TransactionAnswer } from "./answers.ts";
import type { BlockAnswer, BlockTransaction } from "./block-answer.ts";
import { fromBase58, fromSignature, toBase58 } from "./base58.ts";
import type { Accounts } from "./contracts.ts";
import { type Actors, listMemos, readEffects, returnedBy } from "./effects.ts";
import type { CommitmentLevel } from "./node.ts";
import type { Quorum } from "./quorum.ts";

/** Most blocks of a section, which bounds its memory. */
const BLOCKS_MAX = 32;

/** Returns the chain's `readSection`. Throws RPC_UNAVAILABLE without enough agreeing answers. */
export function createSectionReader(
  quorum: Quorum,
  { accounts, walkAt }: { readonly accounts: Accounts; readonly walkAt: CommitmentLevel },
): ChainReader["readSection"] {
  const { nodes, unavailable } = quorum;
  const walked = quorum.blocks[walkAt];
  /** Selects transactions of a block that may be orders: only these are read in full. */
  const paysForOrders = new Set(accounts.feePayers.map((account) => String(toBase58(account))));
  const mayBeOurs = ({ feePayer, hasMemo }: BlockTransaction) =>
    hasMemo && paysForOrders.has(feePayer);

  async function readTransaction(signature: string, slot: bigint): Promise<TransactionAnswer> {
    const found = await nodes.agree((node) => node.getTransaction(signature, walkAt));
    // After a reorg the transaction may be in another block, with another outcome.
    if (!found?.succeeded || found.slot !== slot) throw unavailable("a transaction is missing");
    return found;
  }

  async function listOutflows(block: BlockAnswer): Promise<readonly Outflow[]> {
    const ours = block.transactions.filter(mayBeOurs);
    const outflows = await Promise.all(
      ours.map(async ({ signature, index }) =>
        outflowsOf(await readTransaction(signature, block.slot), accounts, index),
      ),
    );
    return outflows.flat();
  }

  async function readFindings(
    block: BlockAnswer,
    { wanted, hasCoin }: { readonly wanted: Wanted; readonly hasCoin: boolean },
  ): Promise<Findings> {
    const gains = [...listTokenGains(block, wanted), ...(hasCoin ? listSolGains(block) : [])];
    return { block, gains, outflows: await listOutflows(block) };
  }

  function complete(findings: Findings, chosen: ReadonlySet<Address>): ScannedBlock {
    const { block, gains, outflows } = findings;
    return {
      number: block.slot,
      hash: block.hash,
      parentHash: block.parentHash,
      time: block.time ?? 0n,
      transfers: gains
        .filter(({ to }) => chosen.has(to))
        .map((gain) => toTransfer(gain, unavailable)),
      outflows: outflows.filter(({ wallet }) => chosen.has(wallet)),
    };
  }

  return async ({ after, max, tokens, choose }): Promise<Section | null> => {
    const blocks = await walked.readBlocksAfter(after, Math.min(max, BLOCKS_MAX));
    const [first] = blocks;
    if (!first) return null;
    const wanted = new Map(tokens.map((token) => [String(toBase58(token)), token]));
    const hasCoin = tokens.some(isNative);
    const found = await Promise.all(
      blocks.map((block) => readFindings(block, { wanted, hasCoin })),
    );
    const named = new Set(found.flatMap(accountsOf));
    const chosen = named.size === 0 ? named : await choose([...named]);
    return {
      parentHash: first.parentHash,
      blocks: found.map((findings) => complete(findings, chosen)),
    };
  };
}

/** The movements of a block, before it is known which accounts matter. */
interface Findings {
  readonly block: BlockAnswer;
  readonly gains: readonly Gain[];
  readonly outflows: readonly Outflow[];
}

function accountsOf({ gains, outflows }: Findings): Address[] {
  return [...gains.map(({ to }) => to), ...outflows.map(({ wallet }) => wallet)];
}

/** Lists the value that a transaction took out of vaults or returned to them. */
function outflowsOf(transaction: TransactionAnswer, actors: Actors, logIndex: number): Outflow[] {
  const txHash = fromSignature(transaction.signature);
  const left = readEffects(transaction, actors, logIndex).flatMap((effect): Outflow[] => {
    if (effect.kind !== "settled" && effect.kind !== "refunded") return [];
    const { wallet, token, amount } = effect;
    const kind = effect.kind === "settled" ? "swept" : "refunded";
    return [{ kind, wallet, token, amount, txHash, logIndex }];
  });
  const returned = listMemos(transaction, actors).flatMap((memo): Outflow[] => {
    if (memo.kind !== "return") return [];
    const { vault: wallet, token } = memo;
    const amount = -returnedBy(memo, transaction);
    return [{ kind: "returned", wallet, token, amount, txHash, logIndex }];
  });
  return [...left, ...returned];
}

/** A gain of an account. Few are of chosen accounts, so the rest of it is decoded later. */
interface Gain {
  readonly to: Address;
  readonly token: Address;
  readonly transaction: BlockTransaction;
  /** Base units; null when lamports exceed the safe integers. */
  readonly change: bigint | null;
  readonly ordinal: number;
}

/** Listed tokens by their base58, in which blocks name them. */
type Wanted = ReadonlyMap<string, Address>;

function listTokenGains(block: BlockAnswer, wanted: Wanted): Gain[] {
  return block.transactions.flatMap((transaction) => {
    const seen = new Map<string, number>();
    return transaction.tokens.flatMap(({ owner, mint, change }): Gain[] => {
      const token = wanted.get(mint);
      if (token === undefined || change <= 0n) return [];
      const ordinal = seen.get(mint) ?? 0;
      seen.set(mint, ordinal + 1);
      return [{ to: fromBase58(owner), token, transaction, change, ordinal }];
    });
  });
}

function listSolGains(block: BlockAnswer): Gain[] {
  return block.transactions.flatMap((transaction) =>
    transaction.sol
      .filter(({ change }) => change === null || change > 0n)
      .map(({ account, change }, ordinal) => ({
        to: fromBase58(account),
        token: NATIVE_SOL,
        transaction,
        change,
        ordinal,
      })),
  );
}

function toTransfer(
  { to, token, transaction, change, ordinal }: Gain,
  unavailable: (reason: string) => OperatingError,
): Transfer {
  if (change === null) throw unavailable("balance is not exact");
  return {
    token,
    from: fromBase58(payerOf(transaction, token)),
    to,
    amount: change,
    txHash: fromSignature(transaction.signature),
    logIndex: transaction.index,
    ordinal,
  };
}

/** Returns the account that lost most of a token, otherwise the fee payer. */
function payerOf({ sol, tokens, feePayer }: BlockTransaction, token: Address): string {
  const mint = String(toBase58(token));
  const changes = isNative(token)
    ? sol.map(({ account, change }) => ({ owner: account, change: change ?? 0n }))
    : tokens.filter((one) => one.mint === mint);
  const [first] = changes
    .filter(({ change }) => change < 0n)
    .toSorted((one, other) => compare(one.change, other.change));
  return first?.owner ?? feePayer;
}
