/** Opens the database of a process. */
import {
  type Config,
  type ConnectionLimits,
  countConnections,
  listPools,
  type PoolName,
  type RoleName,
} from "../config/index.ts";
import { assertConnections } from "../db/connections.ts";
import { startEmbedded } from "../db/embedded.ts";
import { assertMigrated, migrateToLatest } from "../db/migrate.ts";
import type { Db } from "../db/schema.ts";
import { assertMayAnswer, grantAttestorUser, isAttestorUser } from "../db/attestor-user.ts";
import { OperatingError } from "../core/errors.ts";
import {
  type DatabaseAddress,
  type OpenDatabase,
  openDatabase,
  openPool,
  type OpenPool,
} from "../db/pool.ts";
import { assert } from "../core/assert.ts";
import type { Log } from "../telemetry/log.ts";
import { addPart } from "../telemetry/spans.ts";
import { systemClock } from "./system-ports.ts";

/** The configured database: an external server, or the embedded one, which is started if it does not run. */
export interface ServiceDatabase extends OpenDatabase {
  readonly address: DatabaseAddress;
  /** Whether this process started the embedded server. */
  readonly startedServer: boolean;
  /** Stops the embedded server; does nothing for an external one. With `leave` it is left at once to another process. */
  stopServer(options?: { readonly leave?: boolean }): Promise<void>;
}

/** Connections of a command. */
const CONNECTIONS_OF_COMMAND = 10;
/** A caller of the API or of quotes waits for an answer, and holds a connection meanwhile. */
const STATEMENT_TIMEOUT_OF_CALLERS_MS = 3_000;
const POOLS_OF_CALLERS: readonly PoolName[] = ["api", "quoter"];

/** The settings of the database. */
type DatabaseConfig = Pick<Config, "stateDir" | "databaseUrl"> & {
  readonly attestors: Pick<Config["attestors"], "databaseUsers">;
};

/**
 * Opens the database. The embedded one belongs to the process that starts it, which brings its schema up to date. Of an
 * external one the schema is only checked: `sluice migrate` changes it, once for all processes.
 */
export async function openServiceDatabase(
  config: DatabaseConfig,
  log: Log,
  max?: number,
): Promise<ServiceDatabase> {
  return open(
    config,
    log,
    (db) => (config.databaseUrl ? check(db, config) : migrate(db, config)),
    max,
  );
}

/** Opens the database for a backup to be restored into it: it has no schema yet. */
export async function openEmptyDatabase(
  config: DatabaseConfig,
  log: Log,
): Promise<ServiceDatabase> {
  return open(config, log, async () => undefined);
}

/** Brings the schema and the attestors' grants up to date, and returns the names of the migrations that were applied. */
export async function migrateServiceDatabase(
  config: DatabaseConfig,
  log: Log,
): Promise<readonly string[]> {
  let applied: readonly string[] = [];
  const database = await open(config, log, async (db) => {
    applied = await migrate(db, config);
  });
  await database.close();
  if (database.startedServer) await database.stopServer({ leave: true });
  return applied;
}

async function open(
  config: DatabaseConfig,
  log: Log,
  prepare: (db: Db) => Promise<unknown>,
  max = CONNECTIONS_OF_COMMAND,
): Promise<ServiceDatabase> {
  const { stateDir } = config;
  const server = config.databaseUrl ? null : await startEmbedded({ stateDir, log });
  const address = server?.address ?? (config.databaseUrl && { url: config.databaseUrl });
  assert(address, "the database is external or embedded");
  const database = await openDatabase(address, { max, onQuery: traceQuery });
  try {
    await prepare(database.db);
  } catch (error) {
    await database.close();
    if (server && !server.adopted) await server.stop();
    throw error;
  }
  return {
    ...database,
    address,
    startedServer: server !== null && !server.adopted,
    stopServer: async (options) => server?.stop(options),
  };
}

/** Checks the schema, and the rights of an attestor's own user. */
async function check(db: Db, { attestors }: DatabaseConfig): Promise<void> {
  await assertMigrated(db);
  if (await isAttestorUser(db, attestors.databaseUsers)) await assertMayAnswer(db);
}

async function migrate(db: Db, { attestors }: DatabaseConfig): Promise<readonly string[]> {
  if (await isAttestorUser(db, attestors.databaseUsers)) {
    throw new OperatingError(
      "CONFIG_MISSING",
      "The attestor's user of the database cannot migrate. Run `sluice migrate` as the owner of the tables.",
    );
  }
  const applied = await migrateToLatest(db);
  for (const user of attestors.databaseUsers) await grantAttestorUser(db, user);
  return applied;
}

/** The pools of a process, `shared` and one or two per role. */
export interface ServicePools {
  readonly all: ReadonlyMap<PoolName, OpenPool>;
  /** Returns the database over the connections of a pool. */
  dbOf(name: PoolName): Db;
  /** Closes every pool but `shared`, whose owner opened it. */
  close(): Promise<void>;
}

/**
 * Opens a pool per role over a database whose own connections are the pool `shared`. Money's roles then wait for no caller's
 * statement.
 * @throws OperatingError CONFIG_MISSING if PostgreSQL allows fewer connections.
 */
export async function openPools(
  database: Pick<ServiceDatabase, "address" | keyof OpenPool>,
  options: {
    readonly limits: ConnectionLimits;
    readonly roles: readonly RoleName[];
    readonly log: Log;
  },
): Promise<ServicePools> {
  const { limits, roles, log } = options;
  await assertConnections(database.pool, countConnections(limits, roles));
  const all = new Map<PoolName, OpenPool>(
    listPools(roles).map((name) => [
      name,
      name === "shared" ? database : openRolePool(database.address, name, limits[name], log),
    ]),
  );
  return {
    all,
    dbOf(name) {
      const pool = all.get(name);
      assert(pool, "a process opens the pools of its roles");
      return pool.db;
    },
    async close() {
      const own = [...all].filter(([name]) => name !== "shared");
      await Promise.all(own.map(([, pool]) => pool.close()));
    },
  };
}

const WRITES = /\b(insert|update|delete)\s+(?:into\s+|from\s+)?"(\w+)"/gi;

/** Adds a query to the trace of the work that made it; one that several share, to that of the first. */
function traceQuery(statement: string, durationMs: number): void {
  const [, first = "query"] = /^\s*(insert|update|delete|select|with)\b/i.exec(statement) ?? [];
  const [, read = ""] = /\b(?:into|update|from)\s+"(\w+)"/i.exec(statement) ?? [];
  // Of several parts, the last write is the statement itself.
  const write = /^with$/i.test(first) ? [...statement.matchAll(WRITES)].at(-1) : undefined;
  const [, verb = first, table = read] = write ?? [];
  const name = `${verb.toLowerCase()} ${table}`.trim();
  const attributes = { "db.system.name": "postgresql", "db.query.text": statement };
  addPart(name, { nowMs: systemClock.now(), durationMs, attributes });
}

function openRolePool(address: DatabaseAddress, name: PoolName, max: number, log: Log): OpenPool {
  if (!POOLS_OF_CALLERS.includes(name)) return openPool(address, { max, onQuery: traceQuery });
  return openPool(address, {
    max,
    onQuery: traceQuery,
    statementTimeoutMs: STATEMENT_TIMEOUT_OF_CALLERS_MS,
    onTimeout: (statement) => log.warn({ pool: name, statement }, "statement timed out"),
  });
}
