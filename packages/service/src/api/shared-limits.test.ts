import { Kysely, PostgresDialect, sql } from "kysely";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startApi } from "../../test/support/api.ts";
import { createTestDatabase, type TestDatabase } from "../../test/support/database.ts";
import { createTenant } from "../../test/support/tenants.ts";
import type { Database, Db } from "../db/schema.ts";
import { systemClock } from "../roles/system-ports.ts";
import { createSharedLimiter, deleteEndedWindows } from "./shared-limits.ts";

const LIMITS = {
  perKey: 3,
  perAddress: 3,
  wrongKeyPerAddress: 2,
  requestIndexPerKey: 1,
  newAddressesPerKey: 1,
  nodeRequestsPerKey: 1,
};

let database: TestDatabase;
let recorder: Db;
let statements = 0;
beforeAll(async () => {
  database = await createTestDatabase();
  recorder = new Kysely<Database>({
    dialect: new PostgresDialect({ pool: database.pool }),
    log: () => {
      statements += 1;
    },
  });
});
afterAll(() => database.drop());

const open = () => createSharedLimiter(LIMITS, { db: recorder, clock: systemClock });

test("two processes count a subject together, each limit apart [T185]", async () => {
  const [one, other] = [open(), open()];
  expect(await one.take("perKey", "alice")).toMatchObject({ remaining: 2, isExceeded: false });
  expect(await other.take("perKey", "alice")).toMatchObject({ remaining: 1, isExceeded: false });
  expect(await one.take("perKey", "alice")).toMatchObject({ remaining: 0, isExceeded: false });
  expect(await other.take("perKey", "alice")).toMatchObject({
    remaining: 0,
    isExceeded: true,
    isFirstExceeded: true,
  });
  expect(await one.take("perKey", "bob")).toMatchObject({ remaining: 2 });
  expect(await one.take("perAddress", "alice")).toMatchObject({ remaining: 2 });
});

test("loses no count of concurrent requests [T185]", async () => {
  const limiters = [open(), open(), open()];
  const taken = await Promise.all(
    Array.from({ length: 30 }, (_, n) => limiters[n % 3]?.take("perKey", "busy")),
  );
  expect(taken.filter((allowance) => allowance?.isExceeded === false)).toHaveLength(3);
  expect(taken.filter((allowance) => allowance?.isFirstExceeded)).toHaveLength(1);
});

test("peeks without counting, and asks the database no more about a refused subject [T185]", async () => {
  const limiter = open();
  expect(await limiter.peek("wrongKeyPerAddress", "a")).toMatchObject({
    remaining: 2,
    isExceeded: false,
  });
  await open().take("wrongKeyPerAddress", "a");
  await open().take("wrongKeyPerAddress", "a");
  expect(await limiter.peek("wrongKeyPerAddress", "a")).toMatchObject({ isExceeded: true });
  statements = 0;
  expect(await limiter.peek("wrongKeyPerAddress", "a")).toMatchObject({ isExceeded: true });
  expect(await limiter.take("wrongKeyPerAddress", "a")).toMatchObject({
    isExceeded: true,
    isFirstExceeded: false,
  });
  expect(statements).toBe(0);
});

test("a request of a key that is known costs one statement of the limits [T185]", async () => {
  const tenant = await createTenant(database.db);
  const api = await startApi({
    db: database.db,
    limiter: createSharedLimiter(
      { ...LIMITS, perKey: 1_000 },
      { db: recorder, clock: systemClock },
    ),
  });
  const ask = async () => {
    statements = 0;
    const answer = await fetch(`${api.url}/swaps`, { headers: { "x-api-key": tenant.apiKey } });
    expect(answer.status).toBe(200);
    return statements;
  };
  expect(await ask()).toBe(2);
  expect(await ask()).toBe(1);
  expect(await ask()).toBe(1);
  await api.close();
});

test("begins again after the window, whose row is deleted [T185]", async () => {
  await open().take("requestIndexPerKey", "late");
  expect(await open().take("requestIndexPerKey", "late")).toMatchObject({ isExceeded: true });
  await sql`update rate_limits set until = clock_timestamp() - interval '1 minute' where subject = 'late'`.execute(
    database.db,
  );
  expect(await open().peek("requestIndexPerKey", "late")).toMatchObject({ remaining: 1 });
  expect(await open().take("requestIndexPerKey", "late")).toMatchObject({ isExceeded: false });
  await sql`update rate_limits set until = clock_timestamp() - interval '1 minute'`.execute(
    database.db,
  );
  await deleteEndedWindows(database.db);
  const { rows } = await sql`select from rate_limits`.execute(database.db);
  expect(rows).toHaveLength(0);
});
