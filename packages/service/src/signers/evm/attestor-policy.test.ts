/** The routes whose prices and deliveries the attestor signs. */
import { expect, test } from "vitest";
import type { RouteConfig } from "../../config/index.ts";
import { NATIVE_TOKEN, padAddress, toEvmAddress } from "../../core/hex.ts";
import type { Payout } from "../../chains/port/index.ts";
import { createEvmAttestorPolicy } from "./attestor-policy.ts";
import { configuredRoute } from "../../../test/support/routes.ts";

const addressOf = (byte: string) => toEvmAddress(`0x${byte.repeat(20)}`);
const USDC = addressOf("a0");
const OTHER = addressOf("b1");
const [STAYS, SWAPS, GOES, PRICED, BURNS, SWAPS_AND_BURNS] = [
  "c1",
  "c2",
  "c3",
  "c4",
  "c5",
  "c6",
].map(addressOf);

test("allows prices for pool swaps and priced pairs, and deliveries for pairs paid from inventory", () => {
  if (!STAYS || !SWAPS || !GOES || !PRICED || !BURNS || !SWAPS_AND_BURNS) {
    throw new Error("six contracts");
  }
  const source = { chainId: 2, token: USDC } as const;
  const swap = { tokenOut: NATIVE_TOKEN, poolFee: 500, maxImpactBps: 100, slippageBps: 50 };
  const inventory = { kind: "SWIFT", ...source, destChain: 30 } as const;
  const bridge = { kind: "FAST_MCTP", ...source, destChain: 30, destToken: OTHER } as const;
  const routes: RouteConfig[] = [
    configuredRoute({ kind: "MONO_CHAIN", ...source, contract: STAYS }),
    configuredRoute({ kind: "MONO_CHAIN", ...source, contract: SWAPS, swap }),
    configuredRoute({ ...inventory, destToken: USDC, contract: GOES, priced: false }),
    configuredRoute({ ...inventory, destToken: NATIVE_TOKEN, contract: PRICED, priced: true }),
    configuredRoute({ ...bridge, contract: BURNS }),
    configuredRoute({ ...bridge, contract: SWAPS_AND_BURNS, swap }),
  ];
  const policy = createEvmAttestorPolicy({ chains: new Map(), routes });
  const isPriced = (contract: typeof USDC) => policy.isPricedRoute(2, USDC, contract);
  expect([STAYS, SWAPS, GOES, PRICED].map(isPriced)).toEqual([false, true, false, true]);
  expect([BURNS, SWAPS_AND_BURNS].map(isPriced)).toEqual([false, true]);
  expect(policy.isPricedRoute(30, USDC, SWAPS)).toBe(false);
  expect(policy.isPricedRoute(2, NATIVE_TOKEN, SWAPS)).toBe(false);

  const isPair = (destChain: number, destToken = NATIVE_TOKEN) => {
    const commitment = { destToken: padAddress(destToken) };
    // CAST: the policy reads only these fields of an order here.
    const order = { srcChain: 2, srcToken: USDC, commitment } as Payout;
    return policy.isPair(destChain, order);
  };
  expect([isPair(30), isPair(2)]).toEqual([true, false]);
  expect(isPair(30, OTHER)).toBe(false);
});
