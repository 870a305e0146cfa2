import type { Chain } from "../chains/port/index.ts";

/** Returns whether a block has at least this many confirmations, counting the block itself. */
export async function isConfirmed(
  chain: Pick<Chain, "getHead">,
  { blockNumber }: { readonly blockNumber: bigint },
  confirmations: number,
): Promise<boolean> {
  const head = await chain.getHead();
  return head.number - blockNumber + 1n >= BigInt(confirmations);
}
