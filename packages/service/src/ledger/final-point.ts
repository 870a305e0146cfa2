/** The block at which proofs read state. */
import type { BlockId, Chain, ReadPoint } from "../chains/port/index.ts";

/**
 * Returns the newest final block by its hash, not below `least`: behind one URL, the server of the next read may lag, and
 * then has no such block instead of an older state. Chains that name no hash read at a height that they call final.
 */
export async function readFinalPoint(chain: Chain, least?: BlockId): Promise<ReadPoint> {
  const { number, hash } = await chain.getFinalBlock();
  if (hash === null) return "final";
  return least && number < least.number ? least : { number, hash };
}
