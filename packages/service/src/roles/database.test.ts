/** Opens the database as the owner of its tables, and as the attestor's user. */
import { afterEach, beforeEach, expect, test } from "vitest";
import {
  createEmptyDatabase,
  createTestDatabase,
  type TestDatabase,
} from "../../test/support/database.ts";
import { silentLog } from "../../test/support/doubles.ts";
import { Secret } from "../core/secret.ts";
import { listWrongRights } from "../db/attestor-user.ts";
import { openServiceDatabase } from "./database.ts";

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

async function openAndClose(url: string): Promise<void> {
  const databaseUrl = new Secret(url);
  const config = { stateDir: "unused", databaseUrl, attestor: { databaseUser } };
  await (await openServiceDatabase(config, silentLog)).close();
}

const asAttestor = ({ url }: TestDatabase) => url.replace("//sluice@", `//${databaseUser}@`);

test("the owner grants the attestor's user its rights, with which it then opens [T121]", async () => {
  expect(await listWrongRights(database.db, databaseUser)).not.toEqual([]);
  await expect(openAndClose(asAttestor(database))).rejects.toMatchObject({ code: "42501" });
  await openAndClose(database.url);
  expect(await listWrongRights(database.db, databaseUser)).toEqual([]);
  await openAndClose(asAttestor(database));
});

test("the attestor's user does not migrate", async () => {
  const empty = await createEmptyDatabase();
  try {
    await expect(openAndClose(asAttestor(empty))).rejects.toThrow(/run `sluice migrate`/);
  } finally {
    await empty.drop();
  }
});
