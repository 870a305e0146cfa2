/** Parsers of a node's answers. Each throws `TypeError` on any other form. */
import { type Static, type TSchema, Type } from "typebox";
import { Compile } from "typebox/compile";
import { type Address, type Hex32, toHex32 } from "../../core/hex.ts";
import { decodeBase58, fromBase58 } from "./base58.ts";
import { isLeftover } from "./failures.ts";
import { MEMO_PROGRAM } from "./memos.ts";

export const KEY = "^[1-9A-HJ-NP-Za-km-z]{32,44}$";
export const SIGNATURE = "^[1-9A-HJ-NP-Za-km-z]{64,88}$";
const DIGITS = "^(0|[1-9][0-9]{0,19})$";
export const Key = Type.String({ pattern: KEY });
const Signature = Type.String({ pattern: SIGNATURE });
export const Whole = Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER });
/** Can exceed the safe integers; then the number is inexact. */
export const Lamports = Type.Number({ minimum: 0 });
const Digits = Type.String({ pattern: DIGITS });

const TokenBalance = Type.Object({
  accountIndex: Whole,
  mint: Key,
  owner: Key,
  uiTokenAmount: Type.Object({ amount: Digits }),
});
export const Balances = Type.Object({
  err: Type.Unknown(),
  preBalances: Type.Array(Lamports),
  postBalances: Type.Array(Lamports),
  preTokenBalances: Type.Array(TokenBalance),
  postTokenBalances: Type.Array(TokenBalance),
});
type Balances = Static<typeof Balances>;
const DIGITS_FORM = new RegExp(DIGITS);

export const BlockHead = Type.Object({
  blockhash: Key,
  previousBlockhash: Key,
  parentSlot: Whole,
  blockHeight: Whole,
  blockTime: Type.Union([Whole, Type.Null()]),
});

const Transaction = Type.Object({
  slot: Whole,
  blockTime: Type.Optional(Type.Union([Whole, Type.Null()])),
  transaction: Type.Object({
    signatures: Type.Array(Signature, { minItems: 1 }),
    message: Type.Object({
      accountKeys: Type.Array(Key, { minItems: 1 }),
      header: Type.Object({ numRequiredSignatures: Whole }),
      instructions: Type.Array(
        Type.Object({
          programIdIndex: Whole,
          accounts: Type.Array(Whole),
          data: Type.String(),
        }),
      ),
    }),
  }),
  meta: Type.Object({
    ...Balances.properties,
    loadedAddresses: Type.Optional(
      Type.Object({ writable: Type.Array(Key), readonly: Type.Array(Key) }),
    ),
  }),
});

/** A value, and the slot at which the node read it. */
export const InContext = <T extends TSchema>(value: T) =>
  Type.Object({ context: Type.Object({ slot: Whole }), value });

const Checks = {
  whole: Compile(Whole),
  key: Compile(Key),
  slots: Compile(Type.Array(Whole)),
  signatures: Compile(Type.Object({ ...BlockHead.properties, signatures: Type.Array(Signature) })),
  head: Compile(BlockHead),
  transaction: Compile(Type.Union([Type.Null(), Transaction])),
  history: Compile(
    Type.Array(
      Type.Object({
        signature: Signature,
        slot: Whole,
        err: Type.Unknown(),
        memo: Type.Union([Type.String(), Type.Null()]),
      }),
    ),
  ),
  prices: Compile(Type.Array(Type.Object({ prioritizationFee: Whole }))),
  simulation: Compile(
    InContext(
      Type.Object({
        err: Type.Unknown(),
        unitsConsumed: Type.Optional(Whole),
      }),
    ),
  ),
};

/** A change of SOL of one account that is not a token account. */
export interface SolChange {
  /** In base58. */
  readonly account: string;
  /** Lamports; null when they exceed the safe integers. */
  readonly change: bigint | null;
}

/** A change of an owner's balance of a mint, summed over its token accounts. */
export interface TokenChange {
  /** Both in base58. */
  readonly owner: string;
  readonly mint: string;
  readonly change: bigint;
}

