/** Due rows, against real PostgreSQL. */
import { expect, test } from "vitest";
import { openDesk } from "../../test/support/settlement-desk.ts";
import { dueSettlements } from "../settlements/store/due.ts";

/** Opens a desk with one due settlement. */
async function open() {
  const desk = await openDesk();
  desk.state.balance = 1_000n;
  await desk.arrive(await desk.issue("0x01"), { amount: 1_000n, block: 5n });
  const nowMs = desk.clock.now();
  const lease = () =>
    dueSettlements.lease(desk.db, { chainId: 2, nowMs, leaseMs: 30_000, limit: 10 });
  return { ...desk, nowMs, lease };
}

test("a leased row is due at the time that it is put off to", async () => {
  const { db, nowMs, lease } = await open();
  const [id = ""] = await lease();
  await dueSettlements.rescheduleUnlessDue(db, id, { atMs: nowMs + 5_000, nowMs });
  expect(await lease()).toEqual([]);
  const soon = { chainId: 2, nowMs: nowMs + 5_000, leaseMs: 30_000, limit: 10 };
  expect(await dueSettlements.lease(db, soon)).toEqual([id]);
});

test("a wake-up while the row is worked on is not lost [T264]", async () => {
  const { db, nowMs, lease } = await open();
  const [id = ""] = await lease();
  // What the worker read is outdated now.
  await db.transaction().execute((tx) => dueSettlements.wake(tx, "id", [id], nowMs));
  await dueSettlements.rescheduleUnlessDue(db, id, { atMs: nowMs + 15_000, nowMs });
  expect(await lease()).toEqual([id]);
});

test("waking rows names their queue, and that of no other row [T313]", async () => {
  const { db, nowMs, lease } = await open();
  const [id = ""] = await lease();
  const unknown = "00000000-0000-4000-8000-000000000000";
  const wake = (ids: readonly string[]) => dueSettlements.wake(db, "id", ids, nowMs);
  expect(await wake([id, unknown])).toEqual([{ name: "settlements", chainId: 2 }]);
  expect(await wake([unknown])).toEqual([]);
});

test("rescheduled rows keep their own times", async () => {
  const desk = await open();
  desk.state.balance = 1_000n;
  await desk.arrive(await desk.issue("0x02"), { amount: 1_000n, block: 6n });
  const [one = "", other = ""] = await desk.lease();
  const { db, nowMs } = desk;
  await Promise.all([
    dueSettlements.reschedule(db, one, nowMs + 60_000),
    dueSettlements.rescheduleUnlessDue(db, other, { atMs: nowMs + 90_000, nowMs }),
  ]);
  const rows = await db.selectFrom("settlements").select(["id", "next_check_at"]).execute();
  const times = new Map(rows.map((row) => [row.id, Date.parse(row.next_check_at ?? "")]));
  expect([one, other].map((id) => times.get(id))).toEqual([nowMs + 60_000, nowMs + 90_000]);
});

test("wakes, leases and times of the same rows in any order never deadlock", async () => {
  const { db, nowMs, arrive, issue, lease } = await open();
  for (let user = 0x60; user < 0x80; user++) {
    await arrive(await issue(`0x${user.toString(16)}`), { amount: 1_000n, block: 5n });
  }
  const rows = await db.selectFrom("settlements").select("id").execute();
  const ids = rows.map(({ id }) => id);
  const orders = [ids, ids.toReversed(), [...ids.slice(9), ...ids.slice(0, 9)]];
  const change = (order: readonly string[], round: number) => [
    db.transaction().execute((tx) => dueSettlements.wake(tx, "id", order, nowMs + round)),
    lease(),
    ...order.map((id) => dueSettlements.reschedule(db, id, nowMs + round)),
    ...order.map((id) =>
      dueSettlements.rescheduleUnlessDue(db, id, { atMs: nowMs + round, nowMs: nowMs - 1 }),
    ),
  ];
  const results: PromiseSettledResult<unknown>[] = [];
  for (let round = 0; round < 15; round++) {
    results.push(...(await Promise.allSettled(orders.flatMap((order) => change(order, round)))));
  }
  expect(results.filter(({ status }) => status === "rejected")).toEqual([]);
});
