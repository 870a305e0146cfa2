/**
 * Executes transactions on the SVM with the real token programs, and returns the metadata that a block stores of each.
 *
 * The SVM has neither blocks nor commitment levels. It gets only transactions with a valid lifetime; its own check of
 * blockhashes and duplicates is disabled.
 */
import { randomInt } from "node:crypto";
import {
  type Address,
  type EncodedAccount,
  getBase58Decoder,
  getBase64Decoder,
  getAddressDecoder,
  lamports,
} from "@solana/kit";
import { Clock, FailedTransactionMetadata, LiteSVM, Rent, type TransactionMetadata } from "litesvm";
import {
  type AccountHistory,
  createAccountHistory,
  type StoredAccount,
} from "./account-history.ts";
import { durableNonceFrom, findNonceAccount, NONCE_OFFSET } from "./durable-nonce.ts";
import { SYSTEM_PROGRAM_ADDRESS } from "./programs.ts";
import { formatUiAmount, readMint, readTokenAccount } from "./token-state.ts";
import { type AccountKey, type DecodedTransaction, resolveKeys } from "./transaction.ts";
import { readTransactionError, type TransactionError } from "./transaction-error.ts";

/** The balance of a token account before or after a transaction. */
export interface TokenBalance {
  readonly accountIndex: number;
  readonly mint: Address;
  readonly owner: Address;
  readonly programId: Address;
  readonly uiTokenAmount: ReturnType<typeof formatUiAmount>;
}

/** Instructions called by programs, with the index of the outer instruction. */
export interface InnerInstructions {
  readonly index: number;
  readonly instructions: readonly {
    readonly programIdIndex: number;
    readonly accounts: readonly number[];
    readonly data: string;
    readonly stackHeight: number;
  }[];
}

/** Return data of a program. */
export interface ReturnData {
  readonly programId: Address;
  readonly data: readonly [string, "base64"];
}

/** Metadata that a block stores of a transaction, with the field names of the JSON-RPC interface. */
interface TransactionMeta {
  readonly err: TransactionError | null;
  readonly fee: bigint;
  readonly preBalances: readonly bigint[];
  readonly postBalances: readonly bigint[];
  readonly preTokenBalances: readonly TokenBalance[];
  readonly postTokenBalances: readonly TokenBalance[];
  readonly innerInstructions: readonly InnerInstructions[];
  readonly logMessages: readonly string[];
  readonly loadedAddresses: {
    readonly writable: readonly Address[];
    readonly readonly: readonly Address[];
  };
  readonly returnData: ReturnData | undefined;
  readonly computeUnitsConsumed: bigint;
}

/** A transaction that was executed and paid its fee, whether it succeeded or not. */
export interface Execution {
  readonly keys: readonly AccountKey[];
  readonly meta: TransactionMeta;
}

/** The result of a simulation. */
export interface Simulation {
  readonly err: TransactionError | null;
  readonly logs: readonly string[];
  readonly unitsConsumed: bigint;
  readonly returnData: ReturnData | undefined;
  readonly innerInstructions: readonly InnerInstructions[];
  /** Accounts that the transaction would change. */
  readonly accounts: ReadonlyMap<Address, StoredAccount>;
}

/** The SVM and the history of its accounts. */
export interface Bank {
  readonly history: AccountHistory;
  /** Returns the current state of an account. */
  read(address: Address): StoredAccount | undefined;
  /** Writes an account without a transaction, as of this slot. */
  write(slot: bigint, address: Address, account: StoredAccount | undefined): void;
  /** Executes a transaction in a slot. Returns undefined if it could not pay its fee and left no trace. */
  execute(slot: bigint, decoded: DecodedTransaction): Execution | undefined;
  simulate(decoded: DecodedTransaction, options: { readonly sigVerify: boolean }): Simulation;
  /** Begins a slot: sets the clock and the SlotHashes sysvar. */
  beginSlot(slot: bigint, time: bigint, recent: readonly SlotHashOf[]): void;
  /** Reverts all changes after a slot. */
  rollBack(slot: bigint): void;
  minimumBalance(bytes: bigint): bigint;
  /** Sets the rent, in lamports per byte. */
  setRentPerByte(lamportsPerByte: bigint): void;
  save(): SavedBank;
}

