/** Integrators take turns wherever work waits, and an index finds whose turn it is. Against real PostgreSQL. */
import { Kysely, PostgresDialect, sql } from "kysely";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createTestDatabase, type TestDatabase } from "../../test/support/database.ts";
import { toEvmAddress } from "../core/hex.ts";
import type { Database } from "../db/schema.ts";
import { listUnsettled } from "../deposits/index.ts";
import { duePayouts } from "../routes/swift/store.ts";
import { dueTransfers } from "../routes/fast-mctp/store.ts";
import {
  dueSettlements,
  followAgain,
  listHeld,
  listHoldingReasons,
  listToFollow,
  listWaitingForGas,
  listWaitingForInventory,
} from "../settlements/store/due.ts";
import { listDeadDue } from "../settlements/store/dead.ts";
import { assignNonces } from "../transactions/nonces.ts";
import type { DueRows } from "./due.ts";
import { createRounds } from "./turns.ts";
import { listQueued } from "../transactions/store.ts";

const BIG = "10000000-0000-4000-8000-000000000001";
const SMALL = "20000000-0000-4000-8000-000000000002";
const CHAIN = 2;
const LANE = toEvmAddress(`0x${"1a".repeat(20)}`);
const NOW_MS = Date.parse("2026-06-01T00:00:00.000Z");
/** Rows of the large integrator in each queue, all older than the one row of the small one. */
const ROWS = 10_000;

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
  await fill();
});
afterAll(() => database.drop());

/** Inserts the queues of both integrators without their owners' rows, which no query here reads. */
async function fill(): Promise<void> {
  const client = await database.pool.connect();
  try {
    await client.query("set session_replication_role = replica; set synchronous_commit = off");
    await client.query(
      `insert into integrators (id, name, refund_evm, max_fee_bps, max_slippage_bps)
        values ('${BIG}', 'big', '${LANE}', 50, 100), ('${SMALL}', 'small', '${LANE}', 50, 100)`,
    );
    for (const [tenant, count, from] of [
      [BIG, ROWS, 0],
      [SMALL, 1, ROWS],
    ] as const) {
      const rows = `from generate_series(${from + 1}, ${from + count}) i`;
      const id = (prefix: string) =>
        `('${prefix}000000-0000-4000-8000-' || lpad(i::text, 12, '0'))::uuid`;
      const at = `timestamptz '2026-01-01' + i * interval '1 s'`;
      const word = (digit: string) => `'0x${digit}' || lpad(i::text, 63, '0')`;
      const account = (digit: string) => `'0x${digit}' || lpad(i::text, 39, '0')`;
      for (const [prefix, status, step, next, retry, code, reason] of SETTLEMENTS) {
        await client.query(
          `insert into settlements (id, integrator_id, address_id, chain_id, wallet, token, status, step, next_check_at,
              retry_at, error_code, error_details, created_at, updated_at)
            select ${id(prefix)}, '${tenant}', ${id("a0")}, ${CHAIN}, ${account(prefix[1] ?? "")}, '${LANE}', '${status}', '${step}',
              ${next ? at : "null"}, ${retry ? "timestamptz '2027-01-01'" : "null"}, ${code ? `'${code}'` : "null"},
              ${reason ? `'{"reason":"${reason}"}'` : "null"}, ${at} + interval '1 ms' * ascii(right('${prefix}', 1)), ${at} ${rows}`,
        );
      }
      await client.query(
        `insert into deliveries (id, settlement_id, integrator_id, state, src_chain, escrow, wallet, token, seq, delivery,
            locked_amount, locked_at, min_out, dest_chain, dest_token, dest_wallet, pay_amount, next_check_at)
          select ${word("d")}, ${id("b1")}, '${tenant}', 'locked', 30, '${LANE}', '${LANE}', '${LANE}', i, '${LANE}', 1, 1, 1, ${CHAIN}, '${LANE}', '${LANE}', 1,
            ${at} ${rows}`,
      );
      await client.query(
        `insert into bridge_transfers (id, settlement_id, integrator_id, state, ${BRIDGE}, dest_chain, next_check_at)
          select ${id("c0")}, ${id("b1")}, '${tenant}', 'burned', ${BRIDGE_VALUES(word("e"))}, ${CHAIN}, ${at} ${rows}`,
      );
      await client.query(
        `insert into transactions (id, chain_id, lane, intent, integrator_id, to_address, data, value, gas, state, created_at)
          select ${id("f0")}, ${CHAIN}, '${LANE}', 'sweep:' || i || ':1', '${tenant}', '${LANE}', '${LANE}', 0, 1, 'queued', ${at} ${rows}`,
      );
      await client.query(
        `insert into deposits (id, chain_id, wallet, token, tx_hash, ordinal, log_index, sender, amount, block_number, block_hash,
            address_id, integrator_id, queued, ignored_reason, recheck_at)
          select ${id("d0")}, ${CHAIN}, ${account("d")}, '${LANE}', ${word("d")}, 0, 0, '${LANE}', 1, i, '${LANE}', ${id("a0")}, '${tenant}', false,
            'below_min', ${at} ${rows}`,
      );
    }
    await client.query(
      "insert into lanes (chain_id, address, purpose, next_nonce) values ($1, $2, 'settle', 0)",
      [CHAIN, LANE],
    );
    await client.query("reset session_replication_role; analyze");
  } finally {
    client.release();
  }
}

