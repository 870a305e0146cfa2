/**
 * The signer's journal: one JSON object a line, each with the hash of the line before.
 * Invariant: an entry is on disk before its signature leaves the process, so the journal has every signature.
 */
import { createHash } from "node:crypto";
import {
  closeSync,
  fdatasyncSync,
  fstatSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  readSync,
  writeSync,
} from "node:fs";
import { dirname } from "node:path";
import { type Static, Type } from "typebox";
import { Compile } from "typebox/compile";
import { OperatingError } from "../core/errors.ts";
import { REFUND_REASONS } from "../core/refund-reason.ts";

const Quantity = Type.String({ pattern: "^\\d{1,78}$" });
const Account = Type.String({ pattern: "^0x([0-9a-f]{40}|[0-9a-f]{64})$" });
const Word = Type.String({ pattern: "^0x[0-9a-f]{64}$" });
const ChainId = Type.Integer({ minimum: 1 });

/** The lock of an early payout, and the value at risk in US dollars times 1e18. */
const Early = Type.Object({
  srcChain: ChainId,
  escrow: Account,
  delivery: Word,
  token: Account,
  lockedAmount: Quantity,
  minOut: Quantity,
  seq: Quantity,
  worth: Quantity,
});

/** One signature, or what the count of early payouts must not forget. Amounts are base units or wei as decimal strings; deadlines are Unix seconds. */
export const JournalEntry = Type.Union([
  Type.Object({
    kind: Type.Literal("transaction"),
    chainId: ChainId,
    lane: Account,
    nonce: Type.Integer({ minimum: 0 }),
    /** Contract method, such as `settle`. */
    method: Type.String(),
    to: Account,
    /** SHA-256 of the call's data. */
    dataHash: Word,
    value: Quantity,
    gas: Quantity,
    maxFeePerGas: Quantity,
    maxPriorityFeePerGas: Quantity,
  }),
  Type.Object({
    kind: Type.Literal("orders"),
    chainId: ChainId,
    lane: Account,
    blockhash: Word,
    lastValidHeight: Quantity,
    /** SHA-256 of the message that was signed. */
    messageHash: Word,
    /** Maximum cost to the fee payer: fees and rent. */
    lamports: Quantity,
    orders: Type.Array(
      Type.Object({
        kind: Type.Union([
          Type.Literal("lock"),
          Type.Literal("claim"),
          Type.Literal("return"),
          Type.Literal("deliver"),
          Type.Literal("transfer"),
          Type.Literal("refund"),
        ]),
        /** Delivery id, or the hash of an order that has none. */
        id: Word,
        token: Account,
        amount: Quantity,
        /** Locks only. */
        minOut: Type.Optional(Quantity),
      }),
    ),
  }),
  Type.Object({
    kind: Type.Literal("delivery"),
    destChain: ChainId,
    deliveryId: Word,
    commitment: Word,
    amount: Quantity,
    deadline: Quantity,
    /** Of a payout before its lock is final. */
    early: Type.Optional(Early),
  }),
  /** An early payout that others signed. */
  Type.Object({
    kind: Type.Literal("other"),
    destChain: ChainId,
    deliveryId: Word,
    commitment: Word,
    deadline: Quantity,
    early: Early,
  }),
  /** The payouts of others are counted up to a block of their chain. */
  Type.Object({ kind: Type.Literal("read_to"), destChain: ChainId, block: Quantity }),
  /** The lock of an early payout is final, or the payout can no longer be made. */
  Type.Object({ kind: Type.Literal("covered"), deliveryId: Word }),
  Type.Object({
    kind: Type.Literal("claim"),
    srcChain: ChainId,
    deliveryId: Word,
    paidAmount: Quantity,
    deadline: Quantity,
  }),
  Type.Object({
    kind: Type.Literal("return"),
    srcChain: ChainId,
    deliveryId: Word,
    deadline: Quantity,
  }),
  Type.Object({
    kind: Type.Literal("price"),
    srcChain: ChainId,
    route: Account,
    wallet: Account,
    token: Account,
    rate: Quantity,
    maxAmount: Quantity,
    deadline: Quantity,
  }),
  Type.Object({
    kind: Type.Literal("refund"),
    chainId: ChainId,
    commitment: Word,
    token: Account,
    maxAmount: Quantity,
    reason: Type.Enum(REFUND_REASONS),
    deadline: Quantity,
  }),
]);
export type JournalEntry = Static<typeof JournalEntry>;

const WireLine = Type.Object(
  {
    seq: Type.Integer({ minimum: 0 }),
    /** Milliseconds since the epoch. */
    at: Type.Integer({ minimum: 0 }),
    prev: Type.String({ pattern: "^[0-9a-f]{64}$" }),
    entry: JournalEntry,
    hash: Type.String({ pattern: "^[0-9a-f]{64}$" }),
  },
  { additionalProperties: false },
);
type Line = Static<typeof WireLine>;
/** Compiled: a start checks every line of the journal. */
const Checked = Compile(WireLine);

