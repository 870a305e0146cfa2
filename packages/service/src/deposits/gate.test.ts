import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { floorAmount, gateBalance } from "./gate.ts";

describe("the gate", () => {
  test.each([
    [1_000_000n, 1_000_000n, { kind: "pass" }],
    [999_999n, 1_000_000n, { kind: "ignore", reason: "below_token_min" }],
    [0n, 1_000_000n, { kind: "ignore", reason: "below_token_min" }],
    [0n, undefined, { kind: "ignore", reason: "below_min" }],
    [1n, undefined, { kind: "pass" }],
    [0n, 0n, { kind: "ignore", reason: "below_token_min" }],
    [-1n, undefined, { kind: "ignore", reason: "below_min" }],
  ])("a balance of %s against a minimum of %s gives %j", (balance, minimum, result) => {
    expect(gateBalance(balance, { token: minimum, floor: undefined })).toEqual(result);
  });

  test.each([
    [99n, 100n, 50n, "below_token_min"],
    [99n, 50n, 100n, "below_min"],
    [99n, undefined, 100n, "below_min"],
    [0n, undefined, 100n, "below_min"],
    [100n, 100n, 100n, "pass"],
    // The settlement waits for the price; the deposit is queued without it.
    [1n, undefined, "unpriced", "pass"],
    [100n, 100n, "unpriced", "pass"],
    [99n, 100n, "unpriced", "below_token_min"],
    [0n, undefined, "unpriced", "below_min"],
  ] as const)(
    "%s against a minimum of %s and a floor of %s: %s",
    (balance, token, floor, result) => {
      const gate = result === "pass" ? { kind: "pass" } : { kind: "ignore", reason: result };
      expect(gateBalance(balance, { token, floor })).toEqual(gate);
    },
  );
});

describe("the floor in base units", () => {
  const USD = 10n ** 18n;

  test("is exact to the base unit", () => {
    expect(floorAmount({ floorUsd: 10n * USD, priceUsd: USD, decimals: 6 })).toBe(10_000_000n);
    // 10 / 3000 with 18 decimals, rounded up.
    expect(floorAmount({ floorUsd: 10n * USD, priceUsd: 3000n * USD, decimals: 18 })).toBe(
      3_333_333_333_333_334n,
    );
    expect(floorAmount({ floorUsd: 0n, priceUsd: USD, decimals: 6 })).toBe(0n);
  });

  test("is the smallest balance that is worth the floor", () => {
    const amount = fc.bigInt({ min: 1n, max: 10n ** 30n });
    fc.assert(
      fc.property(
        amount,
        amount,
        fc.integer({ min: 0, max: 18 }),
        (floorUsd, priceUsd, decimals) => {
          const least = floorAmount({ floorUsd, priceUsd, decimals });
          const isWorth = (balance: bigint) =>
            balance * priceUsd >= floorUsd * 10n ** BigInt(decimals);
          expect(isWorth(least)).toBe(true);
          expect(isWorth(least - 1n)).toBe(false);
        },
      ),
    );
  });
});
