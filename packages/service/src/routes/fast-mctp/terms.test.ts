import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { OperatingError } from "../../core/errors.ts";
import { SHARE_SCALE } from "./attestations.ts";
import { chooseTerms } from "./terms.ts";

const USDC = 1_000_000n;
/** 1.3 basis points. */
const FAST = (13n * SHARE_SCALE) / 100_000n;
const PLENTY = 10n ** 18n;

const ask = {
  amount: 100n * USDC,
  feeBps: 10,
  maxFeeBps: 50,
  fees: { fast: FAST, standard: 0n },
  allowance: PLENTY,
};

describe("terms", () => {
  test("are fast where that fits, and allow a fifth more than the minimum", () => {
    expect(chooseTerms(ask)).toEqual({
      fee: 100_000n,
      burned: 99_900_000n,
      // 1.3 basis points of what is burned, rounded up.
      expectedFee: 12_987n,
      maxFee: 15_585n,
      minFinalityThreshold: 1000,
    });
  });

  test.each([
    ["the allowance is below what would be burned", { allowance: 99_899_999n }],
    ["fast is not offered", { fees: { fast: null, standard: 0n } }],
    ["it does not fit under the cap with our fee", { maxFeeBps: 11 }],
  ])("are standard and free where %s", (_, change) => {
    expect(chooseTerms({ ...ask, ...change })).toMatchObject({
      maxFee: 0n,
      expectedFee: 0n,
      minFinalityThreshold: 2000,
    });
  });

  test("the allowance may be used to its last unit", () => {
    const { minFinalityThreshold } = chooseTerms({ ...ask, allowance: 99_900_000n });
    expect(minFinalityThreshold).toBe(1000);
  });

  test("tiny amounts, of which the least fee is above the cap, go as standard", () => {
    // One unit is more than half a percent of 100.
    const tiny = { ...ask, amount: 100n };
    expect(chooseTerms(tiny)).toMatchObject({ fee: 0n, burned: 100n, minFinalityThreshold: 2000 });
  });

  test("a standard transfer pays where Circle asks for it, and fits or not", () => {
    const fees = { fast: null, standard: FAST };
    expect(chooseTerms({ ...ask, fees })).toMatchObject({
      maxFee: 15_585n,
      minFinalityThreshold: 2000,
    });
    expect(() => chooseTerms({ ...ask, fees, maxFeeBps: 11 })).toThrow(
      expect.objectContaining({ code: "FEE_NOT_COVERED" }),
    );
  });

  test("one unit is too little", () => {
    expect(() => chooseTerms({ ...ask, amount: 1n })).toThrow(
      expect.objectContaining({ code: "AMOUNT_TOO_SMALL" }),
    );
  });

  test("whatever is asked, the contract takes it: all fees together fit under the cap, and something is burned", () => {
    fc.assert(
      fc.property(
        fc.bigInt(1n, 10n ** 30n),
        fc.integer({ min: 0, max: 10_000 }),
        fc.integer({ min: 0, max: 10_000 }),
        fc.bigInt(0n, SHARE_SCALE),
        fc.bigInt(0n, SHARE_SCALE),
        fc.bigInt(0n, 10n ** 30n),
        (amount, feeBps, maxFeeBps, fast, standard, allowance) => {
          try {
            const fees = { fast, standard };
            const terms = chooseTerms({ amount, feeBps, maxFeeBps, fees, allowance });
            const share = (amount * BigInt(maxFeeBps)) / 10_000n;
            const cap = share < amount - 1n ? share : amount - 1n;
            expect(terms.fee + terms.burned).toBe(amount);
            expect(terms.fee + terms.maxFee <= cap).toBe(true);
            expect(terms.maxFee < terms.burned).toBe(true);
            const minimum = terms.minFinalityThreshold === 1000 ? fast : standard;
            expect(terms.maxFee * SHARE_SCALE >= terms.burned * minimum).toBe(true);
          } catch (error) {
            // Refused is as good.
            if (!(error instanceof OperatingError)) throw error;
          }
        },
      ),
    );
  });
});
