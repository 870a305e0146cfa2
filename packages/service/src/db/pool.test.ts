import { sql } from "kysely";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { addressOf, createTestDatabase, type TestDatabase } from "../../test/support/database.ts";
import { claimRoles, EXCLUSIVE_ROLES, listHeldRoles } from "./instance.ts";
import { openDatabase } from "./pool.ts";

let database: TestDatabase;

beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

async function readOne(expression: string): Promise<unknown> {
  const { rows } = await sql<{ value: unknown }>`select ${sql.raw(expression)} as value`.execute(
    database.db,
  );
  return rows[0]?.value;
}

describe("pool", () => {
  test("reads int8 as bigint and numeric as decimal string", async () => {
    expect(await readOne("9223372036854775807::int8")).toBe(9223372036854775807n);
    expect(await readOne("(2::numeric ^ 256 - 1)::numeric(78,0)")).toBe(
      (2n ** 256n - 1n).toString(),
    );
  });

  test("every amount column is numeric(78, 0), which no uint256 overflows [T85]", async () => {
    const { rows } = await sql<{ column: string; type: string }>`
      select c.table_name || '.' || c.column_name as column,
             format('%s(%s,%s)', c.data_type, c.numeric_precision, c.numeric_scale) as type
        from information_schema.columns c
       where c.table_schema = 'public'
         and (c.data_type = 'numeric' or c.column_name like '%amount%')`.execute(database.db);
    expect(rows.length).toBeGreaterThan(20);
    expect(rows.filter(({ type }) => type !== "numeric(78,0)")).toEqual([]);
    const most = (2n ** 256n - 1n).toString();
    expect(await readOne(`(${most}::numeric(78,0) + ${most}::numeric(78,0))::text`)).toBe(
      (2n * (2n ** 256n - 1n)).toString(),
    );
  });

  test("cancels every statement after 30 seconds [T105]", async () => {
    expect(await readOne("current_setting('statement_timeout')")).toBe("30s");
  });

  test.each([
    ["'2026-01-31T12:00:00Z'", "2026-01-31T12:00:00.000Z"],
    ["'2026-01-31T12:00:00.1Z'", "2026-01-31T12:00:00.100Z"],
    ["'2026-01-31T12:00:00.123987Z'", "2026-01-31T12:00:00.123Z"],
    ["'2026-07-31T14:00:00+02:00'", "2026-07-31T12:00:00.000Z"],
    ["'0001-01-01T00:00:00Z'", "0001-01-01T00:00:00.000Z"],
  ])("reads the time %s in the format of the wire", async (text, stamp) => {
    expect(await readOne(`${text}::timestamptz`)).toBe(stamp);
  });

  test("opens the same database by its URL", async () => {
    const other = await openDatabase(addressOf(database.url), { max: 1 });
    const { rows } = await other.pool.query("select current_database() as name, now() as now");
    await other.close();
    expect(database.url).toContain(rows[0].name);
    expect(rows[0].now).toMatch(/^\d{4}-.*Z$/);
  });

  test("recovers after the server closed its connections, idle and in a transaction", async () => {
    const other = await openDatabase(database.address, { max: 2 });
    const held = other.db.transaction().execute(async (tx) => {
      await sql`select 1`.execute(tx);
      await database.pool.query(
        `select pg_terminate_backend(pid) from pg_stat_activity
         where datname = current_database() and pid <> pg_backend_pid()`,
      );
      await sql`select 1`.execute(tx);
    });
    await expect(held).rejects.toThrow(/terminat|connection|ECONNRESET/);
    const { rows } = await sql<{ one: number }>`select 1 as one`.execute(other.db);
    expect(rows).toEqual([{ one: 1 }]);
    await other.close();
  });

  test.each([
    ["postgres://user:hunter2@127.0.0.1:1/db", /DATABASE_URL.* at 127\.0\.0\.1:1.*nothing listens/],
    ["postgres://user:hunter2@[bad/db", /DATABASE_URL/],
  ])("reports that %s cannot be used, without its credentials", async (url, expected) => {
    const opening = openDatabase(addressOf(url), { max: 1 });
    const error = await opening.then(
      () => undefined,
      (thrown: Error) => thrown,
    );
    expect(error).toMatchObject({ code: "CONFIG_MISSING" });
    expect(error?.message).toMatch(expected);
    expect(error?.message).not.toMatch(/hunter2|user/);
  });
});

