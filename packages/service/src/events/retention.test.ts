import { sql } from "kysely";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createTestDatabase, type TestDatabase } from "../../test/support/database.ts";
import { createTenant, insertEvent, type Tenant } from "../../test/support/tenants.ts";
import { listEvents, maintainEvents } from "./index.ts";

const DAY_MS = 86_400_000;

let database: TestDatabase;
let tenant: Tenant;
/** The test writes with the clock of PostgreSQL, so its rounds are about now. */
let nowMs: number;

beforeEach(async () => {
  database = await createTestDatabase();
  tenant = await createTenant(database.db);
  const { rows } = await sql<{ now: string }>`select now() as now`.execute(database.db);
  nowMs = Date.parse(rows[0]?.now ?? "");
});
afterEach(() => database.drop());

const maintain = (days: number) => maintainEvents(database.db, nowMs + days * DAY_MS);
const countEvents = async () =>
  (await listEvents(database.db, tenant.id, { limit: 500 })).items.length;

async function partitionsWithRows(): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`
    select distinct tableoid::regclass::text as name from events`.execute(database.db);
  return rows.map(({ name }) => name);
}

describe("retention", () => {
  test("makes the weeks to come, once", async () => {
    const first = await maintain(0);
    expect(first.made).toHaveLength(5);
    expect(await maintain(0)).toEqual({ made: [], dropped: [], deleted: 0 });
    expect((await maintain(7)).made).toHaveLength(1);
    await insertEvent(database.db, tenant);
    expect(await partitionsWithRows()).toEqual([first.made[0]]);
  });

  test("keeps every event for 30 days, and drops its week as a whole afterwards", async () => {
    const { made } = await maintain(0);
    await insertEvent(database.db, tenant);
    expect((await maintain(29.9)).dropped).toEqual([]);
    expect(await countEvents()).toBe(1);
    const later = await maintain(38);
    expect(later.dropped).toContain(made[0]);
    expect(await countEvents()).toBe(0);
    // And goes on: the next event has a stamp of its own again.
    await insertEvent(database.db, tenant);
    expect(await countEvents()).toBe(1);
  });

  test("an event without a partition is kept all the same, and pruned by itself", async () => {
    await insertEvent(database.db, tenant);
    expect(await partitionsWithRows()).toEqual(["events_default"]);
    // Its week stays where it is, the others are made.
    expect((await maintain(0)).made).toHaveLength(4);
    expect(await maintain(29.9)).toMatchObject({ deleted: 0 });
    expect(await countEvents()).toBe(1);
    expect(await maintain(30.1)).toMatchObject({ deleted: 1 });
    expect(await countEvents()).toBe(0);
  });

  test("is not in the way of writers: a lock that is held is left for the next round", async () => {
    await maintain(0);
    const held = await database.pool.connect();
    await held.query("begin");
    await held.query("lock table events in row exclusive mode");
    const startedAt = performance.now();
    const round = await maintain(60);
    expect(round.made).toEqual([]);
    expect(round.dropped).toEqual([]);
    // Meanwhile others write: nobody waits behind the round for long.
    await insertEvent(database.db, tenant);
    expect(performance.now() - startedAt).toBeLessThan(20_000);
    await held.query("commit");
    held.release();
    expect((await maintain(60)).dropped.length).toBeGreaterThan(0);
  });

  test("writers that write all the while lose nothing", async () => {
    let isDone = false;
    const rounds = (async () => {
      while (!isDone) await maintain(0);
    })();
    await Promise.all(
      Array.from({ length: 8 }, async () => {
        for (let count = 0; count < 25; count += 1) await insertEvent(database.db, tenant);
      }),
    );
    isDone = true;
    await rounds;
    expect(await countEvents()).toBe(200);
  });
});
