import { expect, test } from "vitest";
import { toFinding } from "./breaches.ts";
import { mapAtOnce } from "./map-at-once.ts";

const found = (row: number) =>
  toFinding("lock_missing", { chainId: 2, subject: `${row}`, details: {} });

test("compares sixteen rows at the same time, and returns the findings in order", async () => {
  const rows = Array.from({ length: 40 }, (_, row) => row);
  let open = 0;
  let most = 0;
  const findings = await mapAtOnce(rows, async (row) => {
    open += 1;
    most = Math.max(most, open);
    await new Promise((resolve) => setTimeout(resolve, row % 3));
    open -= 1;
    return row % 10 === 0 ? [found(row)] : [];
  });
  expect(most).toBe(16);
  expect(findings).toEqual([0, 10, 20, 30].map(found));
});

test("compares no more rows after an error", async () => {
  const compared: number[] = [];
  const comparing = mapAtOnce(
    Array.from({ length: 40 }, (_, row) => row),
    async (row) => {
      compared.push(row);
      if (row === 3) throw new Error("no answer");
      return [];
    },
  );
  await expect(comparing).rejects.toThrow("no answer");
  expect(compared).toHaveLength(16);
});