/** The previous hash of the first line. */
const GENESIS = "0".repeat(64);
const CHUNK = 1_048_576;

/** The number of entries and the hash of the newest. */
export interface JournalHead {
  readonly count: number;
  readonly hash: string;
}

export interface Journal {
  head(): JournalHead;
  /** Appends an entry and flushes it to disk. Throws CONFIG_MISSING when another process writes the same file. */
  append(entry: JournalEntry, atMs: number): void;
  close(): void;
}

/**
 * Opens a journal or creates it, and passes every entry to `replay`. Truncates an incomplete last line that a crash
 * left: no signature was made for it.
 * @throws OperatingError CONFIG_MISSING with the line number when the hash chain is broken.
 */
export function openJournal(
  path: string,
  replay: (entry: JournalEntry, atMs: number) => void,
): Journal {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const file = openSync(path, "a+", 0o600);
  try {
    let { size, ...head } = readJournal(file, path, replay);
    let isBroken = false;
    if (fstatSync(file).size > size) ftruncateSync(file, size);
    return {
      head: () => head,
      append(entry, atMs) {
        if (isBroken) throw broken(path, "a failed write could not be undone; restart the signer");
        // The policy's checks hold only for a file that no other process has written.
        if (fstatSync(file).size !== size) {
          throw broken(path, "another process wrote to it; expected one signer per journal");
        }
        const line = formatLine({ seq: head.count, at: atMs, prev: head.hash, entry });
        const bytes = Buffer.from(line.text);
        try {
          writeAll(file, bytes);
          fdatasyncSync(file);
        } catch (error) {
          // A full disk, say. Removes the partial line, so that the next line follows a complete one.
          isBroken = true;
          ftruncateSync(file, size);
          fdatasyncSync(file);
          isBroken = false;
          throw error;
        }
        size += bytes.length;
        head = { count: head.count + 1, hash: line.hash };
      },
      close: () => closeSync(file),
    };
  } catch (error) {
    closeSync(file);
    throw error;
  }
}

/** Verifies a journal without changing it; ignores an incomplete last line. Throws CONFIG_MISSING as `openJournal` does. */
export function verifyJournal(path: string): JournalHead {
  let file: number;
  try {
    file = openSync(path, "r");
  } catch (cause) {
    throw new OperatingError("CONFIG_MISSING", `${path}: expected a readable journal.`, { cause });
  }
  try {
    const { count, hash } = readJournal(file, path, () => undefined);
    return { count, hash };
  } finally {
    closeSync(file);
  }
}

/** Writes all bytes. A disk that fills up can accept a part of them without an error. */
function writeAll(file: number, bytes: Buffer): void {
  for (let written = 0; written < bytes.length;) {
    written += writeSync(file, bytes, written);
  }
}

/** Reads complete lines from the start; `size` is the offset after the last of them. */
function readJournal(
  file: number,
  path: string,
  replay: (entry: JournalEntry, atMs: number) => void,
): JournalHead & { readonly size: number } {
  let count = 0;
  let hash = GENESIS;
  let size = 0;
  let rest = Buffer.alloc(0);
  const chunk = Buffer.alloc(CHUNK);
  for (let position = 0, length = -1; length !== 0; position += length) {
    length = readSync(file, chunk, 0, CHUNK, position);
    rest = Buffer.concat([rest, chunk.subarray(0, length)]);
    for (let end = rest.indexOf(10); end !== -1; end = rest.indexOf(10)) {
      const line = parseLine(rest.subarray(0, end).toString("utf8"));
      if (line?.seq !== count || line.prev !== hash) {
        throw broken(path, `hash chain is broken at line ${count + 1}`);
      }
      replay(line.entry, line.at);
      count += 1;
      hash = line.hash;
      size += end + 1;
      rest = rest.subarray(end + 1);
    }
  }
  return { count, hash, size };
}

type Unsealed = Omit<Line, "hash">;

function formatLine(line: Unsealed): { readonly text: string; readonly hash: string } {
  const hash = hashOf(line);
  return { text: `${JSON.stringify({ ...line, hash })}\n`, hash };
}

/** Parses a line and checks its own hash. Returns null when either fails. */
function parseLine(text: string): Line | null {
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch {
    return null;
  }
  if (!Checked.Check(parsed)) return null;
  const { hash, ...line } = parsed;
  return hashOf(line) === hash ? parsed : null;
}

function hashOf(line: Unsealed): string {
  return createHash("sha256").update(JSON.stringify(line)).digest("hex");
}

function broken(path: string, why: string): OperatingError {
  return new OperatingError("CONFIG_MISSING", `The signer's journal ${path}: ${why}.`);
}
