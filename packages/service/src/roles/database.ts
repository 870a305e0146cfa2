/** Opens the database of a process. */
import type { Config } from "../config/index.ts";
import { startEmbedded } from "../db/embedded.ts";
import { assertMigrated, migrateToLatest } from "../db/migrate.ts";
import type { Db } from "../db/schema.ts";
import { grantAttestorUser, isAttestorUser } from "../db/attestor-user.ts";
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

/** The settings of the database. */
type DatabaseConfig = Pick<Config, "stateDir" | "databaseUrl"> & {
  readonly attestor: Pick<Config["attestor"], "databaseUser">;
};

/** Opens the database and brings its schema and grants up to date. */
export async function openServiceDatabase(
  config: DatabaseConfig,
  log: Log,
): Promise<ServiceDatabase> {
  const { stateDir } = config;
  const server = config.databaseUrl ? null : await startEmbedded({ stateDir, log });
  const address = server?.address ?? (config.databaseUrl && { url: config.databaseUrl });
  assert(address, "the database is external or embedded");
  const database = await openDatabase(address, { max: CONNECTIONS_MAX });
  try {
    await prepare(database.db, config.attestor.databaseUser);
  } catch (error) {
    await database.close();
    if (server && !server.adopted) await server.stop();
    throw error;
  }
  return {
    ...database,
    address,
    startedServer: server !== null && !server.adopted,
    stopServer: async () => server?.stop(),
  };
}

/** Brings schema and grants up to date. The attestor's own user may do neither, and only checks the schema. */
async function prepare(db: Db, attestorUser: string | undefined): Promise<void> {
  if (attestorUser !== undefined && (await isAttestorUser(db, attestorUser))) {
    return assertMigrated(db);
  }
  // Processes that start together migrate once: an advisory lock serialises them.
  await migrateToLatest(db);
  if (attestorUser !== undefined) await grantAttestorUser(db, attestorUser);
}
