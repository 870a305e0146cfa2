import { describe, expect, test } from "vitest";
import { toFinding } from "./breaches.ts";
import { createStillClock } from "../../test/support/doubles.ts";
import { auditInTurns, mapAtOnce } from "./map-at-once.ts";

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

describe("recorded deliveries in turns", () => {
  /** A queue of rows that are due at once, and the ones among them that no node can prove. */
  function open(count: number, { unproved = new Set<string>(), failing = "", wrong = "" } = {}) {
    const clock = createStillClock();
    const due = Array.from({ length: count }, (_, row) => ({ id: `${row}`, seen_ms: clock.now() }));
    const asked: string[] = [];
    const audited = new Set<string>();
    const audit = (scope: "next" | "all" = "next") =>
      auditInTurns(
        { clock },
        {
          scope,
          list: async (limit) =>
            due.filter(({ id }) => !audited.has(id)).slice(0, limit ?? undefined),
          async compare({ id }) {
            if (id === failing) throw new Error(`no answer for ${id}`);
            asked.push(id);
            if (id === wrong) return { findings: [found(7)], isProved: false };
            return { findings: [], isProved: !unproved.has(id) };
          },
          async record(ids, change) {
            if ("audited" in change) for (const id of ids) audited.add(id);
          },
        },
      );
    return { audit, asked, audited };
  }

  test("one round proves thousands, so that it keeps up with what a process settles", async () => {
    const { audit, audited } = open(3_900);
    await audit();
    expect(audited.size).toBe(3_900);
  });

  test("no row is compared twice in a round that proves nothing", async () => {
    const ids = Array.from({ length: 500 }, (_, row) => `${row}`);
    const { audit, asked } = open(500, { unproved: new Set(ids) });
    await audit();
    expect(asked).toHaveLength(200);
  });

  test("an error ends the round after its page, whose proved rows are recorded", async () => {
    const { audit, audited } = open(500, { failing: "7" });
    expect(await audit()).toEqual({ findings: [], error: new Error("no answer for 7") });
    expect(audited.size).toBe(199);
  });

  test("a finding ends the round after its page, so that the breach opens at once", async () => {
    const { audit, asked } = open(900, { wrong: "7" });
    expect(await audit()).toEqual({ findings: [found(7)], error: null });
    expect(asked).toHaveLength(200);
  });

  test("a full audit compares all rows in one page", async () => {
    const { audit, asked } = open(500);
    await audit("all");
    expect(asked).toHaveLength(500);
  });
});
