/** Blocks made on demand, and a cache of the newest ones as bytes. */
import { type BlockContents, createContents, placeOf } from "./contents.ts";
import type { BlockId, History } from "./history.ts";
import type { JsonWriter, SyntheticBlock } from "./json.ts";

/** Blocks kept: about 100 MB with 150 transactions and 300 transfers each. */
const CACHED_MAX = 96;

interface CachedBlock {
  readonly block: SyntheticBlock;
  hydrated?: Buffer;
  hashes?: Buffer;
  logs?: Buffer;
}

export interface Blocks {
  get(id: BlockId): SyntheticBlock;
  /** Returns the JSON of a block. */
  json(id: BlockId, hydrated: boolean): Buffer;
  /** Returns the JSON of all logs of a block, without brackets. */
  allLogs(id: BlockId): Buffer;
  /** Returns a transaction's block and position; undefined for an unknown or orphaned one. */
  find(txHash: string): { readonly block: SyntheticBlock; readonly index: number } | undefined;
}

export function createBlocks(options: {
  readonly contents: ReturnType<typeof createContents>;
  readonly history: History;
  readonly writer: JsonWriter;
  readonly timestampOf: (number: number) => number;
}): Blocks {
  const { contents, history, writer, timestampOf } = options;
  const cache = new Map<string, CachedBlock>();

  function make(id: BlockId): SyntheticBlock {
    const made: BlockContents = contents.make(id);
    return {
      id,
      hash: history.hashOf(id),
      parentHash: history.hashOf(history.blockAt(Math.max(0, id.number - 1))),
      timestamp: timestampOf(id.number),
      contents: made,
    };
  }

  function cached(id: BlockId): CachedBlock {
    const key = `${id.number} ${id.fork}`;
    const known = cache.get(key);
    if (known !== undefined) return known;
    if (cache.size >= CACHED_MAX) {
      const [oldest] = cache.keys();
      if (oldest !== undefined) cache.delete(oldest);
    }
    const entry: CachedBlock = { block: make(id) };
    cache.set(key, entry);
    return entry;
  }

  return {
    get: (id) => cached(id).block,
    json: (id, hydrated) => {
      const entry = cached(id);
      if (hydrated) {
        entry.hydrated ??= toBytes(writer.block(entry.block, true));
        return entry.hydrated;
      }
      entry.hashes ??= toBytes(writer.block(entry.block, false));
      return entry.hashes;
    },
    allLogs: (id) => {
      const entry = cached(id);
      entry.logs ??= toBytes(
        entry.block.contents.transfers
          .map((transfer) => writer.log(entry.block, transfer))
          .join(","),
      );
      return entry.logs;
    },
    find: (txHash) => {
      const { number, fork, index } = placeOf(txHash);
      if (!Number.isSafeInteger(number) || !Number.isSafeInteger(index)) return undefined;
      const id = history.blockAt(number);
      if (id.fork !== fork) return undefined;
      const { block } = cached(id);
      return block.contents.transactions[index]?.hash === txHash ? { block, index } : undefined;
    },
  };
}

/** Everything here is ASCII, and latin1 is written several times faster than UTF-8. */
function toBytes(text: string): Buffer {
  return Buffer.from(text, "latin1");
}
