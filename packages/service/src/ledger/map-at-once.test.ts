import { expect, test } from "vitest";
import { toFinding } from "./breaches.ts";
import { mapAtOnce } from "./map-at-once.ts";

const found = (row: number) =>
  toFinding("lock_missing", { chainId: 2, subject: `${row}`, details: {} });

test("compares sixteen rows at the same time, and returns the findings in order", async () => {
  const rows = Array.from({ length: 40 }, (_, row) => row);
  let open = 0;
  let most = 0;
  const { findings, error } = await mapAtOnce(rows, async (row) => {
    open += 1;
    most = Math.max(most, open);
    await new Promise((resolve) => setTimeout(resolve, row % 3));
    open -= 1;
    return row % 10 === 0 ? [found(row)] : [];
  });
  expect(most).toBe(16);
  expect(error).toBeNull();
  expect(findings).toEqual([0, 10, 20, 30].map(found));
});

test("an error of one row hides neither the findings of others nor itself [T221]", async () => {
  const { findings, error } = await mapAtOnce(
    Array.from({ length: 40 }, (_, row) => row),
    async (row) => {
      if (row % 20 === 3) throw new Error(`no answer for ${row}`);
      return row % 10 === 0 ? [found(row)] : [];
    },
  );
  expect(findings).toEqual([0, 10, 20, 30].map(found));
  expect(error).toEqual(new Error("no answer for 3"));
});
