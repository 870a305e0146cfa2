/** Connections that a server leaves to this service, as against those that its processes may open. */
import type pg from "pg";
import { OperatingError } from "../core/errors.ts";

/**
 * Returns the connections that the server, the database and the user allow this service; other clients of the same server
 * take theirs from the same number.
 */
export async function readConnectionsMax(pool: Pick<pg.Pool, "query">): Promise<number> {
  const { rows } = await pool.query<{ most: number }>(
    `select least(
        current_setting('max_connections')::int4
          - current_setting('superuser_reserved_connections')::int4
          - coalesce(current_setting('reserved_connections', true)::int4, 0),
        nullif((select datconnlimit from pg_database where datname = current_database()), -1),
        nullif((select rolconnlimit from pg_roles where rolname = current_user), -1)
      ) as most`,
  );
  const [row] = rows;
  if (!row) throw new RangeError("expected one row with the number of connections");
  return row.most;
}

/**
 * Throws CONFIG_MISSING if a process may open more connections than there are. It would run until its first busy hour, and
 * then refuse money's statements as well as strangers'.
 */
export async function assertConnections(pool: Pick<pg.Pool, "query">, needed: number) {
  const most = await readConnectionsMax(pool);
  if (needed <= most) return;
  throw new OperatingError(
    "CONFIG_MISSING",
    `databaseConnections: expected at most ${most} together, which PostgreSQL allows (max_connections less the reserved ones, and the limits of database and user), found ${needed} for the roles of this process. Raise max_connections or lower databaseConnections.`,
  );
}
