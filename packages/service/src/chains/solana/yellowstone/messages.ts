/**
 * The messages of Yellowstone's `geyser.Geyser/Subscribe`, by the field numbers of its published `geyser.proto` and
 * `solana-storage.proto`. Of a transaction only accounts and balances are read: instructions and logs, most of its bytes,
 * are skipped.
 */
import { Compile } from "typebox/compile";
import { BlockHead, type BlockHeadAnswer, expectForm, readHead } from "../answers.ts";
import { decodeBase58 } from "../base58.ts";
import { encodeBytes } from "../base58-encode.ts";
import { type BlockEntry, type BlockTransaction, mayPay, readEntry } from "../block-answer.ts";
import { MEMO_PROGRAM } from "../memos.ts";
import type { CommitmentLevel } from "../node.ts";
import {
  expectBytes,
  type FieldValue,
  readFields,
  readMessage,
  readNumbers,
  toNumber,
  toText,
  writeBytes,
  writeNumber,
} from "./protobuf.ts";

/** A message of the stream. */
export type Update =
  /** A transaction at its place in the block of a slot; null if it cannot matter. */
  | {
      readonly kind: "transaction";
      readonly slot: bigint;
      readonly index: number;
      readonly transaction: BlockTransaction | null;
    }
  | { readonly kind: "block"; readonly head: BlockHeadAnswer; readonly count: number }
  /** The server asks for a sign of life. */
  | { readonly kind: "ping" }
  | { readonly kind: "other" };

const LEVELS: Readonly<Record<CommitmentLevel, number>> = { confirmed: 1, finalized: 2 };

/**
 * Encodes the subscription: all transactions that succeeded, votes included, the places of those that failed, and the blocks
 * without content. The places show that no transaction is missing.
 *
 * Votes cannot be left out: every transaction with a single instruction of the vote program is marked as one, and its
 * withdrawal pays any account.
 */
export function encodeSubscription(options: {
  readonly commitment: CommitmentLevel;
  /** The first slot to send, if the server still has it; otherwise the newest. */
  readonly fromSlot: bigint | null;
}): Uint8Array {
  const { commitment, fromSlot } = options;
  const filter = (field: number, name: string, ...of: readonly Uint8Array[]) =>
    writeBytes(field, writeBytes(1, name), writeBytes(2, ...of));
  const hasFailed = (value: boolean) => writeNumber(2, Number(value));
  return Buffer.concat([
    filter(3, "succeeded", hasFailed(false)),
    filter(10, "failed", hasFailed(true)),
    filter(5, "blocks"),
    writeNumber(6, LEVELS[commitment]),
    ...(fromSlot === null ? [] : [writeNumber(11, fromSlot)]),
  ]);
}

/** Encodes the answer to a ping. */
export function encodePing(): Uint8Array {
  return writeBytes(9, writeNumber(1, 1));
}

/** Parses a message of the stream. Throws `TypeError` if it is malformed. */
export function parseUpdate(message: Uint8Array): Update {
  const { 4: transaction, 6: ping, 7: block, 10: failed } = readMessage(message);
  if (transaction !== undefined) return parseTransaction(readMessage(expectBytes(transaction)));
  if (failed !== undefined) return parseFailed(readMessage(expectBytes(failed)));
  if (block !== undefined) return parseBlock(readMessage(expectBytes(block)));
  return { kind: ping === undefined ? "other" : "ping" };
}

type Fields = ReturnType<typeof readMessage>;

function parseTransaction({ 1: info, 2: slot }: Fields): Update {
  const { 3: body, 4: meta, 5: place } = readMessage(expectBytes(info));
  const index = toNumber(place);
  const entry = parseEntry(expectBytes(body), expectBytes(meta));
  return {
    kind: "transaction",
    slot: toSlot(slot),
    index,
    transaction: entry && readEntry(entry, index),
  };
}

/** Parses a transaction that failed: only its place matters. */
function parseFailed({ 1: slot, 4: index }: Fields): Update {
  return { kind: "transaction", slot: toSlot(slot), index: toNumber(index), transaction: null };
}

function parseBlock(fields: Fields): Update {
  const { 1: slot, 2: hash, 4: time, 5: height, 6: parentSlot, 7: parentHash, 8: count } = fields;
  const head = expectForm(HEAD, "a block", {
    blockhash: toText(hash),
    previousBlockhash: toText(parentHash),
    parentSlot: toNumber(parentSlot),
    blockHeight: readWrapped(height),
    blockTime: readWrapped(time),
  });
  return { kind: "block", head: readHead(toSlot(slot), head), count: toNumber(count) };
}

