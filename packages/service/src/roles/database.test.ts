/** Opens the database as the owner of its tables, and as the attestor's user. */
import { sql } from "kysely";
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import {
  createEmptyDatabase,
  createTestDatabase,
  type TestDatabase,
} from "../../test/support/database.ts";
import { silentLog } from "../../test/support/doubles.ts";
import { Secret } from "../core/secret.ts";
import { listWrongRights } from "../db/attestor-user.ts";
import { CONNECTIONS, type PoolName } from "../config/index.ts";
import { assert } from "../core/assert.ts";
import { readConnectionsMax } from "../db/connections.ts";
import { migrateServiceDatabase, openPools, openServiceDatabase } from "./database.ts";

let database: TestDatabase;
let databaseUser: string;
beforeEach(async () => {
  database = await createTestDatabase();
  databaseUser = `attestor_${process.pid}_${process.hrtime.bigint()}`;
  await database.pool.query(`create user ${databaseUser}`);
});
afterEach(async () => {
  await database.pool.query(`drop owned by ${databaseUser}; drop role ${databaseUser}`);
  await database.drop();
});

const configOf = (url: string) => ({
  stateDir: "unused",
  databaseUrl: new Secret(url),
  attestors: { databaseUsers: [databaseUser] },
});
const migrate = (url: string) => migrateServiceDatabase(configOf(url), silentLog);

async function openAndClose(url: string): Promise<void> {
  await (await openServiceDatabase(configOf(url), silentLog)).close();
}

const asAttestor = ({ url }: TestDatabase) => url.replace("//sluice@", `//${databaseUser}@`);

test("the owner's migration grants the attestor's user its rights, with which it opens [T121]", async () => {
  expect(await listWrongRights(database.db, databaseUser)).not.toEqual([]);
  await openAndClose(database.url);
  await expect(openAndClose(asAttestor(database))).rejects.toThrow(
    /may not INSERT attestation_answers.* Run `sluice migrate` as the owner/,
  );
  expect(await migrate(database.url)).toEqual([]);
  expect(await listWrongRights(database.db, databaseUser)).toEqual([]);
  await openAndClose(asAttestor(database));
});

test("the attestor's user does not migrate", async () => {
  await expect(migrate(asAttestor(database))).rejects.toThrow(/as the owner of the tables/);
});

test("a process refuses an external database without the schema and leaves it empty [T83]", async () => {
  const empty = await createEmptyDatabase();
  try {
    for (const url of [empty.url, asAttestor(empty)]) {
      await expect(openAndClose(url)).rejects.toThrow(/out of date .* Run `sluice migrate`/);
    }
    const { rows } = await empty.pool.query("select 1 from pg_tables where schemaname = 'public'");
    expect(rows).toEqual([]);
    expect((await migrate(empty.url))[0]).toBe("0001-initial");
    await openAndClose(empty.url);
    expect(await migrate(empty.url)).toEqual([]);
  } finally {
    await empty.drop();
  }
});

describe("the pools of a process", () => {
  const limits = { ...CONNECTIONS, api: 2 };
  const open = async (given: Partial<Parameters<typeof openPools>[1]> = {}) => {
    const pools = await openPools(database, {
      limits,
      roles: ["api", "scanner"],
      log: silentLog,
      ...given,
    });
    onTestFinished(() => pools.close());
    return pools;
  };

  test("callers who take every connection of the API leave the scanner its own [T178]", async () => {
    const pools = await open();
    expect([...pools.all.keys()].toSorted()).toEqual(["api", "scanner", "shared", "stream"]);
    const api = pools.all.get("api");
    assert(api, "the process has the role api");
    const slow = Array.from({ length: 5 }, () => api.pool.query("select pg_sleep(1)"));
    await expect.poll(() => api.pool.waitingCount).toBe(3);
    await sql`select 1`.execute(pools.dbOf("scanner"));
    await sql`select 1`.execute(pools.dbOf("stream"));
    expect(api.pool.totalCount).toBe(2);
    expect(api.pool.waitingCount).toBe(3);
    await Promise.all(slow);
  });

  test("ends statements of callers after 3 seconds, those of money after 30 [T178]", async () => {
    const pools = await open({ roles: ["api", "quoter", "settler"] });
    const timeoutOf = async (name: PoolName) =>
      (await pools.all.get(name)?.pool.query("show statement_timeout"))?.rows[0]?.statement_timeout;
    expect(await timeoutOf("api")).toBe("3s");
    expect(await timeoutOf("quoter")).toBe("3s");
    expect(await timeoutOf("stream")).toBe("30s");
    expect(await timeoutOf("settler")).toBe("30s");
  });

  test("a process does not start that may open more connections than PostgreSQL allows", async () => {
    await expect(open({ limits: { ...limits, api: 90 } })).rejects.toMatchObject({
      code: "CONFIG_MISSING",
      message: expect.stringMatching(
        /^databaseConnections: expected at most 97 together.*found 108/,
      ),
    });
  });

  test("connections that the database or the user is limited to count", async () => {
    const { rows } = await database.pool.query<{ name: string }>(
      "select current_database() as name",
    );
    await database.pool.query(`alter database ${rows[0]?.name} connection limit 9`);
    expect(await readConnectionsMax(database.pool)).toBe(9);
  });
});
