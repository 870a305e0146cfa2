import type { Chain } from "../chains/port/index.ts";
import type { Address } from "../core/hex.ts";

/** Returns whether a wallet is deployed; null on a chain where wallets are keys and need no deployment. */
export async function readDeployed(chain: Chain, wallet: Address): Promise<boolean | null> {
  const { wallets } = chain;
  return wallets.kind === "contract" ? wallets.hasCode(wallet) : null;
}
