/** Runs once per vitest run: starts a PostgreSQL that trades durability for speed, with a migrated template. */
import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestProject } from "vitest/node";
import { startEmbedded } from "../../src/db/embedded.ts";
import { migrateToLatest } from "../../src/db/migrate.ts";
import { openDatabase } from "../../src/db/pool.ts";
import { TEMPLATE } from "./database.ts";

export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const { socketDir, stop } = await startTestServer();
  project.provide("testSocketDir", socketDir);
  return stop;
}

/** The server that `createTestDatabase` copies its databases on. */
export async function startTestServer(): Promise<{
  readonly socketDir: string;
  readonly stop: () => Promise<void>;
}> {
  const stateDir = mkdtempSync(join(tmpdir(), "sluice-test-"));
  // Under root the server runs as somebody else, who has to get in.
  chmodSync(stateDir, 0o755);
  const server = await startEmbedded({ stateDir, unsafeFast: true });
  const { address } = server;
  const admin = await openDatabase(address, { max: 1 });
  await admin.pool.query(`create database ${TEMPLATE}`);
  await admin.close();
  const template = await openDatabase({ ...address, database: TEMPLATE }, { max: 2 });
  await migrateToLatest(template.db);
  await template.close();
  return {
    socketDir: address.socketDir,
    async stop() {
      await server.stop({ force: true });
      rmSync(stateDir, { recursive: true, force: true });
    },
  };
}