describe("a claim", () => {
  test("is refused to a second service and available after its release", async () => {
    const first = await claimRoles(database.pool, EXCLUSIVE_ROLES);
    await expect(claimRoles(database.pool, EXCLUSIVE_ROLES)).rejects.toMatchObject({
      code: "CONFIG_MISSING",
      message: expect.stringContaining("Another service"),
    });
    await first.release();
    const second = await claimRoles(database.pool, EXCLUSIVE_ROLES);
    await second.release();
  });

  test("is per role, and a request for several roles gets all or none", async () => {
    const settler = await claimRoles(database.pool, ["settler"]);
    const others = await claimRoles(database.pool, ["scanner", "attestor"]);
    await others.release();
    await expect(claimRoles(database.pool, ["scanner", "settler"])).rejects.toMatchObject({
      message: expect.stringContaining("as its settler"),
    });
    const scanner = await claimRoles(database.pool, ["scanner"]);
    await scanner.release();
    await settler.release();
  });

  test("of chains leaves the other chains to other processes, and all of them to none [T320]", async () => {
    const { pool } = database;
    const claim = (chains?: readonly number[]) =>
      claimRoles(pool, ["scanner", "settler"], { chains });
    const first = await claim([2, 23]);
    const second = await claim([30]);
    await expect(claim([1, 23])).rejects.toThrow("as its scanner of chain 23");
    await expect(claim()).rejects.toThrow("as its scanner)");
    expect(await listHeldRoles(pool)).toEqual([
      ...[2, 23, 30].map((chainId) => ({ role: "scanner", chainId })),
      ...[2, 23, 30].map((chainId) => ({ role: "settler", chainId })),
    ]);
    await first.release();
    await expect(claim()).rejects.toThrow("as its scanner)");
    await second.release();
    const whole = await claim();
    await expect(claim([2])).rejects.toThrow("as its scanner)");
    expect(await listHeldRoles(pool)).toEqual([{ role: "scanner" }, { role: "settler" }]);
    await whole.release();
  });

  test("of an attestor is listed, whatever the hash of its user [T320]", async () => {
    const client = await database.pool.connect();
    for (const hash of [-1, 2 ** 31 - 1]) {
      await client.query("select pg_advisory_lock(13, $1)", [hash]);
      expect(await listHeldRoles(database.pool)).toEqual([{ role: "attestor" }]);
      await client.query("select pg_advisory_unlock_all()");
    }
    client.release();
  });

  test("of a chain passes to the standby of this chain", async () => {
    const holders = await Promise.all(
      [2, 30].map((chain) => claimRoles(database.pool, ["settler"], { chains: [chain] })),
    );
    const standby = claimRoles(database.pool, ["settler"], { standby: true, chains: [30] });
    await holders[1]?.release();
    const taken = await standby;
    await expect(claimRoles(database.pool, ["settler"], { chains: [2] })).rejects.toThrow(
      "as its settler of chain 2",
    );
    await Promise.all([taken.release(), holders[0]?.release()]);
  });

  test("passes to a standby when the holder disconnects", async () => {
    const holder = await claimRoles(database.pool, ["settler"]);
    let taken = false;
    const waiting = claimRoles(database.pool, ["settler"], { standby: true }).then((claim) => {
      taken = true;
      return claim;
    });
    await expect(claimRoles(database.pool, ["settler"])).rejects.toThrow("Another service");
    expect(taken).toBe(false);
    await holder.release();
    await (await waiting).release();
  });

  test("reports its loss", async () => {
    const other = await openDatabase(database.address, { max: 2 });
    const lost = Promise.withResolvers<void>();
    await claimRoles(other.pool, EXCLUSIVE_ROLES, { onLost: lost.resolve });
    await database.pool.query(
      `select pg_terminate_backend(pid) from pg_locks
       where locktype = 'advisory' and classid = 9
         and database = (select oid from pg_database where datname = current_database())`,
    );
    await expect(lost.promise).resolves.toBeUndefined();
    await other.close();
  });
});
