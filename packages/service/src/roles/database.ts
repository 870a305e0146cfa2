/** Opens the database of a process. */
import type { Config } from "../config/index.ts";
import { startEmbedded } from "../db/embedded.ts";
import { migrateToLatest } from "../db/migrate.ts";
import { type DatabaseAddress, type OpenDatabase, openDatabase } from "../db/pool.ts";
import { assert } from "../core/assert.ts";
import type { Log } from "../telemetry/log.ts";

/** The configured database: an external server, or the embedded one, which is started if it does not run. */
export interface ServiceDatabase extends OpenDatabase {
  readonly address: DatabaseAddress;
  /** Whether this process started the embedded server. */
  readonly startedServer: boolean;
  /** Stops the embedded server; does nothing for an external one. */
  stopServer(): Promise<void>;
}

/** Connections per process. PostgreSQL allows 100 by default, which suffices for one process per role. */
const CONNECTIONS_MAX = 20;

/** Opens the database and brings its schema up to date. */
export async function openServiceDatabase(config: Config, log: Log): Promise<ServiceDatabase> {
  const { stateDir } = config;
  const server = config.databaseUrl ? null : await startEmbedded({ stateDir, log });
  const address = server?.address ?? (config.databaseUrl && { url: config.databaseUrl });
  assert(address, "the database is external or embedded");
  const database = await openDatabase(address, { max: CONNECTIONS_MAX });
  // Processes that start together migrate once: an advisory lock serialises them.
  await migrateToLatest(database.db);
  return {
    ...database,
    address,
    startedServer: server !== null && !server.adopted,
    stopServer: async () => server?.stop(),
  };
}
