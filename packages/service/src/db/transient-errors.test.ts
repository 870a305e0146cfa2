import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createTestDatabase, type TestDatabase } from "../../test/support/database.ts";
import { isTransientDatabaseError } from "./transient-errors.ts";

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(async () => {
  await database.drop();
});

/** What a statement throws. */
async function thrownBy(...statements: string[]): Promise<unknown> {
  const client = await database.pool.connect();
  try {
    for (const statement of statements) await client.query(statement);
    return undefined;
  } catch (error) {
    return error;
  } finally {
    client.release(true);
  }
}

describe("database trouble", () => {
  test.each([
    ["a statement that timed out", ["set statement_timeout to 20", "select pg_sleep(5)"]],
    ["a connection that was ended", ["select pg_terminate_backend(pg_backend_pid())"]],
    [
      "a transaction that was ended",
      ["begin", "set transaction_timeout to 20", "select pg_sleep(5)"],
    ],
  ])("%s is one", async (_what, statements) => {
    const error = await thrownBy(...statements);
    expect(error).toBeInstanceOf(Error);
    expect(isTransientDatabaseError(error)).toBe(true);
  });

  test.each([
    ["a broken statement", "select from where"],
    ["a broken rule", "insert into api_keys (id) values (gen_random_uuid())"],
  ])("%s is none", async (_what, statement) => {
    expect(isTransientDatabaseError(await thrownBy(statement))).toBe(false);
  });
});