/** The balance changes of a transaction. Keys stay in base58: a block has tens of thousands, and few are decoded. */
export interface Changes {
  readonly sol: readonly SolChange[];
  readonly tokens: readonly TokenChange[];
}

/** The place of a block in its chain. */
export interface BlockHeadAnswer {
  readonly slot: bigint;
  readonly hash: Hex32;
  readonly parentHash: Hex32;
  readonly parentSlot: bigint;
  readonly height: bigint;
  /** Unix seconds; null when the node does not know it. */
  readonly time: bigint | null;
}

/** A memo and its signers. */
export interface MemoAnswer {
  readonly text: string;
  readonly signers: readonly Address[];
}

/** A transaction with its memos. */
export interface TransactionAnswer extends Changes {
  readonly slot: bigint;
  /** Unix seconds; null when the node does not know it. */
  readonly time: bigint | null;
  readonly signature: string;
  readonly succeeded: boolean;
  /** Whether it failed because an account that signed would keep less than its rent: more arrived there since. */
  readonly metMore: boolean;
  readonly feePayer: string;
  /** Lamports that the fee payer lost. */
  readonly cost: bigint;
  readonly memos: readonly MemoAnswer[];
}

/** An entry of an account's history, newest first. */
export interface HistoryEntry {
  readonly signature: string;
  readonly slot: bigint;
  readonly succeeded: boolean;
  /** All memos of the transaction as one text; null without memos. */
  readonly memo: string | null;
}

interface Check<T> {
  Check(value: unknown): value is T;
}

/** Returns a value of the checked form, which the error names. */
export function expectForm<T>(check: Check<T>, form: string, value: unknown): T {
  if (!check.Check(value)) throw new TypeError(`expected ${form}`);
  return value;
}

/** Parses a whole number: a slot, height or length. */
export function parseWhole(value: unknown): bigint {
  return BigInt(expectForm(Checks.whole, "a whole number", value));
}

/** Parses a hash. */
export function parseHash(value: unknown): Hex32 {
  return toHex32(fromBase58(expectForm(Checks.key, "a hash", value)));
}

/** Parses slots, in the order of the answer. */
export function parseSlots(value: unknown): bigint[] {
  return expectForm(Checks.slots, "slots", value).map(BigInt);
}

/** Parses a block without its transactions. */
export function parseBlockHead(slot: bigint, value: unknown): BlockHeadAnswer {
  return readHead(slot, expectForm(Checks.head, "a block", value));
}

/** Parses a block and the ids of its transactions. */
export function parseBlockSignatures(slot: bigint, value: unknown) {
  const block = expectForm(Checks.signatures, "a block", value);
  return { head: readHead(slot, block), signatures: block.signatures };
}

export function readHead(slot: bigint, block: Static<typeof BlockHead>): BlockHeadAnswer {
  const parentSlot = BigInt(block.parentSlot);
  if (parentSlot >= slot) throw new TypeError("a block is above its parent");
  return {
    slot,
    hash: toHex32(fromBase58(block.blockhash)),
    parentHash: toHex32(fromBase58(block.previousBlockhash)),
    parentSlot,
    height: BigInt(block.blockHeight),
    time: block.blockTime === null ? null : BigInt(block.blockTime),
  };
}

/** Parses a transaction; null when the node does not know it. */
export function parseTransaction(value: unknown): TransactionAnswer | null {
  const found = expectForm(Checks.transaction, "a transaction", value);
  if (found === null) return null;
  const { transaction, meta, slot, blockTime = null } = found;
  const { message } = transaction;
  const { writable = [], readonly = [] } = meta.loadedAddresses ?? {};
  const keys = [...message.accountKeys, ...writable, ...readonly];
  const signers = message.accountKeys.slice(0, message.header.numRequiredSignatures);
  const [signature = ""] = transaction.signatures;
  const memos = message.instructions
    .filter(({ programIdIndex }) => keyAt(keys, programIdIndex) === MEMO_PROGRAM)
    .map(({ data, accounts }) => ({
      text: decodeText(data),
      signers: accounts
        .map((place) => keyAt(keys, place))
        .filter((key) => signers.includes(key))
        .map(fromBase58),
    }));
  return {
    slot: BigInt(slot),
    time: blockTime === null ? null : BigInt(blockTime),
    signature,
    succeeded: meta.err === null,
    metMore: isLeftover(meta.err, signers.length),
    feePayer: keyAt(keys, 0),
    cost: readCost(meta),
    memos,
    ...readChanges(keys, meta),
  };
}

