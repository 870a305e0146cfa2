/** The gauges of pending deliveries, over real rows. */
import { sql } from "kysely";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createTestDatabase, type TestDatabase } from "../../test/support/database.ts";
import { createTenant } from "../../test/support/tenants.ts";
import { insertEndpoint } from "../../test/support/webhooks.ts";
import { createRows } from "../health/index.ts";
import { systemClock, systemRandom } from "../roles/system-ports.ts";
import { WEBHOOK_GAUGES } from "./index.ts";

let database: TestDatabase;

beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

test("count pending webhooks by the state of their endpoints, with the time since the oldest was due", async () => {
  const { db } = database;
  const tenant = await createTenant(db);
  const nowMs = systemClock.now();
  const read = () =>
    createRows({
      db,
      clock: { ...systemClock, now: () => nowMs },
      gauges: WEBHOOK_GAUGES,
    }).read(["webhooks"]);
  expect(await read()).toEqual([]);

  const insert = async (change: object, due: readonly number[]) => {
    const { id } = await insertEndpoint(db, tenant, "http://127.0.0.1:1");
    if (Object.keys(change).length > 0) {
      await db.updateTable("webhook_endpoints").set(change).where("id", "=", id).execute();
    }
    for (const seconds of due) {
      await sql`insert into webhook_deliveries
        (endpoint_id, event_id, integrator_id, type, event_at, state, next_check_at)
        values (${id}, ${systemRandom.uuid()}, ${tenant.id}, 'deposit_detected', now(), 'pending',
                ${new Date(nowMs + seconds * 1_000)})`.execute(db);
    }
  };
  const at = new Date(nowMs).toISOString();
  await insert({}, [-5, 60]);
  await insert({}, [-7]);
  await insert({ failing_since: at }, [300]);
  await insert({ state: "disabled", disabled_reason: "gone", disabled_at: at }, [-90]);
  const rows = (await read()).map(({ label, value, oldestS }) => ({ label, value, oldestS }));
  expect(
    rows.toSorted((one, other) => String(one.label).localeCompare(String(other.label))),
  ).toEqual([
    { label: "disabled", value: 1, oldestS: 90 },
    { label: "failing", value: 1, oldestS: 0 },
    { label: "healthy", value: 3, oldestS: 7 },
  ]);
});
