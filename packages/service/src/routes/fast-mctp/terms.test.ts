import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { OperatingError } from "../../core/errors.ts";
import { feeCapOf, itemise, planTerms } from "../../fees/index.ts";
import { SHARE_SCALE } from "./bridge-attestations.ts";
import { chooseSpeed, maxFeeOf } from "./terms.ts";

const USDC = 1_000_000n;
/** 1.3 basis points. */
const FAST = (13n * SHARE_SCALE) / 100_000n;
const PLENTY = 10n ** 18n;
const TERMS = { fees: { fast: FAST, standard: 0n }, allowance: PLENTY };

describe("the maximum fee of the bridge", () => {
  test("is the fast fee plus a fifth when that fits", () => {
    // 1.3 basis points of 100 are 13,000.
    expect(maxFeeOf(100n * USDC, 15_600n, TERMS)).toBe(15_600n);
  });

  test.each([
    ["there is less room", 15_599n, TERMS],
    ["the allowance is below it", PLENTY, { ...TERMS, allowance: 100n * USDC - 1n }],
    ["fast is not offered", PLENTY, { ...TERMS, fees: { fast: null, standard: 0n } }],
  ])("is zero, for a standard burn, when %s", (_, room, terms) => {
    expect(maxFeeOf(100n * USDC, room, terms)).toBe(0n);
  });

  test("is the standard fee when Circle charges one, even above the room", () => {
    const terms = { fees: { fast: null, standard: FAST }, allowance: 0n };
    expect(maxFeeOf(100n * USDC, 0n, terms)).toBe(15_600n);
  });
});

describe("a burn", () => {
  test("is fast when the maximum fee covers the fast fee", () => {
    expect(chooseSpeed(99_900_000n, 15_600n, TERMS)).toEqual({
      // 1.3 basis points of what is burned, rounded up.
      expectedFee: 12_987n,
      minFinalityThreshold: 1000,
    });
    expect(chooseSpeed(99_900_000n, 12_987n, TERMS).minFinalityThreshold).toBe(1000);
  });

  test.each([
    ["it may keep less", 12_986n, TERMS],
    ["the allowance is used up", 15_600n, { ...TERMS, allowance: 99_899_999n }],
  ])("is standard when %s", (_, maxFee, terms) => {
    expect(chooseSpeed(99_900_000n, maxFee, terms)).toEqual({
      expectedFee: 0n,
      minFinalityThreshold: 2000,
    });
  });

  test("waits when the standard fee has risen above the plan", () => {
    const terms = { fees: { fast: null, standard: FAST }, allowance: 0n };
    expect(() => chooseSpeed(99_900_000n, 12_986n, terms)).toThrow(
      expect.objectContaining({ code: "FEE_NOT_COVERED" }),
    );
  });

  test("leaves an amount to mint", () => {
    for (const [burned, maxFee] of [
      [0n, 0n],
      [5n, 5n],
    ] as const) {
      expect(() => chooseSpeed(burned, maxFee, TERMS)).toThrow(
        expect.objectContaining({ code: "AMOUNT_TOO_SMALL" }),
      );
    }
  });
});

test("is accepted by the contract for all requests: total fees fit under the cap and cover the bridge fee", () => {
  fc.assert(
    fc.property(
      fc.record({
        amount: fc.bigInt(1n, 10n ** 30n),
        serviceBps: fc.integer({ min: 0, max: 10_000 }),
        maxFeeBps: fc.integer({ min: 0, max: 10_000 }),
        gas: fc.bigInt(0n, 10n ** 20n),
        fast: fc.bigInt(0n, SHARE_SCALE),
        standard: fc.bigInt(0n, SHARE_SCALE),
        allowance: fc.bigInt(0n, 10n ** 30n),
      }),
      ({ amount, serviceBps, maxFeeBps, gas, fast, standard, allowance }) => {
        const terms = { fees: { fast, standard }, allowance };
        const cap = feeCapOf(amount, maxFeeBps);
        try {
          const bridge = maxFeeOf(amount, gas < cap ? cap - gas : 0n, terms);
          const fee = planTerms({ amount, maxFeeBps, serviceBps, gas, bridge });
          const items = itemise(amount, fee, maxFeeBps);
          const burned = amount - items.service - items.gas;
          const { expectedFee } = chooseSpeed(burned, fee.bridge, terms);
          const share = (amount * BigInt(maxFeeBps)) / 10_000n;
          const onChain = share < amount - 1n ? share : amount - 1n;
          expect(items.service + items.gas + fee.bridge <= onChain).toBe(true);
          expect(expectedFee <= fee.bridge && fee.bridge < burned).toBe(true);
        } catch (error) {
          // A refusal is acceptable too.
          if (!(error instanceof OperatingError)) throw error;
        }
      },
    ),
  );
});
