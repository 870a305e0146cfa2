/** Chains with treasuries that keep their inventories of USDC, and bridges between them. */
import type { EvmChain, RouteConfig } from "../../src/config/index.ts";
import { toEvmAddress } from "../../src/core/hex.ts";
import { CHAIN, USDC } from "./doctor-doubles.ts";
import { TREASURY } from "./doubles.ts";

const UNIT = 1_000_000n;

/** A chain that keeps its inventory between 100 and 1,000 USDC. */
const chainOf = (chainId: number, name: string): EvmChain => ({
  ...CHAIN,
  chainId,
  name,
  contracts: { ...CHAIN.contracts, treasury: TREASURY },
  tokens: CHAIN.tokens.map((token) => ({
    ...token,
    inventoryMin: 100n * UNIT,
    inventoryTarget: 1_000n * UNIT,
  })),
});

const bridge = (chainId: number, destChain: number): RouteConfig => ({
  kind: "FAST_MCTP",
  chainId,
  token: USDC,
  destChain,
  destToken: USDC,
  contract: toEvmAddress(`0x${"b1".repeat(20)}`),
  pricedIn: null,
  fromInventory: false,
});

/** Chains 2 and 30, each of which refills the other. */
export const REFILLED = {
  chains: [chainOf(2, "ethereum"), chainOf(30, "base")],
  routes: [bridge(2, 30), bridge(30, 2)],
};
