import { expect, test } from "vitest";
import { CHAIN, USDC } from "../../../../test/support/doctor-doubles.ts";
import type { EvmChain } from "../../../config/index.ts";
import { OperatingError } from "../../../core/errors.ts";
import { confirmationsFor, createEarlyRules } from "./rules.ts";

const USD = 10n ** 18n;
const TERMS = {
  exposure: 100n * USD,
  tiers: [
    { after: 2, upTo: 10n * USD },
    { after: 5, upTo: 50n * USD },
  ],
  acceptedLosses: [],
};
const EARLY: EvmChain = { ...CHAIN, earlyPayouts: TERMS };

test("a larger payout waits for more blocks, and above the last tier for finality", () => {
  const waits = [1n, 10n * USD, 10n * USD + 1n, 50n * USD, 50n * USD + 1n].map((worth) =>
    confirmationsFor(TERMS, worth),
  );
  expect(waits).toEqual([2, 2, 5, 5, null]);
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
