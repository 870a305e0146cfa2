/**
 * The connection pool. Types of PostgreSQL arrive as the rest of the service reads them: `int8` as bigint, `timestamptz`
 * as the wire's timestamp, `numeric` as decimal string.
 */
import { Kysely, PostgresDialect } from "kysely";
import pg from "pg";
import { OperatingError } from "../core/errors.ts";
import type { Secret } from "../core/secret.ts";
import type { Database, Db } from "./schema.ts";

/** Where a database is: an address with credentials, or the socket of the embedded server. */
export type DatabaseAddress =
  | { readonly url: Secret }
  | { readonly socketDir: string; readonly user: string; readonly database: string };

export interface OpenDatabase {
  readonly db: Db;
  /** The same connections, for what needs one of its own: notifications, session locks. */
  readonly pool: pg.Pool;
  close(): Promise<void>;
}

/** A statement that takes longer is ended, so that one bad query cannot hold the others up. */
const STATEMENT_TIMEOUT_MS = 30_000;
const CONNECT_TIMEOUT_MS = 10_000;
/** The oldest PostgreSQL that the migrations run on. */
const SERVER_VERSION_MIN = 13;

const INT8 = pg.types.builtins.INT8;
const TIMESTAMPTZ = pg.types.builtins.TIMESTAMPTZ;

/** Parsers of this pool's connections; nothing global is changed. */
const types: pg.CustomTypesConfig = {
  getTypeParser: (id: number, format?: "text" | "binary") => {
    if (id === INT8) return (text: string) => BigInt(text);
    if (id === TIMESTAMPTZ) return parseTimestamptz;
    return pg.types.getTypeParser(id, format);
  },
};

/**
 * Opens a pool and proves that it reaches a database.
 * @throws OperatingError CONFIG_MISSING, without credentials, when it does not.
 */
export async function openDatabase(
  address: DatabaseAddress,
  options: { readonly max: number },
): Promise<OpenDatabase> {
  let pool: pg.Pool | undefined;
  try {
    pool = createPool(address, options.max);
    const { rows } = await pool.query<{ version: string }>(
      "select current_setting('server_version_num') as version",
    );
    assertVersion(Number(rows[0]?.version));
  } catch (error) {
    await pool?.end();
    throw error instanceof OperatingError ? error : unreachable(address, error);
  }
  const open = pool;
  let closing: Promise<void> | undefined;
  return {
    db: new Kysely<Database>({ dialect: new PostgresDialect({ pool: open }) }),
    pool: open,
    close: () => (closing ??= open.end()),
  };
}

function createPool(address: DatabaseAddress, max: number): pg.Pool {
  const pool = new pg.Pool({
    ...toClientConfig(address),
    max,
    types,
    application_name: "sluice",
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    keepAlive: true,
    onConnect: (client) =>
      client.query(
        `set time zone 'UTC'; set datestyle to 'ISO'; set statement_timeout to ${STATEMENT_TIMEOUT_MS}`,
      ),
  });
  // A connection that breaks fails the query that uses it, and the next one gets another connection. Without these
  // listeners a server that restarts would end the process instead.
  pool.on("error", () => {});
  pool.on("connect", (client) => client.on("error", () => {}));
  return pool;
}

/** The settings of one connection to an address, for clients outside the pool. */
export function toClientConfig(address: DatabaseAddress): pg.ClientConfig {
  if ("url" in address) return { connectionString: address.url.reveal() };
  return { host: address.socketDir, user: address.user, database: address.database };
}

/** `2026-01-31 12:00:00.123+00`, as a session in UTC writes it, in the wire's spelling. */
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

/** Says which database cannot be reached and why, by the driver's code: its text may repeat the address. */
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

/** What the codes of a refused connection mean, those of the system and those of PostgreSQL. */
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

/** Host and database of an address, never its user or password. */
function hostOf(url: Secret): string {
  const parsed = URL.parse(url.reveal());
  return parsed?.hostname ? ` at ${parsed.host}` : "";
}
