/** The amounts of a pool swap, and the bounds within which a pool's answer is accepted. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { BPS } from "../../core/amounts.ts";
import { OperatingError } from "../../core/errors.ts";
import { assertFair, chargeOf, swapMinimumOf } from "./swap-terms.ts";

const amounts = fc.bigInt({ min: 1n, max: 10n ** 30n });
const rates = fc.bigInt({ min: 1n, max: 10n ** 36n });
const bps = fc.integer({ min: 0, max: 10_000 });
const decimals = fc.integer({ min: 0, max: 24 });

describe("the fee", () => {
  test("is the share, rounded down, plus the flat amount", () => {
    expect(chargeOf(1_999n, { bps: 10, flat: 3n })).toBe(4n);
  });
});

describe("the minimum output", () => {
  test("is the value rounded down, less the slippage rounded down, as the contract does [T142]", () => {
    fc.assert(
      fc.property(
        amounts,
        rates,
        bps,
        decimals,
        decimals,
        (amount, rate, maxSlippageBps, decimalsIn, decimalsOut) => {
          const fair =
            (amount * rate * 10n ** BigInt(decimalsOut)) / (10n ** 18n * 10n ** BigInt(decimalsIn));
          const rated = { rate, decimalsIn, decimalsOut };
          expect(swapMinimumOf(amount, rated, { maxSlippageBps })).toBe(
            maxSlippageBps >= Number(BPS) ? 0n : fair - (fair * BigInt(maxSlippageBps)) / BPS,
          );
        },
      ),
    );
  });

  test("differs by one unit only when the exact value is below a whole unit", () => {
    const rated = { rate: 3_000n * 10n ** 18n, decimalsIn: 18, decimalsOut: 6 };
    const caps = { maxSlippageBps: 100 };
    expect(swapMinimumOf(10n ** 18n, rated, caps)).toBe(2_970_000_000n);
    expect(swapMinimumOf(10n ** 18n - 1n, rated, caps)).toBe(2_970_000_000n);
    expect(swapMinimumOf(10n ** 18n - 10n ** 12n, rated, caps)).toBe(2_969_997_030n);
    expect(swapMinimumOf(333_333_332n, rated, caps)).toBe(0n);
  });
});

describe("a pool's answer", () => {
  const reasonOf = (answer: bigint | null, expected: Parameters<typeof assertFair>[1]) => {
    try {
      assertFair(answer, expected);
      return null;
    } catch (error) {
      if (!(error instanceof OperatingError)) throw error;
      expect(error.code).toBe("NO_ROUTE");
      return error.details?.["reason"];
    }
  };

  test("is accepted within the bound on both sides, to the unit", () => {
    const expected = { fair: 10_000n, least: 0n, maxImpactBps: 100 };
    expect(reasonOf(9_900n, expected)).toBeNull();
    expect(reasonOf(10_100n, expected)).toBeNull();
    expect(reasonOf(9_899n, expected)).toBe("pool_below_price");
    expect(reasonOf(10_101n, expected)).toBe("pool_above_price");
    expect(reasonOf(null, expected)).toBe("no_pool");
  });

  test("is rejected below the contract's minimum, for every bound", () => {
    const expected = { fair: 10_000n, least: 9_950n, maxImpactBps: 10_000 };
    expect(reasonOf(9_950n, expected)).toBeNull();
    expect(reasonOf(9_949n, expected)).toBe("pool_below_price");
  });

  test("is accepted only near the fair value", () => {
    fc.assert(
      fc.property(amounts, amounts, bps, (answer, fair, maxImpactBps) => {
        const room = BigInt(maxImpactBps) * fair;
        const apart = (answer > fair ? answer - fair : fair - answer) * BPS;
        const refused = reasonOf(answer, { fair, least: 0n, maxImpactBps }) !== null;
        expect(refused).toBe(apart > room);
      }),
    );
  });
});
