import { cp, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sql } from "kysely";
import { type Migration, Migrator } from "kysely/migration";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import {
  createEmptyDatabase,
  createTestDatabase,
  type TestDatabase,
} from "../../test/support/database.ts";
import { assertMigrated, migrateToLatest } from "./migrate.ts";
import { FIRST_RELEASE, MIGRATIONS_FOLDER, readMigrations } from "./migration-files.ts";
import type { Db } from "./schema.ts";

let database: TestDatabase;

beforeAll(async () => {
  database = await createEmptyDatabase();
});
afterAll(() => database.drop());

describe("migrations", () => {
  test("are required before a database is accepted [T83]", async () => {
    await expect(assertMigrated(database.db)).rejects.toThrow(
      /out of date \(found none, expected .*; \d+ missing\)\. Run `sluice migrate`/,
    );
  });

  test("are applied once when two processes start together", async () => {
    const applied = await Promise.all([
      migrateToLatest(database.db),
      migrateToLatest(database.db),
      migrateToLatest(database.db),
    ]);
    expect(applied.flat().sort()).toEqual(await listNames());
    expect(await migrateToLatest(database.db)).toEqual([]);
    await assertMigrated(database.db);
  });

  test("create the tables, columns and nullability that the types declare", async () => {
    const { rows } = await database.pool.query<{ name: string; nullable: boolean }>(
      `select table_name || '.' || column_name as name, is_nullable = 'YES' as nullable
       from information_schema.columns
       where table_schema = 'public' and table_name not like 'kysely_%'
         and not (select relispartition from pg_class where oid = table_name::regclass)`,
    );
    const inDatabase = rows.map(({ name, nullable }) => `${name}${nullable ? " or null" : ""}`);
    expect(inDatabase.sort()).toEqual((await columnsInTypes()).sort());
  });
});

describe("the records of migrations", () => {
  let own: TestDatabase;
  beforeEach(async () => {
    own = await createEmptyDatabase();
  });
  afterEach(() => own.drop());

  test("let the migrator of the first release start on the newest schema [T174]", async () => {
    await migrateToLatest(own.db);
    expect(await migrateAsFirstRelease(own.db)).toEqual([]);
  });

  test("continue a database of the first release, with rows [T174]", async () => {
    const applied = await migrateAsFirstRelease(own.db);
    expect(applied.at(-1)).toBe(FIRST_RELEASE);
    await own.pool.query(
      `insert into integrators (id, name, refund_evm, max_fee_bps, max_slippage_bps)
       values (gen_random_uuid(), 'acme', '0x', 1, 1)`,
    );
    await expect(assertMigrated(own.db)).rejects.toThrow(/found 0022-route-sets/);
    expect([...applied, ...(await migrateToLatest(own.db))]).toEqual(await listNames());
    await assertMigrated(own.db);
    expect(await migrateAsFirstRelease(own.db)).toEqual([]);
  });

  test("continue a database whose later migrations are among the first release's", async () => {
    await migrateToLatest(own.db);
    await sql`drop function list_schema_migrations()`.execute(own.db);
    await sql`insert into kysely_migration select name, '' from schema_migrations
      where name > ${FIRST_RELEASE}`.execute(own.db);
    await sql`drop table schema_migrations`.execute(own.db);
    expect(await migrateToLatest(own.db)).toEqual([]);
    await assertMigrated(own.db);
    expect(await migrateAsFirstRelease(own.db)).toEqual([]);
  });

  test("restore the timeout of the connection", async () => {
    await migrateToLatest(own.db);
    const { rows } = await own.pool.query("show statement_timeout");
    expect(rows).toEqual([{ statement_timeout: "30s" }]);
  });
});

