/** Changes of settlements that share a transaction, on real PostgreSQL. */
import { expect, test } from "vitest";
import { openDesk } from "../../../test/support/settlement-desk.ts";
import { assert } from "../../core/assert.ts";
import type { Tx } from "../../db/schema.ts";
import { getSettlement } from "./read.ts";
import { changeTogether } from "./together.ts";

/** Opens a desk with three settlements, and returns what changes them. */
async function open() {
  const desk = await openDesk();
  desk.state.balance = 1_000n;
  for (const user of ["0x51", "0x52", "0x53"] as const) {
    await desk.arrive(await desk.issue(user), { amount: 1_000n, block: 5n });
  }
  const ids = (await desk.swaps()).map(({ id }) => id).toSorted();
  /** Transactions in which each change ran. */
  const ran: (readonly [string, Tx])[] = [];
  const change = async (id: string, run: (tx: Tx) => Promise<void> = async () => undefined) => {
    const settlement = await getSettlement(desk.db, id);
    assert(settlement, "the settlement exists");
    return changeTogether(desk.db, settlement, async (tx) => {
      ran.push([id, tx]);
      await tx
        .updateTable("settlements")
        .set((row) => ({ retry_count: row("retry_count", "+", 1) }))
        .where("id", "=", id)
        .execute();
      await run(tx);
    });
  };
  const counts = async () => {
    const rows = await desk.db
      .selectFrom("settlements")
      .select(["id", "retry_count"])
      .orderBy("id")
      .execute();
    return rows.map((row) => row.retry_count);
  };
  return { ids, ran, change, counts };
}

test("changes of one turn are one transaction", async () => {
  const { ids, ran, change, counts } = await open();
  await Promise.all(ids.map((id) => change(id)));
  expect(new Set(ran.map(([, tx]) => tx)).size).toBe(1);
  expect(await counts()).toEqual([1, 1, 1]);
});

test("a change that throws is undone, and the others are made once [T313]", async () => {
  const { ids, change, counts } = await open();
  const [one = "", other = "", third = ""] = ids;
  const results = await Promise.allSettled([
    change(one),
    change(other, async () => {
      throw new Error("not this one");
    }),
    change(third),
  ]);
  expect(results.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
  expect(results[1]).toMatchObject({ reason: { message: "not this one" } });
  expect(await counts()).toEqual([1, 0, 1]);
});

test("changes that name settlements in different orders never deadlock", async () => {
  const { ids, change, counts } = await open();
  for (let round = 0; round < 10; round++) {
    const later = new Promise((resolve) => setImmediate(resolve));
    const first = ids.map((id) => change(id));
    await later;
    await Promise.all([...first, ...ids.toReversed().map((id) => change(id))]);
  }
  expect(await counts()).toEqual([20, 20, 20]);
});
