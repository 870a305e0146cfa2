/** A node whose newest blocks come from its stream, and all others from `getBlock`. */
import type { ReadBlock } from "../block-decoder.ts";
import type { CommitmentLevel, SolanaNode } from "../node.ts";
import type { BlockStream } from "./block-stream.ts";

/** The longest wait for a block that a node has already: the stream may be a slot behind it. */
const WAIT_MS = 400;

/**
 * Returns the node with blocks of the stream. The first block of each connection must be the node's own, so that the URL of
 * another cluster has no effect.
 */
export function withStream(node: SolanaNode, stream: BlockStream): SolanaNode {
  /** The connection whose first block was compared. */
  let compared: { readonly connection: number; readonly isSame: Promise<boolean> } | undefined;

  async function isSameChain({ block }: ReadBlock): Promise<boolean> {
    const head = await node.readHead(block.slot, stream.commitment);
    return head.hash === block.hash;
  }

  /** Returns the block; null if the stream says that the slot has none; undefined if it says nothing. */
  async function findStreamed(
    slot: bigint,
    commitment: CommitmentLevel,
    waitMs: number,
  ): Promise<ReadBlock | null | undefined> {
    if (commitment !== stream.commitment) return undefined;
    const found = await stream.find(slot, waitMs);
    if (found.kind === "unknown") return undefined;
    if (found.kind !== "block") return null;
    const { connection, read } = found;
    if (compared?.connection !== connection) {
      compared = { connection, isSame: isSameChain(read) };
      // Without an answer, the next block is compared.
      compared.isSame.catch(() => (compared = undefined));
    }
    if (await compared.isSame) return read;
    stream.reject(connection);
    return undefined;
  }

  return {
    ...node,
    async readBlock(slot, commitment) {
      return (await findStreamed(slot, commitment, WAIT_MS)) ?? node.readBlock(slot, commitment);
    },
    async findBlock(slot, commitment) {
      const found = await findStreamed(slot, commitment, 0);
      return found === undefined ? node.findBlock(slot, commitment) : found;
    },
  };
}