function readCost({ preBalances, postBalances }: Balances): bigint {
  const [before] = preBalances;
  const [after] = postBalances;
  if (!Number.isSafeInteger(before) || !Number.isSafeInteger(after)) {
    throw new TypeError("expected the balances of the fee payer");
  }
  return BigInt(before ?? 0) - BigInt(after ?? 0);
}

export function readChanges(keys: readonly string[], balances: Balances): Changes {
  const { preBalances, postBalances, preTokenBalances, postTokenBalances } = balances;
  if (preBalances.length !== keys.length || postBalances.length !== keys.length) {
    throw new TypeError("expected a balance of every account");
  }
  const tokenAccounts = new Set<number>();
  const tokens = new Map<string, { owner: string; mint: string; change: bigint }>();
  const add = (
    { accountIndex, mint, owner, uiTokenAmount }: Static<typeof TokenBalance>,
    sign: bigint,
  ) => {
    tokenAccounts.add(accountIndex);
    if (!DIGITS_FORM.test(uiTokenAmount.amount)) throw new TypeError("expected an amount");
    const key = `${owner}:${mint}`;
    const amount = sign * BigInt(uiTokenAmount.amount);
    const known = tokens.get(key);
    if (known) known.change += amount;
    else tokens.set(key, { owner, mint, change: amount });
  };
  for (const balance of preTokenBalances) add(balance, -1n);
  for (const balance of postTokenBalances) add(balance, 1n);
  const sol = keys.flatMap((account, index) => {
    const before = preBalances[index];
    const after = postBalances[index];
    if (before === after || tokenAccounts.has(index)) return [];
    const isExact = Number.isSafeInteger(before) && Number.isSafeInteger(after);
    return [{ account, change: isExact ? BigInt(after ?? 0) - BigInt(before ?? 0) : null }];
  });
  return { sol, tokens: [...tokens.values()].filter(({ change }) => change !== 0n) };
}

export function keyAt(keys: readonly string[], index: number): string {
  const key = keys[index];
  if (key === undefined) throw new TypeError("expected an account of the transaction");
  return key;
}

/** Decodes an instruction's data as UTF-8; invalid bytes become replacement characters. */
function decodeText(data: string): string {
  return Buffer.from(decodeBase58(data)).toString("utf8");
}

/** Parses a page of an account's history. */
export function parseHistory(value: unknown): readonly HistoryEntry[] {
  return expectForm(Checks.history, "a history", value).map(({ signature, slot, err, memo }) => ({
    signature,
    slot: BigInt(slot),
    succeeded: err === null,
    memo,
  }));
}

/** Parses the lowest priority fees that recent blocks accepted, in micro-lamports per compute unit. */
export function parsePrices(value: unknown): readonly bigint[] {
  return expectForm(Checks.prices, "prices", value).map(({ prioritizationFee }) =>
    BigInt(prioritizationFee),
  );
}

/** Parses the result of a simulation and the slot of its state. */
export function parseSimulation(value: unknown): {
  readonly slot: bigint;
  /** The node's error as it sent it; null without an error. */
  readonly error: unknown;
  readonly units: bigint;
} {
  const { context, value: found } = expectForm(Checks.simulation, "a simulation", value);
  return {
    slot: BigInt(context.slot),
    error: found.err,
    units: BigInt(found.unitsConsumed ?? 0),
  };
}
