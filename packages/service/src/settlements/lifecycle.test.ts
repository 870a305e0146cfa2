import { SETTLEMENT_STATUSES, type SettlementStatus } from "@sluice/sdk/wire";
import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { drawLifecycle } from "./drawing.ts";
import { LIFECYCLE, TRIGGERS } from "./lifecycle.ts";

// CAST: keys of the table are the statuses.
const statuses = Object.keys(SETTLEMENT_STATUSES) as SettlementStatus[];

describe("lifecycle", () => {
  test("every status of the interface has a row and every trigger a cell", () => {
    expect(Object.keys(LIFECYCLE).toSorted()).toEqual(statuses.toSorted());
    for (const status of statuses) {
      expect(Object.keys(LIFECYCLE[status]).toSorted()).toEqual([...TRIGGERS].toSorted());
    }
  });

  test("every cell says where to, or why not", () => {
    for (const status of statuses) {
      for (const cell of Object.values(LIFECYCLE[status])) {
        expect("to" in cell ? cell.to : cell.reject).toMatch(/^[a-z]/);
      }
    }
  });

  test("M3 a final status has no way out, and every other has", () => {
    for (const status of statuses) {
      const exits = Object.values(LIFECYCLE[status]).filter((cell) => "to" in cell);
      expect(exits.length > 0).toBe(!SETTLEMENT_STATUSES[status].terminal);
    }
  });

  test("completed is reached by a delivery that was seen, and by nothing else", () => {
    const ways = statuses.flatMap((status) =>
      TRIGGERS.filter((trigger) => {
        const cell = LIFECYCLE[status][trigger];
        return "to" in cell && cell.to === "completed";
      }),
    );
    expect(new Set(ways)).toEqual(new Set(["delivered"]));
  });

  test("a status never leaves its chain kind", () => {
    for (const status of statuses) {
      const { chainKinds } = SETTLEMENT_STATUSES[status];
      for (const cell of Object.values(LIFECYCLE[status])) {
        if (!("to" in cell)) continue;
        expect(SETTLEMENT_STATUSES[cell.to].chainKinds).toEqual(
          expect.arrayContaining([...chainKinds]),
        );
      }
    }
  });

  test("every status can be reached from a first one", () => {
    const reached = new Set<SettlementStatus>(["pending_deploy", "pending_swap", "pending_settle"]);
    for (let size = 0; size !== reached.size;) {
      size = reached.size;
      for (const status of reached) {
        for (const cell of Object.values(LIFECYCLE[status])) if ("to" in cell) reached.add(cell.to);
      }
    }
    expect(statuses.filter((status) => !reached.has(status))).toEqual([]);
  });

  test("the drawing in docs is this table", () => {
    const page = new URL("../../../../docs/lifecycle.md", import.meta.url);
    expect(readFileSync(page, "utf8")).toBe(drawLifecycle());
  });
});