/** A slot and the hash of its block. */
interface SlotHashOf {
  readonly slot: bigint;
  readonly hash: string;
}

/** Blockhashes of the SVM to skip at a fork, so that durable nonces of the two forks differ. */
const HASHES_SKIPPED_AT_FORK = 1_000;
/** Slots of an epoch, as on the real chain. */
export const SLOTS_PER_EPOCH = 432_000n;
const RENT_BURN_PERCENT = 50;

/** Minimum and maximum of blockhashes to skip at a restart, because the SVM starts with the same sequence again. */
const HASHES_SKIPPED_AT_RESTART = [1_000, 20_000] as const;

/** The saved state of a bank. */
export interface SavedBank {
  readonly accounts: ReturnType<AccountHistory["save"]>;
  readonly rentPerByte: bigint;
}

/** Creates a bank with the built-in programs, from a saved state if given. */
export function createBank(saved?: SavedBank): Bank {
  const svm = new LiteSVM()
    .withNativeMints()
    .withBlockhashCheck(false)
    .withTransactionHistory(0n)
    .withLogBytesLimit(10_000n);
  const read = (address: Address) => readAccount(svm, address);
  const history = createAccountHistory(read, saved?.accounts);

  const put = (address: Address, account: StoredAccount | undefined): void => {
    const { lamports: balance, ...rest } = account ?? {
      lamports: 0n,
      data: new Uint8Array(),
      programAddress: SYSTEM_PROGRAM_ADDRESS,
      executable: false,
    };
    const space = BigInt(rest.data.length);
    svm.setAccount({ address, lamports: lamports(balance), space, ...rest });
  };
  const skipHashes = (count: number): void => {
    for (let left = 0; left < count; left += 1) svm.expireBlockhash();
  };
  const setRentPerByte = (lamportsPerByte: bigint): void => {
    svm.setRent(new Rent(lamportsPerByte, 1, RENT_BURN_PERCENT));
  };
  if (saved) {
    setRentPerByte(saved.rentPerByte);
    for (const [address, versions] of saved.accounts) put(address, versions.at(-1)?.account);
    skipHashes(randomInt(...HASHES_SKIPPED_AT_RESTART));
  }
  const resolve = (decoded: DecodedTransaction) =>
    resolveKeys(decoded, (table) => read(table)?.data);
  const tokenBalances = (keys: readonly AccountKey[]): readonly TokenBalance[] =>
    keys.flatMap(({ pubkey }, accountIndex) => {
      const account = readTokenAccount(read(pubkey));
      if (!account) return [];
      const { mint, owner, program: programId, amount } = account;
      const decimals = readMint(read(mint))?.decimals ?? 0;
      const uiTokenAmount = formatUiAmount(amount, decimals);
      return [{ accountIndex, mint, owner, programId, uiTokenAmount }];
    });
  const balanceOf = (address: Address): bigint => svm.getBalance(address) ?? 0n;
  const balances = (keys: readonly AccountKey[]) => keys.map(({ pubkey }) => balanceOf(pubkey));

  /** Advances the nonce of a failed transaction, which the SVM does not do on its own. */
  const advanceNonce = (decoded: DecodedTransaction): void => {
    const nonce = findNonceAccount(decoded, read);
    if (!nonce) return;
    const data = Uint8Array.from(nonce.account.data);
    data.set(durableNonceFrom(svm.latestBlockhash()), NONCE_OFFSET);
    put(nonce.address, { ...nonce.account, lamports: read(nonce.address)?.lamports ?? 0n, data });
  };

  return {
    history,
    read,
    write: (slot, address, account) => {
      history.keepBefore(address);
      put(address, account);
      history.record(slot, address, account);
    },
    execute: (slot, decoded) => {
      const resolved = resolve(decoded);
      if (!resolved) return undefined;
      const { keys, loaded } = resolved;
      const writable = keys.filter((key) => key.writable);
      for (const { pubkey } of writable) history.keepBefore(pubkey);
      const preBalances = balances(keys);
      const preTokenBalances = tokenBalances(keys);

      const result = svm.sendTransaction(decoded.transaction);
      const failed = result instanceof FailedTransactionMetadata;
      // If the payer was not charged, the transaction is not in a block: bad signature, or balance too low for the fee.
      const [payer] = keys;
      if (failed && payer && balanceOf(payer.pubkey) === preBalances[0]) return undefined;
      if (failed) advanceNonce(decoded);
      for (const { pubkey } of writable) history.record(slot, pubkey, read(pubkey));

      const details = failed ? result.meta() : result;
      return {
        keys,
        meta: {
          err: failed ? readTransactionError(result) : null,
          fee: readFee(result),
          preBalances,
          postBalances: balances(keys),
          preTokenBalances,
          postTokenBalances: tokenBalances(keys),
          innerInstructions: readInner(details),
          logMessages: details.logs(),
          loadedAddresses: loaded,
          returnData: readReturnData(details),
          computeUnitsConsumed: details.computeUnitsConsumed(),
        },
      };
    },
    simulate: (decoded, { sigVerify }) => {
      const result = simulateUnder(svm, decoded, sigVerify);
      const failed = result instanceof FailedTransactionMetadata;
      const details = result.meta();
      return {
        err: failed ? readTransactionError(result) : null,
        logs: details.logs(),
        unitsConsumed: details.computeUnitsConsumed(),
        returnData: readReturnData(details),
        innerInstructions: readInner(details),
        accounts: new Map(
          failed
            ? []
            : result.postAccounts().map((account) => [account.address, toStored(account)] as const),
        ),
      };
    },
    beginSlot: (slot, time, recent) => {
      svm.expireBlockhash();
      const epoch = slot / SLOTS_PER_EPOCH;
      svm.setClock(new Clock(slot, time, epoch, epoch + 1n, time));
      svm.setSlotHashes([...recent]);
    },
    rollBack: (slot) => {
      for (const [address, account] of history.rollBack(slot)) put(address, account);
      skipHashes(HASHES_SKIPPED_AT_FORK);
    },
    minimumBalance: (bytes) => svm.minimumBalanceForRentExemption(bytes),
    setRentPerByte,
    save: () => ({ accounts: history.save(), rentPerByte: svm.getRent().lamportsPerByteYear }),
  };
}

