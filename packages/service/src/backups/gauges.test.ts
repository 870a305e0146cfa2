/** The age of the newest recorded backup, over real rows. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { createTestDatabase, type TestDatabase } from "../../test/support/database.ts";
import { createRows } from "../health/index.ts";
import { systemClock } from "../roles/system-ports.ts";
import { BACKUP_GAUGES } from "./index.ts";
import { recordBackup } from "./store.ts";

let database: TestDatabase;

beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

test("the age of the newest backup counts from its start, and is absent before the first", async () => {
  const { db } = database;
  const nowMs = systemClock.now();
  const read = () =>
    createRows({ db, clock: { ...systemClock, now: () => nowMs }, gauges: BACKUP_GAUGES }).read([
      "auditor",
    ]);
  const backups = async () => (await read()).filter(({ name }) => name === "backups");
  expect(await backups()).toEqual([]);
  for (const hours of [50, 27]) {
    const startedMs = nowMs - hours * 3_600_000;
    await recordBackup(db, { startedMs, finishedMs: startedMs + 60_000, bytes: 7 });
  }
  expect(await backups()).toEqual([
    { name: "backups", chainId: null, label: "database", value: 2, oldestS: 27 * 3_600 },
  ]);
});
