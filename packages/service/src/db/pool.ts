/**
 * The connection pool. It parses PostgreSQL types for the service: `int8` as bigint, `timestamptz` as the wire's
 * timestamp, `numeric` as a decimal string.
 */
import { Kysely, PostgresDialect } from "kysely";
import pg from "pg";
import { OperatingError } from "../core/errors.ts";
import { nameStatements } from "./named-statements.ts";
import { assertSessionMode } from "./session-mode.ts";
import { isStatementTimeout } from "./transient-errors.ts";
import type { Secret } from "../core/secret.ts";
import type { Database, Db } from "./schema.ts";

/** Address of a database: a URL with credentials, or the socket of the embedded server. */
export type DatabaseAddress =
  | { readonly url: Secret }
  | { readonly socketDir: string; readonly user: string; readonly database: string };

/** An open connection pool, with its query builder. */
export interface OpenDatabase {
  readonly db: Db;
  /** The pool itself, for users that need a dedicated connection: notifications and session locks. */
  readonly pool: pg.Pool;
  close(): Promise<void>;
}

/** An open pool that nothing has been asked of: its connections are made when they are needed. */
export type OpenPool = OpenDatabase;

export interface PoolOptions {
  /** The most connections at a time. */
  readonly max: number;
  /** After this time the server ends a statement, so that one slow query cannot block the others. */
  readonly statementTimeoutMs?: number | undefined;
  /** Called with the text of each statement that was ended for its time. Values are placeholders in it. */
  readonly onTimeout?: ((statement: string) => void) | undefined;
  /** Called with each statement that succeeded, and its milliseconds. Values are placeholders in it. */
  readonly onQuery?: ((statement: string, durationMs: number) => void) | undefined;
}

const STATEMENT_TIMEOUT_MS = 30_000;
const CONNECT_TIMEOUT_MS = 10_000;
/** The oldest PostgreSQL that the migrations run on. */
const SERVER_VERSION_MIN = 13;

const INT8 = pg.types.builtins.INT8;
const TIMESTAMPTZ = pg.types.builtins.TIMESTAMPTZ;

/** Type parsers of this pool's connections; the driver's global parsers stay unchanged. */
const types: pg.CustomTypesConfig = {
  getTypeParser: (id: number, format?: "text" | "binary") => {
    if (id === INT8) return (text: string) => BigInt(text);
    if (id === TIMESTAMPTZ) return parseTimestamptz;
    return pg.types.getTypeParser(id, format);
  },
};

/**
 * Opens a pool and checks that it reaches a supported database.
 * @throws OperatingError CONFIG_MISSING, without credentials in the message, when it does not.
 */
export async function openDatabase(
  address: DatabaseAddress,
  options: PoolOptions,
): Promise<OpenDatabase> {
  let opened: OpenPool | undefined;
  try {
    opened = openPool(address, options);
    const { pool } = opened;
    const { rows } = await pool.query<{ version: string }>(
      "select current_setting('server_version_num') as version",
    );
    assertVersion(Number(rows[0]?.version));
    if ("url" in address && options.max > 1) await assertSessionMode(() => pool.connect());
    return opened;
  } catch (error) {
    await opened?.close();
    throw error instanceof OperatingError ? error : unreachable(address, error);
  }
}

/** Opens a pool without a connection, for a database that was checked. */
export function openPool(address: DatabaseAddress, options: PoolOptions): OpenPool {
  const pool = createPool(address, options);
  const { onTimeout, onQuery } = options;
  let closing: Promise<void> | undefined;
  return {
    db: new Kysely<Database>({
      dialect: new PostgresDialect({ pool: nameStatements(pool) }),
      log(event) {
        if (event.level === "query") onQuery?.(event.query.sql, event.queryDurationMillis);
        else if (isStatementTimeout(event.error)) {
          onTimeout?.(event.query.sql);
        }
      },
    }),
    pool,
    close: () => (closing ??= pool.end()),
  };
}

/** How this process names its connections, so that it tells them from those of others. */
export const APPLICATION_NAME = `sluice ${process.pid}`;

function createPool(
  address: DatabaseAddress,
  { max, statementTimeoutMs = STATEMENT_TIMEOUT_MS }: PoolOptions,
): pg.Pool {
  const pool = new pg.Pool({
    ...toClientConfig(address),
    max,
    types,
    application_name: APPLICATION_NAME,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    keepAlive: true,
    onConnect: (client) =>
      client.query(
        `set time zone 'UTC'; set datestyle to 'ISO'; set statement_timeout to ${statementTimeoutMs}`,
      ),
  });
  // A broken connection fails its query, and the next query gets another connection. Without these listeners a restart
  // of the server would end the process.
  pool.on("error", () => {});
  pool.on("connect", (client) => client.on("error", () => {}));
  return pool;
}

/** Returns the settings of one connection, for clients outside the pool. */
export function toClientConfig(address: DatabaseAddress): pg.ClientConfig {
  if ("url" in address) return { connectionString: address.url.reveal() };
  return { host: address.socketDir, user: address.user, database: address.database };
}

/** Converts `2026-01-31 12:00:00.123+00`, the format of a session in UTC, to the wire's timestamp. */
function parseTimestamptz(text: string): string {
  const match = /^(\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d)(?:\.(\d{1,6}))?\+00$/.exec(text);
  if (!match) throw new RangeError(`expected a time in UTC of a year with four digits: ${text}`);
  const [, date, time, fraction = ""] = match;
  return `${date}T${time}.${fraction.slice(0, 3).padEnd(3, "0")}Z`;
}

function assertVersion(serverVersion: number): void {
  const major = Math.floor(serverVersion / 10_000);
  if (major >= SERVER_VERSION_MIN) return;
  throw new OperatingError(
    "CONFIG_MISSING",
    `DATABASE_URL: expected PostgreSQL ${SERVER_VERSION_MIN} or newer, found ${major}.`,
  );
}

/** Returns the error of an unreachable database. Uses the driver's code only, since its text may contain the URL. */
function unreachable(address: DatabaseAddress, cause: unknown): OperatingError {
  const code =
    cause instanceof Error && "code" in cause && typeof cause.code === "string" ? cause.code : "";
  const why = CONNECT_FAILURES[code] ?? (code ? `it failed with ${code}` : "it gave no answer");
  const what =
    "url" in address
      ? `The PostgreSQL of DATABASE_URL (or database.url)${hostOf(address.url)}`
      : `The embedded PostgreSQL at ${address.socketDir}`;
  return new OperatingError("CONFIG_MISSING", `${what} cannot be used: ${why}.`, { cause });
}

/** Meanings of connection error codes, of the system and of PostgreSQL. */
const CONNECT_FAILURES: Readonly<Record<string, string>> = {
  ECONNREFUSED: "nothing listens there",
  ENOENT: "the socket does not exist",
  ENOTFOUND: "the host name is unknown",
  EAI_AGAIN: "the host name could not be looked up",
  ETIMEDOUT: "it does not answer",
  ECONNRESET: "it closed the connection",
  ERR_INVALID_URL: "the address is malformed",
  "28P01": "it refused the password",
  "28000": "it refused the user",
  "3D000": "the database does not exist",
  "53300": "it has no connection left",
  "57P03": "it is starting up or shutting down",
};

/** Returns the host of a URL, never its user or password. */
function hostOf(url: Secret): string {
  const parsed = URL.parse(url.reveal());
  return parsed?.hostname ? ` at ${parsed.host}` : "";
}
