/** Payouts and fees of routes under all planned terms: exact to the unit, and never below the promised minimum. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createStillClock, createStrictChain } from "../../test/support/doubles.ts";
import { toEvmAddress } from "../core/hex.ts";
import type { Db } from "../db/schema.ts";
import { type FeeTerms, itemise, planTerms } from "../fees/index.ts";
import { createMonoChainRoute } from "./mono-chain/route.ts";
import { createSwiftRoute } from "./swift/route.ts";

const TOKEN = toEvmAddress(`0x${"5".repeat(40)}`);
const CONTRACT = toEvmAddress(`0x${"6".repeat(40)}`);
/** A quote reads no rows. */
// CAST: every read throws.
const noDatabase = Object.freeze({}) as unknown as Db;

const [source, destination] = [2, 30].map((chainId) => createStrictChain({ chainId }));

function swift(given: { decimalsIn: number; decimalsOut: number; rate?: bigint }) {
  if (!source || !destination) throw new Error("there are two chains");
  const { decimalsIn, decimalsOut, rate } = given;
  return createSwiftRoute({
    db: noDatabase,
    clock: createStillClock(),
    source,
    destination,
    token: TOKEN,
    decimalsIn,
    destToken: TOKEN,
    decimalsOut,
    contract: CONTRACT,
    pricing:
      rate === undefined
        ? null
        : {
            readRate: async () => rate,
            rateToleranceBps: 200,
            attestPrice: () => Promise.reject(new Error("no sweep")),
            findRateAt: () => Promise.reject(new Error("no sweep")),
          },
  });
}

function monoChain() {
  if (!source) throw new Error("there is a chain");
  return createMonoChainRoute({
    chain: source,
    token: TOKEN,
    decimals: 6,
    contract: CONTRACT,
    deliveryConfirmations: 1,
  });
}

/** An amount and terms that fit its cap. */
const planned = fc
  .record({
    amount: fc.oneof(
      fc.bigInt({ min: 1_000n, max: 10n ** 6n }),
      fc.bigInt({ min: 1_000n, max: 10n ** 24n }),
    ),
    maxFeeBps: fc.integer({ min: 1, max: 500 }),
    maxSlippageBps: fc.integer({ min: 0, max: 200 }),
    serviceBps: fc.integer({ min: 0, max: 100 }),
    gasShare: fc.bigInt({ min: 0n, max: 100n }),
  })
  .map(({ amount, gasShare, serviceBps, ...caps }) => {
    const cap = (amount * BigInt(caps.maxFeeBps)) / 10_000n;
    const gas = (cap * gasShare) / 100n;
    const { maxFeeBps } = caps;
    return {
      amount,
      caps,
      fee: planTerms({ amount, maxFeeBps, serviceBps, gas, bridge: 0n }),
    };
  });

describe("payout and fees", () => {
  test.each([
    ["SWIFT", swift({ decimalsIn: 6, decimalsOut: 6 })],
    ["MONO_CHAIN", monoChain()],
  ] as const)("of %s sum to the amount, to the unit", async (_, route) => {
    await fc.assert(
      fc.asyncProperty(planned, async ({ amount, caps, fee }) => {
        const { amountOut, minOut } = await route.quote(amount, caps, fee);
        const { service, gas, bridge } = itemise(amount, fee, caps.maxFeeBps);
        expect(amountOut + service + gas).toBe(amount);
        expect(bridge).toBe(0n);
        expect(gas).toBe(fee.flat);
        expect(amountOut).toBeGreaterThanOrEqual(minOut);
      }),
      { numRuns: 500 },
    );
  });

  test("of tokens with different decimals lose at most one unit of the coarser token", async () => {
    const decimals = fc.integer({ min: 0, max: 18 });
    await fc.assert(
      fc.asyncProperty(planned, decimals, decimals, async (plan, decimalsIn, decimalsOut) => {
        const { amount, caps, fee } = plan;
        const quoted = await swift({ decimalsIn, decimalsOut }).quote(amount, caps, fee);
        const { service, gas } = itemise(amount, fee, caps.maxFeeBps);
        const left = (amount - service - gas) * 10n ** BigInt(decimalsOut);
        const rounded = left / 10n ** BigInt(decimalsIn);
        // Where rounding alone would exceed the cap, the service bears it.
        expect(quoted.amountOut).toBe(rounded < quoted.minOut ? quoted.minOut : rounded);
        expect(quoted.amountOut - rounded).toBeLessThanOrEqual(1n);
      }),
      { numRuns: 500 },
    );
  });

  test("of a priced pair keep the promised minimum and charge gas at the pair's rate", async () => {
    const rate = fc.bigInt({ min: 10n ** 15n, max: 10n ** 22n });
    await fc.assert(
      fc.asyncProperty(planned, rate, async ({ amount, caps, fee }, at) => {
        const route = swift({ decimalsIn: 6, decimalsOut: 18, rate: at });
        const whole: FeeTerms = { ...fee, flat: 0n };
        const charged = await route.quote(amount, caps, fee);
        const sponsored = await route.quote(amount, caps, whole);
        expect(charged.amountOut).toBeGreaterThanOrEqual(charged.minOut);
        const worth = (charged.fair * fee.flat) / amount;
        const taken = sponsored.amountOut - charged.amountOut;
        // A priced payout is recovered from its promised minimum, one unit of which is several source units.
        const unit = charged.fair / 10n ** 9n + 100n;
        expect(taken).toBeLessThanOrEqual(worth + unit);
        expect(taken).toBeGreaterThanOrEqual(worth - unit);
      }),
      { numRuns: 500 },
    );
  });
});
