/**
 * Balances that decide about a deposit. The servers behind a node's URL may differ by blocks: one that lacks the deposit's
 * block shows the balance before it, and the deposit would wait for its re-check as if it were below the minimum.
 */
import type { BlockId, Chain } from "../../chains/port/index.ts";
import type { Address } from "../../core/hex.ts";

/**
 * Returns the balance of a wallet in the newest block, or in the block of its deposit if the server is behind that. `least`
 * is what a balance before the deposit cannot reach. Null where the token's contract fails.
 */
export async function readLiveBalance(
  chain: Chain,
  holding: { readonly token: Address; readonly wallet: Address },
  deposit: { readonly block: BlockId; readonly least: bigint },
): Promise<bigint | null> {
  const { token, wallet } = holding;
  const found = await chain.findBalance(token, wallet);
  // Less was swept since, or is from before the deposit.
  return found === null || found >= deposit.least
    ? found
    : chain.findBalance(token, wallet, await findNotBehind(chain, deposit.block));
}

/** Returns the newest block, or a known one if the server is behind that. */
export async function findNotBehind(chain: Chain, known: BlockId): Promise<BlockId> {
  const head = await chain.getHead();
  return head.number < known.number ? known : head;
}