describe("a later version", () => {
  let own: TestDatabase;
  let later: string;
  beforeEach(async () => {
    own = await createTestDatabase();
    later = await mkdtemp(join(tmpdir(), "sluice-migrations-"));
    await cp(MIGRATIONS_FOLDER, later, { recursive: true });
  });
  afterEach(async () => {
    await own.drop();
    await rm(later, { recursive: true });
  });
  const add = (name: string, text: string) => writeFile(join(later, name), text);
  const migrate = () => migrateToLatest(own.db, { folder: later });
  /** Waits until a query of the locks returns a row. */
  async function untilOneRow(query: string): Promise<void> {
    await expect.poll(async () => (await own.pool.query(query)).rows.length).toBe(1);
  }

  test("may extend the schema: this version goes on working [T174]", async () => {
    await add("9000-expand.sql", "create table expanded (id integer);");
    expect(await migrate()).toEqual(["9000-expand"]);
    await assertMigrated(own.db);
    expect(await migrateToLatest(own.db)).toEqual([]);
  });

  test("may end the support of this version, which then refuses the schema [T174]", async () => {
    await add("9000-expand.sql", "create table expanded (id integer);");
    await add("9001-contract.sql", "-- compatible-from: 9000-expand\ndrop table rpc_budgets;");
    await migrate();
    await assertMigrated(own.db, { folder: later });
    const refusal =
      /too new \(found 9001-contract, which works with versions from schema 9000-expand on; this version has /;
    await expect(assertMigrated(own.db)).rejects.toThrow(refusal);
    await expect(migrateToLatest(own.db)).rejects.toThrow(refusal);
  });

  test("leaves the schema at the last complete migration when one fails", async () => {
    await add("9000-expand.sql", "create table expanded (id integer);");
    await add("9001-broken.sql", "create table half (id integer); select no_such_column;");
    await expect(migrate()).rejects.toThrow(/no_such_column/);
    const { rows } = await own.pool.query(
      "select to_regclass('expanded') is not null as first, to_regclass('half') is not null as second",
    );
    expect(rows).toEqual([{ first: true, second: false }]);
    await add("9001-broken.sql", "create table half (id integer);");
    expect(await migrate()).toEqual(["9001-broken"]);
  });

  test("is repeated where it meets a deadlock with a running process [T326]", async () => {
    await own.pool.query("create table first (id integer); create table second (id integer)");
    const worker = await own.pool.connect();
    // The migration is chosen to fail.
    await worker.query("set deadlock_timeout to '1min'; begin; insert into second values (1)");
    await add(
      "9000-both.sql",
      "alter table first add column other integer; alter table second add column other integer;",
    );
    const applying = migrate();
    await untilOneRow("select 1 from pg_locks where relation = 'second'::regclass and not granted");
    await worker.query("insert into first values (1); commit");
    worker.release(true);
    expect(await applying).toEqual(["9000-both"]);
  });

  test("builds indexes once, without blocking writes, when two processes migrate [T175]", async () => {
    await own.pool.query("create table written (id integer)");
    const writer = await own.pool.connect();
    await writer.query("begin; insert into written values (1)");
    await add(
      "9000-index.concurrent.sql",
      "-- Why.\ncreate index concurrently budget_days on rpc_budgets (day);\ncreate index concurrently lane_chains on written (id);",
    );
    const applying = Promise.all([migrate(), migrate()]);
    await untilOneRow(
      "select 1 from pg_stat_activity where query ilike 'create index concurrently lane_chains%' and wait_event_type = 'Lock'",
    );
    await own.pool.query("set lock_timeout to 100; insert into written values (2)");
    await writer.query("commit");
    writer.release(true);
    expect((await applying).flat()).toEqual(["9000-index"]);
    expect(await listIndexes(own)).toEqual(["budget_days true", "lane_chains true"]);
  });

  test("repeats an index that ended invalid, and keeps one that was complete [T175]", async () => {
    await own.pool.query("create table twice (id integer, other integer)");
    await own.pool.query("insert into twice values (1, 1), (1, 2)");
    await add(
      "9000-index.concurrent.sql",
      `create index concurrently lane_chains on twice (other);
       create unique index concurrently budget_days on twice (id);`,
    );
    await expect(migrate()).rejects.toMatchObject({ code: "23505" });
    expect(await listIndexes(own)).toEqual(["budget_days false", "lane_chains true"]);
    await own.pool.query("delete from twice where other = 2");
    expect(await migrate()).toEqual(["9000-index"]);
    expect(await listIndexes(own)).toEqual(["budget_days true", "lane_chains true"]);
    await add("9001-index.concurrent.sql", "drop index concurrently if exists lane_chains;");
    expect(await migrate()).toEqual(["9001-index"]);
    expect(await listIndexes(own)).toEqual(["budget_days true"]);
  });

  test("has nothing but indexes outside a transaction [T175]", async () => {
    await add("9000-index.concurrent.sql", "update lanes set chain_id = 1;");
    await expect(migrate()).rejects.toThrow(/9000-index: expected "create index concurrently"/);
  });
});

/** Lists the two indexes of these tests, with whether each is valid. */
async function listIndexes({ pool }: TestDatabase): Promise<string[]> {
  const { rows } = await pool.query<{ name: string; valid: boolean }>(
    `select indexrelid::regclass::text as name, indisvalid as valid from pg_index
     where indexrelid::regclass::text in ('budget_days', 'lane_chains') order by 1`,
  );
  return rows.map(({ name, valid }) => `${name} ${valid}`);
}

async function listNames(): Promise<string[]> {
  const files = await readdir(MIGRATIONS_FOLDER);
  return files.map((file) => file.replace(/(\.concurrent)?\.sql$/, "")).sort();
}

/** Migrates as processes of the first release do when they start. */
async function migrateAsFirstRelease(db: Db): Promise<string[]> {
  const known = (await readMigrations(MIGRATIONS_FOLDER)).filter(
    ({ name }) => name <= FIRST_RELEASE,
  );
  const migrations = Object.fromEntries(
    known.map(({ name, text }): [string, Migration] => [
      name,
      { up: async (tx) => void (await sql.raw(text).execute(tx)) },
    ]),
  );
  const migrator = new Migrator({ db, provider: { getMigrations: async () => migrations } });
  const { error, results } = await migrator.migrateToLatest();
  if (error !== undefined) throw error;
  return (results ?? []).map(({ migrationName }) => migrationName);
}

/** Reads `table.column` from the source of the types, with ` or null` where the column is nullable. */
async function columnsInTypes(): Promise<string[]> {
  const files = ["schema.ts", "chain-tables.ts", "webhook-tables.ts"].map((name) =>
    join(import.meta.dirname, name),
  );
  const sources = await Promise.all(files.map((file) => readFile(file, "utf8")));
  const source = sources.join("\n");
  const bodyOf = (name: string) =>
    new RegExp(`^export interface ${name} \\{\\n([^}]*)^\\}`, "m").exec(source)?.[1] ?? "";
  const fieldsOf = (name: string) => [...bodyOf(name).matchAll(/^ {2}(\w+): (.*);$/gm)];
  return fieldsOf("Database").flatMap(([, table, type = ""]) =>
    fieldsOf(type).map(
      ([, column, kind = ""]) => `${table}.${column}${/null|OrNull/.test(kind) ? " or null" : ""}`,
    ),
  );
}
