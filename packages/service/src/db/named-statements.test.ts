import { sql } from "kysely";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { createTestDatabase, type TestDatabase } from "../../test/support/database.ts";
import { createStatementNames } from "./named-statements.ts";
import { type OpenDatabase, openDatabase } from "./pool.ts";
import { isTransientDatabaseError } from "./transient-errors.ts";

let database: TestDatabase;
let one: OpenDatabase;

beforeAll(async () => {
  database = await createTestDatabase();
});
beforeEach(async () => {
  await database.pool.query(
    "drop table if exists things; create table things (id int); insert into things values (1), (2)",
  );
  one = await openDatabase(database.address, { max: 1 });
  return () => one.close();
});
afterAll(() => database.drop());

const readThing = (id = 1) => sql<object>`select * from things where id = ${id}`;

async function repeat(count: number): Promise<void> {
  for (let use = 0; use < count; use += 1) await readThing().execute(one.db);
}

async function listNamed(): Promise<unknown[]> {
  const { rows } = await one.pool.query(
    "select name, statement, generic_plans + custom_plans as plans from pg_prepared_statements",
  );
  return rows;
}

describe("statements by name", () => {
  test("are those that are repeated, parsed once per connection", async () => {
    await repeat(19);
    expect(await listNamed()).toEqual([]);
    await repeat(11);
    const statement = "select * from things where id = $1";
    expect(await listNamed()).toEqual([{ name: "sluice_1_1", statement, plans: 11n }]);
    const { rows } = await readThing(2).execute(one.db);
    expect(rows).toEqual([{ id: 2 }]);
  });

  test("are repeated where a migration changed their columns", async () => {
    await repeat(30);
    await database.pool.query("alter table things add column name text default 'new'");
    const { rows } = await readThing().execute(one.db);
    expect(rows).toEqual([{ id: 1, name: "new" }]);
    await repeat(30);
    expect(await listNamed()).toHaveLength(2);
  });

  test("fail a transaction as a transient error where a migration changed their columns, and not the next", async () => {
    await repeat(30);
    await database.pool.query("alter table things add column name text default 'new'");
    const readInTransaction = () => one.db.transaction().execute((tx) => readThing().execute(tx));
    const error = await readInTransaction().catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: "0A000" });
    expect(isTransientDatabaseError(error)).toBe(true);
    const { rows } = await readInTransaction();
    expect(rows).toEqual([{ id: 1, name: "new" }]);
  });

  test("run where somebody between service and server forgot them", async () => {
    await repeat(30);
    await one.pool.query("deallocate all");
    const { rows } = await readThing().execute(one.db);
    expect(rows).toEqual([{ id: 1 }]);
  });

  test("fail with the error of the statement, which is not repeated", async () => {
    const insert = (id: number) => sql`insert into things values (${id})`.execute(one.db);
    for (let use = 0; use < 30; use += 1) await insert(use);
    await database.pool.query("alter table things add check (id < 100)");
    await expect(insert(100)).rejects.toMatchObject({ code: "23514" });
  });
});

describe("names", () => {
  test("are given to a limited number of texts", () => {
    const names = createStatementNames();
    const use = (text: string) => Array.from({ length: 20 }, () => names.nameOf(text)).at(-1);
    const given = Array.from({ length: 300 }, (_, index) => use(`select ${index}`));
    expect(new Set(given.filter((name) => name !== undefined)).size).toBe(250);
    expect(names.nameOf("select 0")).toBe("sluice_1_1");
    expect(names.nameOf("select 299")).toBeUndefined();
  });

  test("are given to a repeated text among many that are not", () => {
    const names = createStatementNames();
    let name: string | undefined;
    for (let round = 0; round < 40; round += 1) {
      name = names.nameOf("select 1");
      for (let other = 0; other < 90; other += 1) names.nameOf(`select ${round} + ${other}`);
    }
    expect(name).toBe("sluice_1_1");
  });
});
