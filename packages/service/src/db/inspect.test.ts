import { afterEach, expect, test } from "vitest";
import {
  createEmptyDatabase,
  createTestDatabase,
  type TestDatabase,
} from "../../test/support/database.ts";
import { systemClock } from "../roles/system-ports.ts";
import { inspectDatabase } from "./inspect.ts";
import { claimRoles } from "./instance.ts";
import type { OpenDatabase } from "./pool.ts";

let database: TestDatabase;
afterEach(async () => {
  await database.drop();
});

test("reads version, durability and clock of the server", async () => {
  database = await createTestDatabase();
  const facts = await inspectDatabase(database, systemClock, []);
  const { rows } = await database.pool.query("show server_version_num");
  expect(facts.majorVersion).toBe(Math.floor(Number(rows[0].server_version_num) / 10_000));
  // The test server trades durability for speed.
  expect(facts.durability).toEqual({
    fsync: "off",
    synchronous_commit: "off",
    full_page_writes: "off",
  });
  expect(Math.abs(facts.clockAheadMs)).toBeLessThan(1_000);
  expect(facts.missingMigrations).toEqual([]);
});

test("reports the difference between the clocks", async () => {
  database = await createTestDatabase();
  const late = { ...systemClock, now: () => Date.now() - 60_000 };
  const { clockAheadMs } = await inspectDatabase(database, late, []);
  expect(Math.abs(clockAheadMs - 60_000)).toBeLessThan(1_000);
});

test("lists every missing migration of an empty database and leaves it empty", async () => {
  database = await createEmptyDatabase();
  const { missingMigrations } = await inspectDatabase(database, systemClock, []);
  expect(missingMigrations[0]).toBe("0001-initial");
  const { rows } = await database.pool.query(
    "select 1 from pg_tables where schemaname not in ('pg_catalog', 'information_schema')",
  );
  expect(rows).toEqual([]);
});

test("reports the claim of a service that runs on this database, and on no other", async () => {
  database = await createTestDatabase();
  const other = await createTestDatabase();
  const claim = await claimRoles(database.pool, ["settler"]);
  const listHeld = async (of: OpenDatabase) =>
    (await inspectDatabase(of, systemClock, [])).heldRoles;
  expect(await listHeld(database)).toEqual([{ role: "settler" }]);
  expect(await listHeld(other)).toEqual([]);
  await other.drop();
  await claim.release();
});

test("lists the wrong rights of the attestor's user [T121]", async () => {
  database = await createTestDatabase();
  const { attestorRights } = await inspectDatabase(database, systemClock, ["sluice"]);
  expect(attestorRights).toContain("sluice may INSERT into deliveries");
  expect((await inspectDatabase(database, systemClock, ["no_such_user"])).attestorRights).toEqual([
    "no_such_user does not exist",
  ]);
  expect((await inspectDatabase(database, systemClock, [])).attestorRights).toBeNull();
});
