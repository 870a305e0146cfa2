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
