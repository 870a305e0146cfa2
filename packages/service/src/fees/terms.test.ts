import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { minOutOf } from "../core/amounts.ts";
import { OperatingError } from "../core/errors.ts";
import { feeCapOf, type FeeTerms, itemise, planTerms } from "./terms.ts";

const BPS = 10_000n;
const bps = fc.integer({ min: 0, max: 10_000 });
const amount = fc.oneof(
  fc.bigInt({ min: 1n, max: 100_000n }),
  fc.bigInt({ min: 1n, max: 10n ** 30n }),
);
/** Amounts near the cap as often as far from it. */
const request = fc
  .record({ amount, maxFeeBps: bps, serviceBps: bps, gasBps: fc.integer({ min: 0, max: 400 }) })
  .chain(({ amount: whole, maxFeeBps, serviceBps, gasBps }) => {
    const about = (whole * BigInt(Math.max(maxFeeBps - gasBps, 0))) / BPS;
    const part = fc.bigInt({ min: 0n, max: about + 3n });
    return fc.record({
      amount: fc.constant(whole),
      maxFeeBps: fc.constant(maxFeeBps),
      serviceBps: fc.constant(serviceBps),
      gas: part,
      bridge: fc.oneof(fc.constant(0n), part),
    });
  });

type Request = Parameters<typeof planTerms>[0];

function plan(asked: Request): FeeTerms | string {
  try {
    return planTerms(asked);
  } catch (error) {
    if (error instanceof OperatingError) return error.code;
    throw error;
  }
}

/** Computes the fee as a route's contract does: a share plus a flat amount. */
const takenBy = (terms: FeeTerms, swept: bigint) =>
  (swept * BigInt(terms.bps)) / BPS + terms.flat + terms.bridge;
const sumOf = ({ service, gas, bridge }: ReturnType<typeof itemise>) => service + gas + bridge;

describe("fee terms", () => {
  test("fit the cap, leave an amount to deliver, and equal the sum of their items", () => {
    fc.assert(
      fc.property(request, (asked) => {
        const terms = plan(asked);
        if (typeof terms === "string") return;
        const items = itemise(asked.amount, terms, asked.maxFeeBps);
        const whole = sumOf(items);
        expect(whole).toBe(takenBy(terms, asked.amount));
        expect(whole * BPS).toBeLessThanOrEqual(asked.amount * BigInt(asked.maxFeeBps));
        expect(whole).toBeLessThan(asked.amount);
        expect(items).toMatchObject({ gas: asked.gas, bridge: asked.bridge });
        expect(terms.bps).toBeLessThanOrEqual(asked.serviceBps);
      }),
      { numRuns: 2_000 },
    );
  });

  test("fit a larger sweep as well, by the contracts' own calculation", () => {
    fc.assert(
      fc.property(request, fc.bigInt({ min: 0n, max: 10n ** 12n }), (asked, more) => {
        const terms = plan(asked);
        if (typeof terms === "string") return;
        const swept = asked.amount + more;
        const taken = takenBy(terms, swept);
        expect(taken).toBeLessThanOrEqual(feeCapOf(swept, asked.maxFeeBps));
        expect(sumOf(itemise(swept, terms, asked.maxFeeBps))).toBe(taken);
        const least = minOutOf({
          amount: swept,
          maxFeeBps: asked.maxFeeBps,
          decimalsIn: 6,
          decimalsOut: 6,
        });
        expect(swept - taken).toBeGreaterThanOrEqual(least);
      }),
      { numRuns: 2_000 },
    );
  });

  test("are refused only when gas and bridge fee alone exceed the cap", () => {
    fc.assert(
      fc.property(request, (asked) => {
        const needed = asked.gas + asked.bridge;
        const isCovered = needed <= feeCapOf(asked.amount, asked.maxFeeBps);
        const refusal = needed >= asked.amount ? "AMOUNT_TOO_SMALL" : "FEE_NOT_COVERED";
        const terms = plan(asked);
        const said = typeof terms === "string" ? terms : "planned";
        expect(said).toBe(needed === 0n || isCovered ? "planned" : refusal);
      }),
      { numRuns: 2_000 },
    );
  });

  test("of a smaller sweep shrink to its cap: service fee first, then gas, then bridge fee", () => {
    fc.assert(
      fc.property(request, amount, (asked, swept) => {
        const terms = plan(asked);
        if (typeof terms === "string") return;
        const items = itemise(swept, terms, asked.maxFeeBps);
        expect(sumOf(items)).toBeLessThanOrEqual(feeCapOf(swept, asked.maxFeeBps));
        expect(items.gas === terms.flat || items.service === 0n).toBe(true);
        expect(items.bridge === terms.bridge || items.gas === 0n).toBe(true);
      }),
      { numRuns: 2_000 },
    );
  });

  const asked = { amount: 1_000_000n, maxFeeBps: 50, serviceBps: 10, bridge: 0n };

  test("reduce the service's fee when gas needs the rest of the cap", () => {
    expect(planTerms({ ...asked, gas: 0n })).toEqual({ bps: 10, flat: 0n, bridge: 0n });
    expect(planTerms({ ...asked, gas: 4_000n })).toMatchObject({ bps: 10, flat: 4_000n });
    expect(planTerms({ ...asked, gas: 4_001n })).toMatchObject({ bps: 9, flat: 4_001n });
    expect(planTerms({ ...asked, gas: 4_500n, bridge: 300n })).toMatchObject({ bps: 2 });
    expect(planTerms({ ...asked, gas: 5_000n })).toEqual({ bps: 0, flat: 5_000n, bridge: 0n });
  });

  test("are refused with the needed amount and the cap, in base units", () => {
    expect(() => planTerms({ ...asked, gas: 5_000n, bridge: 1n })).toThrow(
      expect.objectContaining({
        code: "FEE_NOT_COVERED",
        details: { needed: "5001", cap: "5000" },
      }),
    );
    expect(() => planTerms({ ...asked, gas: 999_999n, bridge: 1n })).toThrow(
      expect.objectContaining({
        code: "AMOUNT_TOO_SMALL",
        details: { reason: "fees", amount: "1000000", needed: "1000000" },
      }),
    );
  });
});
