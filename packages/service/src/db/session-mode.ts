/**
 * Recognises a pooler in transaction mode (PgBouncer and others). The service holds advisory locks, LISTEN and settings for
 * a whole session: behind such a pooler two processes could hold one role, and wake-ups would be lost.
 */
import type pg from "pg";
import { OperatingError } from "../core/errors.ts";

/** A connection of the pool. */
export type Connection = Pick<pg.PoolClient, "query" | "release">;

/**
 * Throws CONFIG_MISSING if connections do not keep their server process between transactions. While one connection is idle
 * and another is in a transaction, a pooler in transaction mode lends out the server process of the first; in session
 * mode, or without a pooler, each connection keeps its own.
 */
export async function assertSessionMode(connect: () => Promise<Connection>): Promise<void> {
  const idle = await connect();
  try {
    const before = await readProcess(idle);
    // A pooler that lends its processes in turn shows itself here.
    if ((await readProcess(idle)) !== before) throw pooled();
    const busy = await connect();
    try {
      await busy.query("begin");
      const other = await readProcess(busy);
      const isShared = other === before || (await readProcess(idle)) !== before;
      await busy.query("rollback");
      if (isShared) throw pooled();
    } finally {
      busy.release();
    }
  } finally {
    idle.release();
  }
}

async function readProcess(connection: Connection): Promise<number> {
  const { rows } = await connection.query<{ pid: number }>("select pg_backend_pid() as pid");
  const [row] = rows;
  if (!row) throw new RangeError("expected one row with a process id");
  return row.pid;
}

function pooled(): OperatingError {
  return new OperatingError(
    "CONFIG_MISSING",
    "DATABASE_URL: expected PostgreSQL itself or a pooler in session mode, found one in transaction mode. Set pool_mode = session, or connect without the pooler.",
    { details: { reason: "transaction_pooling" } },
  );
}