/** Prefix of ids, status, step, whether it is due, whether a retry is scheduled, error code and reason. */
const SETTLEMENTS = [
  ["b1", "pending_swap", "sweep", true, false, "", ""],
  ["b2", "completed", "done", false, false, "", ""],
  ["b3", "dead", "done", true, false, "INTERNAL", ""],
  ["b4", "failed_swap", "sweep", false, true, "INSUFFICIENT_BALANCE", "inventory_too_low"],
  ["b5", "failed_swap", "sweep", false, true, "FEE_NOT_COVERED", ""],
  ["b6", "failed_swap", "sweep", false, true, "NO_ROUTE", "IsPaused"],
] as const;

const BRIDGE =
  "src_chain, burn_tx_hash, burn_block, wallet, token, fee, burned_amount, sent_message, min_out, dest_token, dest_wallet";
const BRIDGE_VALUES = (hash: string) =>
  `30, ${hash}, i, '${LANE}', '${LANE}', 0, 1, '${LANE}', 1, '${LANE}', '0x'`;

const page = { chainId: CHAIN, nowMs: NOW_MS, limit: 20 };
const pageOf = (rounds = createRounds()) => ({ ...page, rounds });
const heldPage = () => ({ ...pageOf(), reason: "IsPaused", deferredByMs: NOW_MS });
const HELD_REASONS = { chainId: CHAIN, nowMs: NOW_MS, reasons: ["IsPaused", "NotRoute"] };
const ownersOf = async (
  ids: readonly string[],
  table: "settlements" | "deliveries" | "bridge_transfers",
) =>
  new Set(
    (
      await sql<{ integrator_id: string }>`select integrator_id from ${sql.table(table)}
        where id::text in (${sql.join(ids)})`.execute(database.db)
    ).rows.map((row) => row.integrator_id),
  );
const idsOf = async <Id extends string>(rows: DueRows<Id>, due: typeof page) =>
  (await rows.list(database.db, due)).map(({ id }) => id);
const integratorsOf = (rows: readonly { readonly integratorId: string }[]) =>
  new Set(rows.map(({ integratorId }) => integratorId));
const BOTH = new Set([BIG, SMALL]);

test("each queue serves the one row of a small integrator in its first round [T79]", async () => {
  const { db } = database;
  const due = await idsOf(dueSettlements, page);
  // In the order of the turns, in which the work begins.
  const inTurn = [1, ROWS + 1, ...Array.from({ length: 18 }, (_, index) => index + 2)];
  expect(due.map((id) => Number(id.slice(-12)))).toEqual(inTurn);
  expect(await ownersOf(due, "settlements")).toEqual(BOTH);
  expect(await ownersOf(await idsOf(duePayouts, page), "deliveries")).toEqual(BOTH);
  expect(await ownersOf(await idsOf(dueTransfers, page), "bridge_transfers")).toEqual(BOTH);
  expect(integratorsOf(await listToFollow(db, page))).toEqual(BOTH);
  expect(integratorsOf(await listWaitingForInventory(db, pageOf()))).toEqual(BOTH);
  expect(integratorsOf(await listWaitingForGas(db, pageOf()))).toEqual(BOTH);
  expect(integratorsOf(await listHeld(db, heldPage()))).toEqual(BOTH);
  expect(await listHoldingReasons(db, HELD_REASONS)).toEqual(["IsPaused"]);
  const dead = await listDeadDue(db, page);
  expect(
    await ownersOf(
      dead.map(({ id }) => id),
      "settlements",
    ),
  ).toEqual(BOTH);
  expect(integratorsOf((await listUnsettled(db, page)).holdings)).toEqual(BOTH);
  const lane = { chainId: CHAIN, address: LANE };
  const queued = await listQueued(db, lane, { limit: 20, nowMs: 0 });
  expect(queued.slice(0, 2).map(({ intent }) => intent)).toEqual([
    "sweep:1:1",
    `sweep:${ROWS + 1}:1`,
  ]);
  await assignNonces(db, lane, { openMax: 2, nowMs: NOW_MS });
  const assigned = await db
    .selectFrom("transactions")
    .select("intent")
    .where("nonce", "is not", null)
    .orderBy("nonce")
    .execute();
  expect(assigned).toEqual([{ intent: "sweep:1:1" }, { intent: `sweep:${ROWS + 1}:1` }]);
});

