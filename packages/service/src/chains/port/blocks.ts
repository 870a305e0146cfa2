/** References to blocks, and the block at which state is read. */
import type { Hex32 } from "../../core/hex.ts";

/** The newest block of a node, or its newest final one. */
export type ReadAt = "latest" | "final";

/** Identifies one block among all at its height. */
export interface BlockId {
  readonly number: bigint;
  readonly hash: Hex32;
}

/** The block at which state is read. Reads at an exact block throw when the node lacks it. */
export type ReadPoint = ReadAt | BlockId;

/** The newest final block that a node names. */
export interface FinalBlock {
  readonly number: bigint;
  /** Null where the height may have no block, or every block that is read is final anyway. */
  readonly hash: Hex32 | null;
}

/** A block and its parent, by which reorgs are found. */
export interface BlockRef extends BlockId {
  readonly parentHash: Hex32;
}
