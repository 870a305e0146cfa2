/**
 * Keeps a chain in a file, so that a restart goes on with it, whatever ended the process.
 *
 * The file is a row of records, each with its length before it: first the whole chain as it was when the file was
 * begun, then everything that happened since, in order. A record that was cut off by a kill is the last one and is left
 * out. Each start, and a file that grew large, writes the file anew.
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

/** A transaction in the file: what its bytes say is read from them again. */
type KeptTransaction = Pick<LandedTransaction, "slot" | "keys" | "meta"> & {
  readonly bytes: Uint8Array;
};
type KeptBlock = Omit<Block, "transactions"> & {
  readonly transactions: readonly KeptTransaction[];
};
type Changes = readonly (readonly [Address, StoredAccount | undefined])[];

type Record =
  | {
      readonly kind: "begin";
      readonly format: typeof FORMAT;
      readonly saved: Omit<SavedChain, "blocks"> & { readonly blocks: readonly KeptBlock[] };
    }
  | { readonly kind: "block"; readonly block: KeptBlock; readonly changes: Changes }
  | Exclude<ChainEvent, { readonly kind: "block" }>;

/** Goes on with the chain of a file, or begins a new one there. Until it is closed the file follows the chain. */
export function openJournal(
  path: string,
  settings: ChainSettings,
): { readonly chain: Chain; readonly close: () => void } {
  const records = readRecords(path);
  const chain = records ? restore(path, records, settings) : createChain(settings);
  return { chain, close: keep(chain, path) };
}

function restore(path: string, [first, ...rest]: readonly Record[], settings: ChainSettings) {
  if (first?.kind !== "begin" || first.format !== FORMAT) {
    throw new SandboxError(`${path} is damaged or of another version: begin anew with --fresh`);
  }
  const { saved } = first;
  const chain = createChain({ ...settings, saved: { ...saved, blocks: saved.blocks.map(thaw) } });
  for (const record of rest) replay(chain, record);
  // Opens the slot anew: until now the SVM has not heard of the blocks that were taken over.
  chain.skipSlots(0);
  return chain;
}

function replay(chain: Chain, record: Record): void {
  switch (record.kind) {
    case "block":
      chain.adopt(thaw(record.block), record.changes);
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
      throw new Error("a file of a chain begins once");
  }
}

/** Writes the chain as it is and adds whatever happens to it. Returns what ends that. */
function keep(chain: Chain, path: string): () => void {
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

/** Puts a new file in the place of the old one, in one step. */
function begin(chain: Chain, path: string): { descriptor: number; bytes: number } {
  const half = `${path}.${process.pid}.tmp`;
  const descriptor = openSync(half, "w", 0o600);
  const { blocks, ...saved } = chain.save();
  append(descriptor, {
    kind: "begin",
    format: FORMAT,
    saved: { ...saved, blocks: blocks.map(freeze) },
  });
  renameSync(half, path);
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
    block: freeze(event.block),
    changes: [...changed].map((address) => [address, chain.bank.read(address)] as const),
  };
}

/** The whole records of a file; undefined where there is no file. */
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
    // CAST: the file is this module's own; its first record is checked for the format.
    records.push(deserialize(file.subarray(start + LENGTH_BYTES, end)) as Record);
    start = end;
  }
  return records;
}

function freeze(block: Block): KeptBlock {
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

function thaw(block: KeptBlock): Block {
  return {
    ...block,
    transactions: block.transactions.map(({ bytes, ...landed }) => ({
      ...landed,
      decoded: decodeTransaction(Uint8Array.from(bytes)),
    })),
  };
}