test("an integrator has as many turns per round as its weight [T79]", async () => {
  const { db } = database;
  await db.updateTable("integrators").set({ queue_weight: 3 }).where("id", "=", BIG).execute();
  await db
    .updateTable("settlements")
    .set({ integrator_id: SMALL })
    .where("status", "=", "pending_swap")
    .where(sql<boolean>`right(id::text, 1) = '0'`)
    .execute();
  const due = await idsOf(dueSettlements, { ...page, nowMs: NOW_MS + 1 });
  const rows = await db
    .selectFrom("settlements")
    .select("integrator_id")
    .where("id", "in", due)
    .execute();
  expect(rows.filter((row) => row.integrator_id === SMALL)).toHaveLength(5);
  expect(rows).toHaveLength(20);
});

test("settlements that were followed make room for the others until their next poll", async () => {
  const { db } = database;
  const seen = new Set<string>();
  for (let nr = 0; nr < 3; nr++) {
    for (const { id } of await listToFollow(db, page)) {
      seen.add(id);
      await followAgain(db, id, NOW_MS + 5_000);
    }
  }
  expect(seen.size).toBe(60);
});

test("pages of waiting settlements reach every row, and a small integrator's with each page [T236]", async () => {
  const { db } = database;
  const rounds = createRounds();
  const seen = new Set<string>();
  const pages = 30;
  for (let nr = 0; nr < pages; nr++) {
    const rows = await listWaitingForGas(db, pageOf(rounds));
    expect(rows).toHaveLength(page.limit);
    expect(integratorsOf(rows)).toEqual(BOTH);
    for (const { id } of rows) seen.add(id);
  }
  // The row of the small one is in each page.
  expect(seen.size).toBe(pages * (page.limit - 1) + 1);
});

test("pages smaller than the number of integrators reach each of them [T236]", async () => {
  const { db } = database;
  const rounds = createRounds();
  const pages = [];
  for (let nr = 0; nr < 4; nr++) {
    const rows = await listWaitingForGas(db, { ...pageOf(rounds), limit: 1 });
    pages.push(rows.map(({ integratorId }) => integratorId));
  }
  expect(pages.toSorted()).toEqual([[BIG], [BIG], [SMALL], [SMALL]]);
});

test("each queue is read by an index, however many rows wait", async () => {
  const { pool } = database;
  const asked: { readonly sql: string; readonly parameters: readonly unknown[] }[] = [];
  const db = new Kysely<Database>({
    dialect: new PostgresDialect({ pool }),
    log: ({ query }) => void asked.push(query),
  });
  await dueSettlements.list(db, page);
  await duePayouts.list(db, page);
  await dueTransfers.list(db, page);
  await listToFollow(db, page);
  const rounds = createRounds();
  for (let nr = 0; nr < 2; nr++) await listWaitingForInventory(db, pageOf(rounds));
  await listWaitingForGas(db, pageOf());
  await listHeld(db, heldPage());
  await listHoldingReasons(db, HELD_REASONS);
  await listDeadDue(db, page);
  await listUnsettled(db, page);
  await listQueued(db, { chainId: CHAIN, address: LANE }, { limit: 20, nowMs: 0 });
  expect(asked).toHaveLength(12);
  for (const { sql: text, parameters } of asked) {
    const { rows } = await pool.query<{ "QUERY PLAN": string }>(`explain ${text}`, [...parameters]);
    const plan = rows.map((row) => row["QUERY PLAN"]).join("\n");
    expect(plan).toMatch(/Index(?: Only)? Scan using \w+_turns/);
    expect(plan).not.toMatch(
      /Seq Scan on (?:settlements|deliveries|bridge_transfers|transactions|deposits)/,
    );
  }
});
