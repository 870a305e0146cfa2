import { expect, test } from "vitest";
import { memoize } from "./memo.ts";

test("results of the newest keys are computed once, and errors each time", () => {
  const computed: number[] = [];
  const half = memoize(
    (n: number) => {
      computed.push(n);
      if (n < 0) throw new RangeError("expected zero or more");
      return n / 2;
    },
    String,
    2,
  );
  expect([half(2), half(4), half(2), half(4)]).toEqual([1, 2, 1, 2]);
  expect(computed).toEqual([2, 4]);
  for (let tries = 0; tries < 2; tries += 1) {
    expect(() => half(-1)).toThrow("expected zero or more");
  }
  expect(computed).toEqual([2, 4, -1, -1]);
  // The third key ends the memory of the first.
  expect([half(6), half(4), half(2)]).toEqual([3, 2, 1]);
  expect(computed).toEqual([2, 4, -1, -1, 6, 2]);
});
