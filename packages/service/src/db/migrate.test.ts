import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createEmptyDatabase, type TestDatabase } from "../../test/support/database.ts";
import { assertMigrated, migrateToLatest } from "./migrate.ts";

let database: TestDatabase;

beforeAll(async () => {
  database = await createEmptyDatabase();
});
afterAll(() => database.drop());

describe("migrations", () => {
  test("are required before a database is accepted [T83]", async () => {
    await expect(assertMigrated(database.db)).rejects.toThrow(/run `sluice migrate`/);
  });

  test("are applied once when two processes start together", async () => {
    const applied = await Promise.all([
      migrateToLatest(database.db),
      migrateToLatest(database.db),
      migrateToLatest(database.db),
    ]);
    expect(applied.flat()).toEqual([
      "0001-initial",
      "0002-batches",
      "0003-finality",
      "0004-lists",
      "0005-event-partitions",
      "0006-operator-actions",
      "0007-ledger",
      "0008-bridge-transfers",
      "0009-swaps",
      "0010-fees",
      "0011-providers",
      "0012-final-sweeps",
      "0013-bridged-swaps",
      "0014-solana",
      "0015-loose-ends",
      "0016-waiting-signers",
      "0017-address-refunds",
      "0018-rpc-budgets",
      "0019-balance-rounds",
    ]);
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

/** Reads `table.column` from the source of the types, with ` or null` where the column is nullable. */
async function columnsInTypes(): Promise<string[]> {
  const files = ["schema.ts", "chain-tables.ts"].map((name) => join(import.meta.dirname, name));
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
