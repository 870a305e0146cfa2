/** Runs once per vitest run: starts a PostgreSQL that trades durability for speed, with a migrated template. */
import type { TestProject } from "vitest/node";
import { migrateToLatest } from "../../src/db/migrate.ts";
import { openDatabase } from "../../src/db/pool.ts";
import { TEMPLATE } from "./database.ts";
import { startThrowawayServer } from "./throwaway-server.ts";

export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const { socketDir, stop } = await startTestServer();
  project.provide("testSocketDir", socketDir);
  return stop;
}

/** The server on which `createTestDatabase` creates its databases. */
export async function startTestServer(): Promise<{
  readonly socketDir: string;
  readonly stop: () => Promise<void>;
}> {
  const { address, stop } = await startThrowawayServer("sluice-test");
  const admin = await openDatabase(address, { max: 1 });
  await admin.pool.query(`create database ${TEMPLATE}`);
  await admin.close();
  const template = await openDatabase({ ...address, database: TEMPLATE }, { max: 2 });
  await migrateToLatest(template.db);
  await template.close();
  return { socketDir: address.socketDir, stop };
}
