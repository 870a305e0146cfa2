import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { feeOf, formatUnits, minOutOf, parseUnits, rescale, roundUnits } from "./amounts.ts";

const UINT256_MAX = 2n ** 256n - 1n;
const amounts = fc.bigInt({ min: 0n, max: UINT256_MAX });
const decimals = fc.integer({ min: 0, max: 77 });

describe("units", () => {
  test("round-trips every uint256 through whole tokens [T25]", () => {
    fc.assert(
      fc.property(amounts, decimals, (amount, places) => {
        expect(parseUnits(formatUnits(amount, places), places)).toBe(amount);
      }),
      { numRuns: 1000 },
    );
  });

  test.each([
    ["1", 6, 1_000_000n],
    ["1.25", 6, 1_250_000n],
    ["0.000001", 6, 1n],
    ["1.2500000000", 6, 1_250_000n],
    ["0", 18, 0n],
  ])("reads %s with %i decimals", (text, places, amount) => {
    expect(parseUnits(text, places)).toBe(amount);
  });

  test.each(["", "-1", "1e18", "0x10", ".5", "1.", "1,5", " 1", "NaN", "1.0000001"])(
    "refuses %j as an amount with 6 decimals",
    (text) => {
      expect(() => parseUnits(text, 6)).toThrow(RangeError);
    },
  );
});

describe("numbers from floating point", () => {
  test("reads every plain decimal exactly", () => {
    fc.assert(
      fc.property(amounts, decimals, (amount, places) => {
        expect(roundUnits(formatUnits(amount, places), places)).toBe(amount);
      }),
    );
  });

  test("reads every double to its value, with or without an exponent", () => {
    fc.assert(
      fc.property(fc.double({ min: 0, max: 1e40, noNaN: true }), (value) => {
        const [digits = "", exponent = "0"] = value.toExponential(16).split("e");
        const exact = BigInt(digits.replace(".", ""));
        const shift = Number(exponent) - 16 + 18;
        const low = shift >= 0 ? exact * 10n ** BigInt(shift) : exact / 10n ** BigInt(-shift);
        const off = roundUnits(String(value), 18) - low;
        // The shortest text of a double and its 17 digits differ at most in the last place.
        const place = 10n ** BigInt(Math.max(0, shift + 1));
        expect(off >= -place && off <= place).toBe(true);
      }),
    );
  });

  test.each([
    ["0.30000000000000004", 6, 300_000n],
    ["0.0000005", 6, 1n],
    ["0.00000049", 6, 0n],
    ["1e-7", 18, 100_000_000_000n],
    ["1E+21", 0, 10n ** 21n],
    ["0e999", 18, 0n],
  ])("reads %s with %i decimals", (text, places, amount) => {
    expect(roundUnits(text, places)).toBe(amount);
  });

  test.each(["", "-1", "0x10", ".5", "1.", "1,5", "NaN", "Infinity", "1e", "1e1000"])(
    "refuses %j",
    (text) => {
      expect(() => roundUnits(text, 6)).toThrow(RangeError);
    },
  );
});

describe("minimum output", () => {
  test("is the amount after the fee cap, rounded up to at most its value [T142, V7]", () => {
    fc.assert(
      fc.property(
        fc.bigInt({ min: 0n, max: 2n ** 128n }),
        fc.integer({ min: 0, max: 10_000 }),
        fc.integer({ min: 0, max: 24 }),
        fc.integer({ min: 0, max: 24 }),
        (amount, maxFeeBps, decimalsIn, decimalsOut) => {
          const minOut = minOutOf({ amount, maxFeeBps, decimalsIn, decimalsOut });
          const scale = 10_000n * 10n ** BigInt(decimalsIn);
          const exact = amount * BigInt(10_000 - maxFeeBps) * 10n ** BigInt(decimalsOut);
          const worth = rescale(amount, decimalsIn, decimalsOut);
          expect(minOut * scale >= exact || minOut === worth).toBe(true);
          expect((minOut - 1n) * scale < exact).toBe(true);
          expect(minOut <= worth).toBe(true);
        },
      ),
      { numRuns: 1000 },
    );
  });

  test("is never above a payout whose fee is under the cap, in units as fine as the deposit's [V7]", () => {
    fc.assert(
      fc.property(
        fc.bigInt({ min: 0n, max: 2n ** 128n }),
        fc.integer({ min: 0, max: 10_000 }),
        fc.integer({ min: 0, max: 10_000 }),
        fc.integer({ min: 0, max: 24 }),
        fc.integer({ min: 0, max: 24 }),
        (amount, cap, fee, decimalsIn, finer) => {
          const decimalsOut = decimalsIn + finer;
          const payout = rescale(
            amount - feeOf(amount, Math.min(fee, cap)),
            decimalsIn,
            decimalsOut,
          );
          const minOut = minOutOf({ amount, maxFeeBps: cap, decimalsIn, decimalsOut });
          expect(payout >= minOut).toBe(true);
        },
      ),
      { numRuns: 1000 },
    );
  });
});
