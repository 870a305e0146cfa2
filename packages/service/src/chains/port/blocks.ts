/** Blocks of a chain, and where its state is read. */
import type { Hex32 } from "../../core/hex.ts";

/** A point of view: the newest block a node has, or the newest that cannot be undone. */
export type ReadAt = "latest" | "final";

/** One block, and no other at its height. */
export interface BlockId {
  readonly number: bigint;
  readonly hash: Hex32;
}

/** Where state is read: from a point of view, or at exactly one block. Reading throws when the node lacks the block. */
export type ReadPoint = ReadAt | BlockId;

export interface BlockRef extends BlockId {
  readonly parentHash: Hex32;
}
