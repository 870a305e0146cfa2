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

  test("every cell names a next status or the reason why there is none", () => {
    for (const status of statuses) {
      for (const cell of Object.values(LIFECYCLE[status])) {
        expect("to" in cell ? cell.to : cell.reject).toMatch(/^[a-z]/);
      }
    }
  });

  test("terminal statuses have no transition, and every other status has one [M3]", () => {
    for (const status of statuses) {
      const exits = Object.values(LIFECYCLE[status]).filter((cell) => "to" in cell);
      expect(exits.length > 0).toBe(!SETTLEMENT_STATUSES[status].terminal);
    }
  });

  test("only an observed delivery leads to completed", () => {
    const ways = statuses.flatMap((status) =>
      TRIGGERS.filter((trigger) => {
        const cell = LIFECYCLE[status][trigger];
        return "to" in cell && cell.to === "completed";
      }),
    );
    expect(new Set(ways)).toEqual(new Set(["delivered"]));
  });

  test("no transition changes the kind of chain", () => {
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

  test("every status is reachable from an initial status", () => {
    const reached = new Set<SettlementStatus>(["pending_deploy", "pending_swap", "pending_settle"]);
    for (let size = 0; size !== reached.size;) {
      size = reached.size;
      for (const status of reached) {
        for (const cell of Object.values(LIFECYCLE[status])) if ("to" in cell) reached.add(cell.to);
      }
    }
    expect(statuses.filter((status) => !reached.has(status))).toEqual([]);
  });

  test("the diagram in docs matches the table", () => {
    const page = new URL("../../../../docs/lifecycle.md", import.meta.url);
    expect(readFileSync(page, "utf8")).toBe(drawLifecycle());
  });
});
