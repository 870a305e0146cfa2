/**
 * The signer's journal: what it signed, one JSON object a line, each with the hash of the one before. An entry is on
 * the disk before its signature leaves, so nothing was ever signed that is not here.
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
import { Value } from "typebox/value";
import { OperatingError } from "../core/errors.ts";

const Quantity = Type.String({ pattern: "^\\d{1,78}$" });
const Account = Type.String({ pattern: "^0x([0-9a-f]{40}|[0-9a-f]{64})$" });
const Word = Type.String({ pattern: "^0x[0-9a-f]{64}$" });
const ChainId = Type.Integer({ minimum: 1 });

/** What was signed. Amounts are base units or wei in decimal digits, deadlines Unix seconds. */
export const JournalEntry = Type.Union([
  Type.Object({
    kind: Type.Literal("transaction"),
    chainId: ChainId,
    lane: Account,
    nonce: Type.Integer({ minimum: 0 }),
    /** Such as `settle`. */
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
    /** The most that the fee payer loses by it: fees and rent. */
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
        /** Of the delivery, or the hash of an order that has none. */
        id: Word,
        token: Account,
        amount: Quantity,
        /** Of a lock. */
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
  }),
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
]);
export type JournalEntry = Static<typeof JournalEntry>;

const Line = Type.Object(
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

/** Before the first entry. */
const GENESIS = "0".repeat(64);
const CHUNK = 1_048_576;

/** Where a journal stands: how many entries it has, and the hash of the newest. */
export interface JournalHead {
  readonly count: number;
  readonly hash: string;
}

export interface Journal {
  head(): JournalHead;
  /** Writes an entry down for good. Throws CONFIG_MISSING when another process writes the same file. */
  append(entry: JournalEntry, atMs: number): void;
  close(): void;
}

/**
 * Opens a journal, and makes it where there is none. Every entry is checked and handed to `replay`. What a crash left
 * of an entry that was never finished is cut off: nothing was signed for it.
 * @throws OperatingError CONFIG_MISSING that names the line when the chain of hashes is broken.
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
        if (isBroken) throw broken(path, "a write failed and could not be taken back: start anew");
        // The checks before this line were made from what this process has read and written.
        if (fstatSync(file).size !== size) {
          throw broken(path, "another process writes it: expected one signer for one journal");
        }
        const line = formatLine({ seq: head.count, at: atMs, prev: head.hash, entry });
        const bytes = Buffer.from(line.text);
        try {
          writeAll(file, bytes);
          fdatasyncSync(file);
        } catch (error) {
          // A full disk, say. What is there of the line is taken back, so that the next one follows a whole one.
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

/** Reads a journal without changing it. Throws CONFIG_MISSING as above; an unfinished last line is passed over. */
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

/** A disk that fills up takes a part without an error. */
function writeAll(file: number, bytes: Buffer): void {
  for (let written = 0; written < bytes.length;) {
    written += writeSync(file, bytes, written);
  }
}

/** Reads whole lines from the start; `size` is where the last of them ends. */
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
        throw broken(path, `its chain of hashes is broken at line ${count + 1}`);
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

type Unsealed = Omit<Static<typeof Line>, "hash">;

function formatLine(line: Unsealed): { readonly text: string; readonly hash: string } {
  const hash = hashOf(line);
  return { text: `${JSON.stringify({ ...line, hash })}\n`, hash };
}

/** A line whose own hash is right, or null. */
function parseLine(text: string): Static<typeof Line> | null {
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch {
    return null;
  }
  if (!Value.Check(Line, parsed)) return null;
  const { hash, ...line } = parsed;
  return hashOf(line) === hash ? parsed : null;
}

function hashOf(line: Unsealed): string {
  return createHash("sha256").update(JSON.stringify(line)).digest("hex");
}

function broken(path: string, why: string): OperatingError {
  return new OperatingError("CONFIG_MISSING", `The signer's journal ${path}: ${why}.`);
}
