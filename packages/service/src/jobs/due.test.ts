/** Due rows, against real PostgreSQL. */
import { randomBytes, randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { openDesk } from "../../test/support/settlement-desk.ts";
import { NATIVE_TOKEN, toAddress, toHex32, toTxHash } from "../core/hex.ts";
import type { Random } from "../core/ports.ts";
import type { Db, Tx } from "../db/schema.ts";
import { insertDeposits } from "../deposits/store.ts";
import { dueSettlements } from "../settlements/store/due.ts";
import { insertIntents, type NewIntent } from "../transactions/store.ts";

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

/** Queues a call for each settlement, as the steps of other rows do. */
function queueCalls(db: Db | Tx, ids: readonly string[]): Promise<void> {
  const rows = ids.map((settlementId): NewIntent => {
    const id = randomUUID();
    const call = { to: NATIVE_TOKEN, data: "0x", value: 0n, gas: 0n } as const;
    return { id, chainId: 2, lane: NATIVE_TOKEN, intent: `sweep:${id}:1`, settlementId, ...call };
  });
  return insertIntents(db, rows);
}

/** Records a deposit of each settlement, as a scanner does for a block. */
async function addDeposits(
  tx: Tx,
  { random, nowMs }: { random: Random; nowMs: number },
  ids: readonly string[],
) {
  const rows = await tx.selectFrom("settlements").selectAll().execute();
  const added = ids.flatMap((id) => {
    const row = rows.find((one) => one.id === id);
    if (!row) return [];
    const transfer = {
      from: toAddress(row.wallet),
      txHash: hash(),
      amount: 1n,
      logIndex: 0,
      ordinal: 0,
    };
    const holding = { chainId: 2, wallet: toAddress(row.wallet), token: toAddress(row.token) };
    const arrived = {
      ...holding,
      blockNumber: 6n,
      blockHash: toHex32(hash()),
      transfers: [transfer],
    };
    const owner = { addressId: row.address_id, integratorId: row.integrator_id };
    return { arrived, owner, outcome: { queued: true, settlementId: id } as const };
  });
  await insertDeposits(tx, random, added, { nowMs, recheckAtMs: nowMs });
}

const hash = () => toTxHash(`0x${randomBytes(32).toString("hex")}`);

test("wakes, leases, times and references of the same rows in any order never deadlock", async () => {
  const { db, nowMs, deps, arrive, issue, lease } = await open();
  const { random } = deps;
  for (let user = 0x60; user < 0x80; user++) {
    await arrive(await issue(`0x${user.toString(16)}`), { amount: 1_000n, block: 5n });
  }
  const rows = await db.selectFrom("settlements").select("id").execute();
  const ids = rows.map(({ id }) => id);
  const orders = [ids, ids.toReversed(), [...ids.slice(9), ...ids.slice(0, 9)]];
  const change = (order: readonly string[], round: number) => [
    db.transaction().execute((tx) => dueSettlements.wake(tx, "id", order, nowMs + round)),
    lease(),
    dueSettlements.resume(db, { chainId: 2, nowMs: nowMs + round, leaseMs: 90_000 }),
    db.transaction().execute((tx) => queueCalls(tx, order)),
    db.transaction().execute((tx) => addDeposits(tx, { random, nowMs }, order)),
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
