/** Due rows, against real PostgreSQL. */
import { randomBytes, randomUUID } from "node:crypto";
import { sql } from "kysely";
import { expect, test } from "vitest";
import { openDesk } from "../../test/support/settlement-desk.ts";
import { assert } from "../core/assert.ts";
import { NATIVE_TOKEN, toAddress, toHex32, toTxHash } from "../core/hex.ts";
import type { Random } from "../core/ports.ts";
import { formatStamp } from "../core/stamp.ts";
import type { Db, Tx } from "../db/schema.ts";
import { insertDeposits } from "../deposits/store.ts";
import { dueSettlements } from "../settlements/store/due.ts";
import { insertIntents, type NewIntent } from "../transactions/store.ts";
import { FAILED_POLL_RETRY_MS } from "./delays.ts";
import { createDuePoll } from "./due.ts";

/** Opens a desk with one due settlement. */
async function open() {
  const desk = await openDesk();
  desk.state.balance = 1_000n;
  await desk.arrive(await desk.issue("0x01"), { amount: 1_000n, block: 5n });
  const nowMs = desk.clock.now();
  const list = (atMs = nowMs) =>
    dueSettlements.list(desk.db, { chainId: 2, nowMs: atMs, limit: 10 });
  return { ...desk, nowMs, list };
}

test("a row stays due until its work sets a time, and is due then", async () => {
  const { db, nowMs, list } = await open();
  const [row, ...others] = await list();
  assert(row, "a row is due");
  expect(others).toEqual([]);
  expect(await list()).toEqual([row]);
  const times = { atMs: nowMs + 5_000, seen: row.dueAt };
  await dueSettlements.rescheduleUnlessChanged(db, row.id, times);
  expect(await list(nowMs + 4_999)).toEqual([]);
  expect(await list(nowMs + 5_000)).toEqual([{ id: row.id, dueAt: formatStamp(nowMs + 5_000) }]);
});

test("a wake-up while the row is worked on is not lost, in the same millisecond too [T264]", async () => {
  const { db, nowMs, list } = await open();
  for (const laterMs of [0, 0, 1]) {
    const [row] = await list(nowMs + 1);
    assert(row, "a row is due");
    // What the worker read is outdated now.
    await db
      .transaction()
      .execute((tx) => dueSettlements.wake(tx, "id", [row.id], nowMs + laterMs));
    const times = { atMs: nowMs + 15_000, seen: row.dueAt };
    await dueSettlements.rescheduleUnlessChanged(db, row.id, times);
    expect((await list(nowMs + 1)).map(({ id }) => id)).toEqual([row.id]);
  }
});

test("a row whose work sets no time is rescheduled, and holds up no other", async () => {
  const { db, deps, nowMs, clock, arrive, issue, list } = await open();
  await arrive(await issue("0x02"), { amount: 1_000n, block: 6n });
  const [broken, other] = (await list()).map(({ id }) => id);
  const worked: string[] = [];
  const poll = createDuePoll(deps, {
    rows: dueSettlements,
    chainId: 2,
    limit: 2,
    async work(id) {
      worked.push(id);
      if (id === broken) throw new TypeError("a mistake of ours");
      await dueSettlements.reschedule(db, id, nowMs + 60_000);
    },
  });
  expect(await poll()).toBe(false);
  expect(worked).toEqual([broken, other]);
  expect(await poll()).toBe(false);
  expect(await list()).toEqual([]);
  expect(worked).toEqual([broken, other]);
  clock.advance(FAILED_POLL_RETRY_MS);
  expect(await poll()).toBe(false);
  expect(worked).toEqual([broken, other, broken]);
});

test("a database that takes no writes ends each poll, and no row is worked on again [T78]", async () => {
  const { deps } = await open();
  const full = new Error("no space left on device");
  let worked = 0;
  const poll = createDuePoll(deps, {
    rows: { ...dueSettlements, rescheduleUnlessChanged: () => Promise.reject(full) },
    chainId: 2,
    limit: 1,
    work() {
      worked += 1;
      return Promise.reject(full);
    },
  });
  expect(await poll()).toBe(false);
  for (let polls = 0; polls < 3; polls += 1) await expect(poll()).rejects.toThrow(full.message);
  expect(worked).toBe(1);
});

test("waking rows names their queue, and that of no other row [T313]", async () => {
  const { db, nowMs, list } = await open();
  const [{ id } = { id: "" }] = await list();
  const unknown = "00000000-0000-4000-8000-000000000000";
  const wake = (ids: readonly string[]) => dueSettlements.wake(db, "id", ids, nowMs);
  expect(await wake([id, unknown])).toEqual([{ name: "settlements", chainId: 2 }]);
  expect(await wake([unknown])).toEqual([]);
});

test("rescheduled rows keep their own times", async () => {
  const desk = await open();
  desk.state.balance = 1_000n;
  await desk.arrive(await desk.issue("0x02"), { amount: 1_000n, block: 6n });
  const [one, other] = await desk.list();
  assert(one && other, "two rows are due");
  const { db, nowMs } = desk;
  const times = { atMs: nowMs + 90_000, seen: other.dueAt };
  await Promise.all([
    dueSettlements.reschedule(db, one.id, nowMs + 60_000),
    dueSettlements.rescheduleUnlessChanged(db, other.id, times),
  ]);
  const rows = await db.selectFrom("settlements").select(["id", "next_check_at"]).execute();
  const dueAt = new Map(rows.map((row) => [row.id, Date.parse(row.next_check_at ?? "")]));
  expect([one, other].map(({ id }) => dueAt.get(id))).toEqual([nowMs + 60_000, nowMs + 90_000]);
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

test("wakes, times and references of the same rows in any order never deadlock", async () => {
  const { db, nowMs, deps, arrive, issue } = await open();
  const { random } = deps;
  for (let user = 0x60; user < 0x80; user++) {
    await arrive(await issue(`0x${user.toString(16)}`), { amount: 1_000n, block: 5n });
  }
  const rows = await db.selectFrom("settlements").select("id").execute();
  const ids = rows.map(({ id }) => id);
  const orders = [ids, ids.toReversed(), [...ids.slice(9), ...ids.slice(0, 9)]];
  const seen = { seen: formatStamp(nowMs) };
  const change = (order: readonly string[], round: number) => [
    db.transaction().execute((tx) => dueSettlements.wake(tx, "id", order, nowMs + round)),
    db.transaction().execute((tx) => queueCalls(tx, order)),
    db.transaction().execute((tx) => addDeposits(tx, { random, nowMs }, order)),
    ...order.map((id) => dueSettlements.reschedule(db, id, nowMs + round)),
    ...order.map((id) => dueSettlements.rescheduleUnlessChanged(db, id, { ...seen, atMs: nowMs })),
  ];
  const results: PromiseSettledResult<unknown>[] = [];
  for (let round = 0; round < 15; round++) {
    results.push(...(await Promise.allSettled(orders.flatMap((order) => change(order, round)))));
  }
  expect(results.filter(({ status }) => status === "rejected")).toEqual([]);
});

test("dead versions of polled rows are at most a twentieth of their table", async () => {
  const { db } = await open();
  const { rows } = await sql<{ name: string; options: string[] | null }>`
    select relname as name, reloptions as options from pg_class
     where relname in ('settlements', 'deliveries', 'bridge_transfers', 'transactions') order by relname`.execute(
    db,
  );
  const options = ["autovacuum_vacuum_scale_factor=0.05"];
  const tables = ["bridge_transfers", "deliveries", "settlements", "transactions"];
  expect(rows).toEqual(tables.map((name) => ({ name, options })));
});