/** Simulates with or without signature verification, which is a setting of the SVM, and restores the setting. */
function simulateUnder(svm: LiteSVM, { transaction }: DecodedTransaction, sigVerify: boolean) {
  svm.withSigverify(sigVerify);
  try {
    return svm.simulateTransaction(transaction);
  } finally {
    svm.withSigverify(true);
  }
}

function readAccount(svm: LiteSVM, address: Address): StoredAccount | undefined {
  const account = svm.getAccount(address);
  return account.exists ? toStored(account) : undefined;
}

/** Copies an account, because the SVM returns its own buffer. */
function toStored({ lamports, data, programAddress, executable }: EncodedAccount): StoredAccount {
  return { lamports, data: Uint8Array.from(data), programAddress, executable };
}

/** Reads the fee, which the SVM reports only as the last field of its text description. */
function readFee(result: TransactionMetadata | FailedTransactionMetadata): bigint {
  const fee = /\bfee: (\d+)[ })]*$/.exec(result.toString())?.[1];
  if (fee === undefined) throw new Error("the SVM's description of the transaction has no fee");
  return BigInt(fee);
}

function readInner(details: TransactionMetadata): readonly InnerInstructions[] {
  return details.innerInstructions().flatMap((called, index) => {
    if (called.length === 0) return [];
    const instructions = called.map((inner) => ({
      programIdIndex: inner.instruction().programIdIndex(),
      accounts: [...inner.instruction().accounts()],
      data: getBase58Decoder().decode(inner.instruction().data()),
      stackHeight: inner.stackHeight(),
    }));
    return [{ index, instructions }];
  });
}

function readReturnData(details: TransactionMetadata): ReturnData | undefined {
  const data = details.returnData().data();
  if (data.length === 0) return undefined;
  return {
    programId: getAddressDecoder().decode(details.returnData().programId()),
    data: [getBase64Decoder().decode(data), "base64"],
  };
}
