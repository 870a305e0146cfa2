/**
 * Maps heights to blocks. A block is identified by its number and its fork, the number of reorgs that have replaced
 * that height. A hash is derived from seed, number and fork, and contains number and fork, so a lookup needs no table.
 */
import { createHash } from "node:crypto";

/** A reorg: when the head reaches `at`, the newest `depth` blocks are replaced. */
export interface SyntheticReorg {
  readonly at: number;
  readonly depth: number;
}

export interface BlockId {
  readonly number: number;
  readonly fork: number;
}

export interface History {
  /** Returns the canonical block at a height. */
  blockAt(number: number): BlockId;
  /** Returns the canonical block with this hash; undefined for an unknown or an orphaned one. */
  blockOf(hash: string): BlockId | undefined;
  hashOf(id: BlockId): string;
  /** Replaces the newest blocks now. */
  reorg(depth: number): void;
}

export function createHistory(options: {
  readonly seed: number;
  readonly head: () => number;
  readonly reorgs: readonly SyntheticReorg[];
}): History {
  const { seed, head } = options;
  const reorgs = [...options.reorgs];

  function blockAt(number: number): BlockId {
    const newest = head();
    const replaced = reorgs.filter(({ at, depth }) => newest >= at && number > at - depth);
    return { number, fork: replaced.length };
  }

  function hashOf({ number, fork }: BlockId): string {
    const digest = createHash("sha256").update(`${seed} block ${number} ${fork}`).digest("hex");
    return `0x${digest.slice(0, 50)}${toFixedHex(number, 10)}${toFixedHex(fork, 4)}`;
  }

  return {
    blockAt,
    hashOf,
    blockOf: (hash) => {
      const number = Number.parseInt(hash.slice(52, 62), 16);
      if (!Number.isSafeInteger(number) || number > head()) return undefined;
      const id = blockAt(number);
      return hashOf(id) === hash ? id : undefined;
    },
    reorg: (depth) => reorgs.push({ at: head(), depth }),
  };
}

/** Returns a number as hex of a fixed length. */
export function toFixedHex(value: number, length: number): string {
  return value.toString(16).padStart(length, "0");
}
