import { expect, test } from "vitest";
import { createDailySum, DAY_MS } from "./daily-sum.ts";

test("an amount counts for a day to the millisecond [T329]", () => {
  const sum = createDailySum();
  expect(sum.at(0)).toBe(0n);
  sum.add(5n, 1_000);
  sum.add(7n, 90_000);
  expect(sum.at(1_000 + DAY_MS - 1)).toBe(12n);
  expect(sum.at(1_000 + DAY_MS)).toBe(7n);
  expect(sum.at(90_000 + DAY_MS)).toBe(0n);
  // A later question forgets nothing: the clock may have been wrong.
  expect(sum.at(90_000)).toBe(12n);
});

test("amounts of a minute count until the last of them is a day old [T329]", () => {
  const sum = createDailySum();
  sum.add(1n, 1_000);
  sum.add(2n, 60_999);
  sum.add(4n, 61_000);
  expect(sum.at(1_000 + DAY_MS)).toBe(7n);
  expect(sum.at(60_999 + DAY_MS)).toBe(4n);
});

test("a clock that was ahead for a time does not keep later amounts [T329]", () => {
  const sum = createDailySum();
  sum.add(1n, 400 * DAY_MS);
  for (let day = 0; day < 10; day++) sum.add(2n, day * DAY_MS);
  // The amount of the wrong time counts until then, like any of the future; the others for a day each.
  expect(sum.at(9 * DAY_MS)).toBe(3n);
  expect(sum.at(10 * DAY_MS)).toBe(1n);
});

test("an amount that is taken back counts no more [T329]", () => {
  const sum = createDailySum();
  const takeBack = sum.add(1n, 0);
  sum.add(2n, 1_000);
  takeBack();
  expect(sum.at(1_000)).toBe(2n);
  const takeLastBack = sum.add(4n, DAY_MS);
  sum.add(8n, 3 * DAY_MS);
  // It is forgotten already.
  takeLastBack();
  expect(sum.at(3 * DAY_MS)).toBe(8n);
});

test("the sum is never below that of the single amounts, nor above that of a day and a minute [T329]", () => {
  const sum = createDailySum();
  const added: { readonly atMs: number; readonly amount: bigint }[] = [];
  let atMs = 0;
  for (let step = 1; step <= 3_000; step++) {
    // Between none and a hundred seconds, several days in all.
    atMs += (step * 7_919) % 100_000;
    const amount = BigInt((step * 31) % 1_000);
    sum.add(amount, atMs);
    added.push({ atMs, amount });
    const within = (ms: number) =>
      added.reduce((total, one) => (one.atMs > atMs - ms ? total + one.amount : total), 0n);
    expect(sum.at(atMs)).toBeGreaterThanOrEqual(within(DAY_MS));
    expect(sum.at(atMs)).toBeLessThanOrEqual(within(DAY_MS + 60_000));
  }
});
