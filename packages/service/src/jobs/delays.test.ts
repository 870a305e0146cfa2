/** Delays that grow with the time that something has waited. */
import { expect, test } from "vitest";
import { errorDelay, followDelay } from "./delays.ts";

test("a retry after an error comes after a tenth of the wait, from 1 s to 15 s", () => {
  const delays = [-5_000, 0, 10_000, 40_000, 150_000, 3_600_000].map(errorDelay);
  expect(delays).toEqual([1_000, 1_000, 1_000, 4_000, 15_000, 15_000]);
});

test("a poll comes after a twentieth of the wait, up to 15 s", () => {
  expect([-5_000, 40_000, 3_600_000].map(followDelay)).toEqual([0, 2_000, 15_000]);
});
