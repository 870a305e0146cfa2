/**
 * The statements of the first release's processes, on the newest schema: a service is upgraded process by process, so
 * those that are not replaced yet run on it. They were recorded at its commit while its unit tests and its simulation ran
 * (test/recorded/first-release). `first-release.deep.test.ts` runs the processes themselves.
 */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createTestDatabase, type TestDatabase } from "../../test/support/database.ts";

const RECORDED = join(
  import.meta.dirname,
  "../../test/recorded/first-release/statements-195ec9f.json",
);

let database: TestDatabase;
let statements: readonly string[];
beforeAll(async () => {
  database = await createTestDatabase();
  statements = JSON.parse(await readFile(RECORDED, "utf8"));
});
afterAll(() => database.drop());

/** Returns the errors of statements that the server cannot prepare. */
async function listRefused(): Promise<string[]> {
  const client = await database.pool.connect();
  const refused: string[] = [];
  try {
    for (const statement of statements) {
      await client.query(`prepare recorded as ${statement}`).then(
        () => client.query("deallocate recorded"),
        (error: Error) => refused.push(`${error.message}: ${statement}`),
      );
    }
  } finally {
    client.release();
  }
  return refused;
}

test("the newest schema accepts every statement of the first release [T174]", async () => {
  expect(statements.length).toBeGreaterThan(200);
  expect(await listRefused()).toEqual([]);
});

test("a column that the first release uses cannot be dropped unnoticed [T174]", async () => {
  await database.pool.query("alter table scanner_finality rename column number to height");
  expect((await listRefused()).length).toBeGreaterThan(0);
  await database.pool.query("alter table scanner_finality rename column height to number");
});
