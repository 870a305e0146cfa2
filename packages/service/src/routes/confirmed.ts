import type { Chain } from "../chains/port/index.ts";

/** Whether what was found in a block has this many confirmations, its own block included. */
export async function isConfirmed(
  chain: Pick<Chain, "getHead">,
  { blockNumber }: { readonly blockNumber: bigint },
  confirmations: number,
): Promise<boolean> {
  const head = await chain.getHead();
  return head.number - blockNumber + 1n >= BigInt(confirmations);
}
