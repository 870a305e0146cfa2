/**
 * Stores a chain in a file, so that a restart resumes it, even after a kill.
 *
 * The file is a sequence of records, each preceded by its length: first a snapshot of the whole chain, then every change
 * since, in order. A record truncated by a kill can only be the last and is ignored. Each start, and a file that has
 * become too large, rewrites the file from a new snapshot.
 */
import { closeSync, openSync, readFileSync, renameSync, writeSync } from "node:fs";
import { deserialize, serialize } from "node:v8";
import type { Address } from "@solana/kit";
import { SandboxError } from "../errors.ts";
import { isErrno } from "../json-file.ts";
import type { StoredAccount } from "./svm/account-history.ts";
import {
  type Chain,
  type ChainEvent,
  type ChainSettings,
  createChain,
  type SavedChain,
} from "./chain.ts";
import type { Block, LandedTransaction } from "./ledger.ts";
import { decodeTransaction } from "./svm/transaction.ts";

const FORMAT = 1;
const BYTES_MAX = 64_000_000;
const LENGTH_BYTES = 4;

/** A transaction in the file, without the fields that can be decoded from its bytes. */
type StoredTransaction = Pick<LandedTransaction, "slot" | "keys" | "meta"> & {
  readonly bytes: Uint8Array;
};
type StoredBlock = Omit<Block, "transactions"> & {
  readonly transactions: readonly StoredTransaction[];
};
type Changes = readonly (readonly [Address, StoredAccount | undefined])[];

type Record =
  | {
      readonly kind: "begin";
      readonly format: typeof FORMAT;
      readonly saved: Omit<SavedChain, "blocks"> & { readonly blocks: readonly StoredBlock[] };
    }
  | { readonly kind: "block"; readonly block: StoredBlock; readonly changes: Changes }
  | Exclude<ChainEvent, { readonly kind: "block" }>;

/** Resumes the chain of a file, or creates a new one. Every change is written to the file until it is closed. */
export function openJournal(
  path: string,
  settings: ChainSettings,
): { readonly chain: Chain; readonly close: () => void } {
  const records = readRecords(path);
  const chain = records ? restore(path, records, settings) : createChain(settings);
  return { chain, close: record(chain, path) };
}

function restore(path: string, [first, ...rest]: readonly Record[], settings: ChainSettings) {
  if (first?.kind !== "begin" || first.format !== FORMAT) {
    throw new SandboxError(
      `${path} is damaged or was written by another version: start again with --fresh`,
    );
  }
  const { saved } = first;
  const chain = createChain({
    ...settings,
    saved: { ...saved, blocks: saved.blocks.map(decodeBlock) },
  });
  for (const record of rest) replay(chain, record);
  // Opens the slot again: the sysvars of the SVM do not yet include the restored blocks.
  chain.skipSlots(0);
  return chain;
}

function replay(chain: Chain, record: Record): void {
  switch (record.kind) {
    case "block":
      chain.adopt(decodeBlock(record.block), record.changes);
      return;
    case "skip":
      chain.skipSlots(Number(record.slot - chain.openSlot()));
      return;
    case "fork":
      chain.fork(record.blocks);
      return;
    case "write":
      chain.write(record.address, record.account, record.since);
      return;
    case "rent":
      chain.setRent(record.lamportsPerByte);
      return;
    case "begin":
      throw new Error("the snapshot must be the first record");
  }
}

/** Writes a snapshot of the chain and appends every change. Returns a function that stops. */
function record(chain: Chain, path: string): () => void {
  let file = begin(chain, path);
  chain.onEvent((event) => {
    file.bytes += append(file.descriptor, toRecord(chain, event));
    if (file.bytes <= BYTES_MAX) return;
    closeSync(file.descriptor);
    file = begin(chain, path);
  });
  return () => {
    chain.onEvent(() => undefined);
    closeSync(file.descriptor);
  };
}

/** Replaces the file atomically by one that has only a snapshot. */
function begin(chain: Chain, path: string): { descriptor: number; bytes: number } {
  const temporary = `${path}.${process.pid}.tmp`;
  const descriptor = openSync(temporary, "w", 0o600);
  const { blocks, ...saved } = chain.save();
  append(descriptor, {
    kind: "begin",
    format: FORMAT,
    saved: { ...saved, blocks: blocks.map(encodeBlock) },
  });
  renameSync(temporary, path);
  return { descriptor, bytes: 0 };
}

function append(descriptor: number, record: Record): number {
  const payload = serialize(record);
  const length = Buffer.alloc(LENGTH_BYTES);
  length.writeUInt32LE(payload.length);
  return writeSync(descriptor, Buffer.concat([length, payload]));
}

function toRecord(chain: Chain, event: ChainEvent): Record {
  if (event.kind !== "block") return event;
  const keys = event.block.transactions.flatMap((landed) => landed.keys);
  const changed = new Set(keys.filter((key) => key.writable).map((key) => key.pubkey));
  return {
    kind: "block",
    block: encodeBlock(event.block),
    changes: [...changed].map((address) => [address, chain.bank.read(address)] as const),
  };
}

/** Returns the complete records of a file; undefined if there is no file. */
function readRecords(path: string): readonly Record[] | undefined {
  let file: Buffer;
  try {
    file = readFileSync(path);
  } catch (error) {
    if (isErrno(error, "ENOENT")) return undefined;
    throw error;
  }
  const records: Record[] = [];
  for (let start = 0; start + LENGTH_BYTES <= file.length;) {
    const end = start + LENGTH_BYTES + file.readUInt32LE(start);
    if (end > file.length) break;
    // CAST: this module wrote the file, and the first record's format is checked.
    records.push(deserialize(file.subarray(start + LENGTH_BYTES, end)) as Record);
    start = end;
  }
  return records;
}

function encodeBlock(block: Block): StoredBlock {
  return {
    ...block,
    transactions: block.transactions.map(({ slot, keys, meta, decoded: { bytes } }) => ({
      slot,
      keys,
      meta,
      bytes,
    })),
  };
}

function decodeBlock(block: StoredBlock): Block {
  return {
    ...block,
    transactions: block.transactions.map(({ bytes, ...landed }) => ({
      ...landed,
      decoded: decodeTransaction(Uint8Array.from(bytes)),
    })),
  };
}
