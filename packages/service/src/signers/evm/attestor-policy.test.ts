/** The routes whose prices and deliveries the attestor signs. */
import { expect, test } from "vitest";
import type { RouteConfig } from "../../config/index.ts";
import { NATIVE_TOKEN, padAddress, toEvmAddress } from "../../core/hex.ts";
import type { Payout, RefundProof } from "../../chains/port/index.ts";
import { createEvmAttestorPolicy } from "./attestor-policy.ts";
import { NO_REFUNDS, NOTHING_REFUNDED } from "../../../test/support/refund-policies.ts";
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
  const swap = {
    tokenOut: NATIVE_TOKEN,
    poolFee: 500,
    maxImpactBps: 100,
    slippageBps: 50,
    limits: { windowS: 1_800, toleranceBps: 300, perDayUnits: "1000000" },
  };
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
  const policy = createEvmAttestorPolicy({ chains: new Map(), routes, refunds: NO_REFUNDS });
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

test("allows refunds for the reasons that the configuration allows to their authority [T192]", () => {
  const authority = padAddress(OTHER);
  const allowed = { ...NOTHING_REFUNDED, unlisted: true };
  const policy = createEvmAttestorPolicy({
    chains: new Map([[2, { delivery: USDC }]]),
    routes: [],
    refunds: { general: NOTHING_REFUNDED, byAuthority: new Map([[authority, allowed]]) },
  });
  const check = (change: object = {}, refundAuthority = authority, chainId = 2) => {
    const proof = { commitment: { refundAuthority }, reason: "unlisted", maxAmount: 1n, ...change };
    // CAST: the policy reads only these fields of a refund.
    return () => policy.checkRefund(chainId, proof as RefundProof);
  };
  expect(check()).not.toThrow();
  expect(check({ reason: "below_minimum" })).toThrow("below_minimum is not allowed");
  expect(check({}, padAddress(USDC))).toThrow("unlisted is not allowed");
  expect(check({ maxAmount: 0n })).toThrow("refund of nothing");
  expect(check({}, authority, 30)).toThrow("chain 30, which is not configured");
});
