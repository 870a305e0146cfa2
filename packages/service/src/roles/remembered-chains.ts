/**
 * Readers for quotes, which remember for a few seconds the reads that quotes repeat: equal questions of many callers cost a
 * node one request. Nothing that moves value reads through them. Pools are asked each time: a trade moves them
 * within a block, and a quote must not show a price that is gone.
 */
import type { Chain, Chains, ContractWallets, VaultWallets } from "../chains/port/index.ts";
import type { Clock } from "../core/ports.ts";
import { remember } from "../core/remember.ts";

/** About a block of most chains. */
const RECENT_MS = 3_000;

/** Returns the same chains with a memory in front of the reads of quotes. */
export function rememberChains(chains: Chains, clock: Clock): Chains {
  return new Map([...chains].map(([chainId, chain]) => [chainId, rememberReads(chain, clock)]));
}

function rememberReads(chain: Chain, clock: Clock): Chain {
  const recently = { clock, forMs: RECENT_MS };
  return {
    ...chain,
    getLeastPayment: remember(recently, chain.getLeastPayment),
    suggestFees: remember(recently, chain.suggestFees),
    readSurcharge: remember(recently, chain.readSurcharge),
    wallets: rememberWallets(chain.wallets, recently),
  };
}

type Recently = Parameters<typeof remember>[0];

function rememberWallets(
  wallets: ContractWallets | VaultWallets,
  recently: Recently,
): ContractWallets | VaultWallets {
  if (wallets.kind === "vault") return wallets;
  return { ...wallets, hasCode: remember(recently, wallets.hasCode) };
}
