/** The gas price cap of claims, by the time left and the value at stake. */
import { expect, test } from "vitest";
import { claimCapOf } from "./claim-cap.ts";

const HOUR_S = 3_600n;
const GWEI = 10n ** 9n;
const of = (ageS: bigint, worth: bigint | null) =>
  claimCapOf({ cap: 50n * GWEI, ageS, gas: 100_000n, worth });

test.each([
  [0n, 50n],
  [6n * HOUR_S - 1n, 50n],
  [6n * HOUR_S, 100n],
  [24n * HOUR_S, 200n],
  [48n * HOUR_S, 400n],
  [71n * HOUR_S, 400n],
])("%s seconds after the lock a claim of much value may offer %s gwei [T172]", (ageS, gwei) => {
  expect(of(ageS, 10n ** 18n)).toBe(gwei * GWEI);
});

test("a claim offers at most half of the value at stake, and never less than other calls [T172]", () => {
  // A hundred thousand gas at 150 gwei cost 0.015.
  expect(of(48n * HOUR_S, 3n * 10n ** 16n)).toBe(150n * GWEI);
  expect(of(48n * HOUR_S, 10n ** 15n)).toBe(50n * GWEI);
  expect(of(48n * HOUR_S, 0n)).toBe(50n * GWEI);
});

test("a claim of a value without a price offers at most twice the cap", () => {
  expect(of(6n * HOUR_S, null)).toBe(100n * GWEI);
  expect(of(48n * HOUR_S, null)).toBe(100n * GWEI);
  expect(of(HOUR_S, null)).toBe(50n * GWEI);
});
