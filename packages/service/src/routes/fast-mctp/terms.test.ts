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

describe("what the bridge may keep", () => {
  test("is what fast costs and a fifth more, where that fits", () => {
    // 1.3 basis points of 100 are 13,000.
    expect(maxFeeOf(100n * USDC, 15_600n, TERMS)).toBe(15_600n);
  });

  test.each([
    ["there is less room", 15_599n, TERMS],
    ["the allowance is below it", PLENTY, { ...TERMS, allowance: 100n * USDC - 1n }],
    ["fast is not offered", PLENTY, { ...TERMS, fees: { fast: null, standard: 0n } }],
  ])("is nothing where %s: then it goes as standard", (_, room, terms) => {
    expect(maxFeeOf(100n * USDC, room, terms)).toBe(0n);
  });

  test("is what standard costs where Circle asks for it, whatever the room", () => {
    const terms = { fees: { fast: null, standard: FAST }, allowance: 0n };
    expect(maxFeeOf(100n * USDC, 0n, terms)).toBe(15_600n);
  });
});

describe("a burn", () => {
  test("goes fast where what the bridge may keep is enough", () => {
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
  ])("goes as standard where %s", (_, maxFee, terms) => {
    expect(chooseSpeed(99_900_000n, maxFee, terms)).toEqual({
      expectedFee: 0n,
      minFinalityThreshold: 2000,
    });
  });

  test("waits where standard costs more by now than was planned", () => {
    const terms = { fees: { fast: null, standard: FAST }, allowance: 0n };
    expect(() => chooseSpeed(99_900_000n, 12_986n, terms)).toThrow(
      expect.objectContaining({ code: "FEE_NOT_COVERED" }),
    );
  });

  test("leaves something to be minted", () => {
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

test("whatever is asked, the contract takes it: all fees together fit under the cap, and the bridge is paid", () => {
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
          // Refused is as good.
          if (!(error instanceof OperatingError)) throw error;
        }
      },
    ),
  );
});
