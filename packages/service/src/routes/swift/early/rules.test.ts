import { expect, test } from "vitest";
import { CHAIN, USDC } from "../../../../test/support/doctor-doubles.ts";
import type { EvmChain } from "../../../config/index.ts";
import { OperatingError } from "../../../core/errors.ts";
import type { Address } from "../../../core/hex.ts";
import { createEarlyRules, depthFor, type EarlyTerms } from "./rules.ts";

const USD = 10n ** 18n;
const TERMS = {
  exposure: 100n * USD,
  tiers: [
    { after: 2, upTo: 10n * USD },
    { after: 5, upTo: 50n * USD },
  ],
  exceptions: [],
  acceptedLosses: [],
};
const EARLY: EvmChain = { ...CHAIN, earlyPayouts: TERMS };

function depths(terms: EarlyTerms, payout: { token?: Address; destChain?: number } = {}) {
  return [1n, 10n * USD, 10n * USD + 1n, 50n * USD, 50n * USD + 1n].map((worth) =>
    depthFor(terms, { token: USDC, destChain: 30, worth, ...payout }),
  );
}

test("a larger payout waits for more blocks, and above the last tier for finality", () => {
  expect(depths(TERMS)).toEqual([2, 2, 5, 5, null]);
});

test("the first exception that fits a payout replaces the tiers", () => {
  const safe = [{ after: "safe" as const, upTo: 50n * USD }];
  const terms: EarlyTerms = {
    ...TERMS,
    exceptions: [
      { token: USDC, destChain: 23, tiers: safe },
      { token: USDC, destChain: undefined, tiers: [] },
      { token: undefined, destChain: 24, tiers: safe },
    ],
  };
  const token = CHAIN.contracts.escrow;
  expect(depths(terms, { destChain: 23 })).toEqual(["safe", "safe", "safe", "safe", null]);
  expect(depths(terms)).toEqual([null, null, null, null, null]);
  expect(depths(terms, { token, destChain: 24 })).toEqual(["safe", "safe", "safe", "safe", null]);
  expect(depths(terms, { token, destChain: 23 })).toEqual([2, 2, 5, 5, null]);
});

test("only chains with early payouts have rules", () => {
  const prices = { readUsd: async () => USD };
  expect(createEarlyRules([CHAIN], prices).size).toBe(0);
  expect(createEarlyRules([EARLY], prices).get(CHAIN.chainId)?.terms).toBe(TERMS);
});

test("a payout is worth its price, rounded up, and nothing known without one", async () => {
  const worthOf = async (price: () => Promise<bigint>, token = USDC) => {
    const rules = createEarlyRules([EARLY], { readUsd: price }).get(CHAIN.chainId);
    return rules?.readWorth({ destChain: CHAIN.chainId, token, amount: 1_500_000n });
  };
  expect(await worthOf(async () => 2n * USD)).toBe(3n * USD + 1n);
  expect(await worthOf(async () => 2n * USD, CHAIN.contracts.escrow)).toBeNull();
  const none = new OperatingError("PRICE_UNAVAILABLE", "There is no price.");
  expect(await worthOf(() => Promise.reject(none))).toBeNull();
  const away = new OperatingError("RPC_UNAVAILABLE", "The node did not answer.");
  await expect(worthOf(() => Promise.reject(away))).rejects.toThrow(away);
});
