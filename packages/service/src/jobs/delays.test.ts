/** Delays that grow with the time that something has waited. */
import { expect, test } from "vitest";
import { errorDelay, finalityDelay, followDelay } from "./delays.ts";

test("a retry after an error comes after a tenth of the wait, from 1 s to 15 s", () => {
  const delays = [-5_000, 0, 10_000, 40_000, 150_000, 3_600_000].map(errorDelay);
  expect(delays).toEqual([1_000, 1_000, 1_000, 4_000, 15_000, 15_000]);
});

test("a poll comes after a twentieth of the wait, up to 15 s", () => {
  expect([-5_000, 40_000, 3_600_000].map(followDelay)).toEqual([0, 2_000, 15_000]);
});

test("a poll for finality comes after as long as it has waited, up to a minute, and at nine tenths of the usual wait", () => {
  const delays = [-5_000, 0, 1_000, 40_000, 300_000, 790_000, 810_000, 1_000_000].map((waited) =>
    finalityDelay(waited, 900_000),
  );
  expect(delays).toEqual([0, 0, 1_000, 40_000, 60_000, 20_000, 15_000, 15_000]);
  expect([40_000, 3_600_000].map((waited) => finalityDelay(waited, undefined))).toEqual([
    2_000, 15_000,
  ]);
  // Finality within seconds is not exceeded.
  expect([500, 1_500, 1_900].map((waited) => finalityDelay(waited, 2_000))).toEqual([500, 300, 95]);
});
