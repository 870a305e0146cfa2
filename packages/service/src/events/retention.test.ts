import { sql } from "kysely";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createTestDatabase, type TestDatabase } from "../../test/support/database.ts";
import { createTenant, insertEvent, type Tenant } from "../../test/support/tenants.ts";
import { listEvents, maintainEvents } from "./index.ts";

const DAY_MS = 86_400_000;

let database: TestDatabase;
let tenant: Tenant;
/** PostgreSQL stamps the events, so the rounds are relative to its clock. */
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
  test("creates the partitions of the coming weeks once", async () => {
    const first = await maintain(0);
    expect(first.created).toHaveLength(5);
    expect(await maintain(0)).toEqual({ created: [], dropped: [], deleted: 0 });
    expect((await maintain(7)).created).toHaveLength(1);
    await insertEvent(database.db, tenant);
    expect(await partitionsWithRows()).toEqual([first.created[0]]);
  });

  test("keeps every event for 30 days, then drops its whole week [E6]", async () => {
    const { created } = await maintain(0);
    await insertEvent(database.db, tenant);
    expect((await maintain(29.9)).dropped).toEqual([]);
    expect(await countEvents()).toBe(1);
    const later = await maintain(38);
    expect(later.dropped).toContain(created[0]);
    expect(await countEvents()).toBe(0);
    // Later events still get stamps of their own.
    await insertEvent(database.db, tenant);
    expect(await countEvents()).toBe(1);
  });

  test("keeps an event without a partition and deletes it after 30 days", async () => {
    await insertEvent(database.db, tenant);
    expect(await partitionsWithRows()).toEqual(["events_default"]);
    // Its week stays in the default partition; the others are created.
    expect((await maintain(0)).created).toHaveLength(4);
    expect(await maintain(29.9)).toMatchObject({ deleted: 0 });
    expect(await countEvents()).toBe(1);
    expect(await maintain(30.1)).toMatchObject({ deleted: 1 });
    expect(await countEvents()).toBe(0);
  });

  test("leaves a locked partition for the next round without blocking writers", async () => {
    await maintain(0);
    const held = await database.pool.connect();
    await held.query("begin");
    await held.query("lock table events in row exclusive mode");
    const startedAt = performance.now();
    const round = await maintain(60);
    expect(round.created).toEqual([]);
    expect(round.dropped).toEqual([]);
    // Other writers do not wait behind the round.
    await insertEvent(database.db, tenant);
    expect(performance.now() - startedAt).toBeLessThan(20_000);
    await held.query("commit");
    held.release();
    expect((await maintain(60)).dropped.length).toBeGreaterThan(0);
  });

  test("loses no event of concurrent writers", async () => {
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