const HEAD = Compile(BlockHead);

/** Reads a number that has a message of its own, so that its absence differs from zero; null without one. */
function readWrapped(value: FieldValue): number | null {
  return value === undefined ? null : toNumber(readMessage(expectBytes(value))[1]);
}

function toSlot(value: FieldValue): bigint {
  const slot = toNumber(value);
  if (!Number.isSafeInteger(slot)) throw new TypeError("expected a slot");
  return BigInt(slot);
}

/** Returns a transaction in the form of `getBlock`; null, without encoding its accounts, if it cannot matter. */
function parseEntry(body: Uint8Array, meta: Uint8Array): BlockEntry | null {
  const balances = parseBalances(meta);
  if (balances.hasFailed) return null;
  const { signatures, staticKeys, signerCount } = parseBody(body);
  const keys = [...staticKeys, ...balances.writable, ...balances.readonly];
  const { preBalances, postBalances, preTokenBalances, postTokenBalances } = balances;
  const read = { err: null, preBalances, postBalances, preTokenBalances, postTokenBalances };
  // As for `getBlock`: with too few balances the transaction is malformed, which `readEntry` finds.
  const isWhole = postBalances.length === keys.length;
  if (isWhole && !keys.some((key) => MEMO_KEY.equals(key)) && !mayPay(read)) return null;
  // The other keys, most of them, are skipped: their encoding would take most of the time.
  const matters = (key: Uint8Array, index: number) =>
    index < signerCount || preBalances[index] !== postBalances[index] || MEMO_KEY.equals(key);
  const accountKeys = keys.map((key, index) => ({
    pubkey: matters(key, index) ? encodeBytes(expectSize(key, KEY_BYTES)) : "",
    signer: index < signerCount,
  }));
  const [signature = new Uint8Array()] = signatures;
  return {
    transaction: { signatures: [encodeBytes(expectSize(signature, SIGNATURE_BYTES))], accountKeys },
    meta: read,
  };
}

const MEMO_KEY = Buffer.from(decodeBase58(MEMO_PROGRAM));
const KEY_BYTES = 32;
const SIGNATURE_BYTES = 64;

function expectSize(bytes: Uint8Array, size: number): Uint8Array {
  if (bytes.length !== size) throw new TypeError("expected a key or a signature");
  return bytes;
}

function parseBody(body: Uint8Array) {
  const signatures: Uint8Array[] = [];
  const staticKeys: Uint8Array[] = [];
  let signerCount = 0;
  readFields(body, (field, value) => {
    if (field === 1) signatures.push(expectBytes(value));
    if (field !== 2) return;
    readFields(expectBytes(value), (inner, innerValue) => {
      if (inner === 1) signerCount = readWrapped(innerValue) ?? 0;
      else if (inner === 2) staticKeys.push(expectBytes(innerValue));
    });
  });
  return { signatures, staticKeys, signerCount };
}

type TokenBalance = BlockEntry["meta"]["preTokenBalances"][number];

function parseBalances(meta: Uint8Array) {
  const preBalances: number[] = [];
  const postBalances: number[] = [];
  const preTokenBalances: TokenBalance[] = [];
  const postTokenBalances: TokenBalance[] = [];
  const writable: Uint8Array[] = [];
  const readonly: Uint8Array[] = [];
  let hasFailed = false;
  readFields(meta, (field, value) => {
    if (field === 1) hasFailed = true;
    else if (field === 3) preBalances.push(...readNumbers(value));
    else if (field === 4) postBalances.push(...readNumbers(value));
    else if (field === 7) preTokenBalances.push(parseTokenBalance(expectBytes(value)));
    else if (field === 8) postTokenBalances.push(parseTokenBalance(expectBytes(value)));
    else if (field === 12) writable.push(expectBytes(value));
    else if (field === 13) readonly.push(expectBytes(value));
  });
  return {
    hasFailed,
    preBalances,
    postBalances,
    preTokenBalances,
    postTokenBalances,
    writable,
    readonly,
  };
}

function parseTokenBalance(message: Uint8Array): TokenBalance {
  const { 1: accountIndex, 2: mint, 3: amount, 4: owner } = readMessage(message);
  return {
    accountIndex: toNumber(accountIndex),
    mint: toText(mint),
    owner: toText(owner),
    uiTokenAmount: { amount: toText(readMessage(expectBytes(amount))[3]) },
  };
}
