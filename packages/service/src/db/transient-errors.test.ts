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

/** Returns the error that a statement throws. */
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

describe("a transient database error", () => {
  test.each([
    ["a statement that timed out", ["set statement_timeout to 20", "select pg_sleep(5)"]],
    ["a connection that was ended", ["select pg_terminate_backend(pg_backend_pid())"]],
    [
      "a transaction that was ended",
      ["begin", "set transaction_timeout to 20", "select pg_sleep(5)"],
    ],
  ])("includes %s", async (_what, statements) => {
    const error = await thrownBy(...statements);
    expect(error).toBeInstanceOf(Error);
    expect(isTransientDatabaseError(error)).toBe(true);
  });

  test.each([
    ["a syntax error", "select from where"],
    ["a constraint violation", "insert into api_keys (id) values (gen_random_uuid())"],
  ])("excludes %s", async (_what, statement) => {
    expect(isTransientDatabaseError(await thrownBy(statement))).toBe(false);
  });
});
