/** One service per database: two of them would both send on its lanes. */
import { setTimeout as delay } from "node:timers/promises";
import type pg from "pg";
import { OperatingError } from "../core/errors.ts";

export interface InstanceClaim {
  release(): Promise<void>;
}

/** Class and key of the session lock; 7 and 8 are classes of locks of transactions. */
const LOCK = "9, 1";
/** A process that was killed holds its lock until the server notices. */
const PATIENCE_MS = 3_000;
const RETRY_MS = 100;

/**
 * Claims the database for this process, until `release` or the end of the process. `onLost` is called when the
 * connection that holds the claim breaks: from then on another process may claim it.
 * @throws OperatingError CONFIG_MISSING when another process has it.
 */
export async function claimInstance(
  pool: pg.Pool,
  onLost: () => void = () => {},
): Promise<InstanceClaim> {
  const client = await pool.connect();
  const deadline = Date.now() + PATIENCE_MS;
  try {
    while (!(await tryLock(client))) {
      if (Date.now() >= deadline) throw alreadyClaimed();
      await delay(RETRY_MS);
    }
  } catch (error) {
    client.release();
    throw error;
  }
  let held = true;
  const lose = () => {
    if (!held) return;
    held = false;
    client.release(true);
    onLost();
  };
  client.once("error", lose);
  client.once("end", lose);
  return {
    async release() {
      if (!held) return;
      held = false;
      // Ending the session ends the lock.
      client.release(true);
    },
  };
}

/** Whether a running service has claimed the database. */
export async function isClaimed(pool: pg.Pool): Promise<boolean> {
  const [classId, key] = LOCK.split(", ");
  // `objsubid` 2 marks a lock of two keys.
  const { rows } = await pool.query(
    `select 1 from pg_locks
      where locktype = 'advisory' and classid = $1 and objid = $2 and objsubid = 2 and granted
        and database = (select oid from pg_database where datname = current_database())`,
    [classId, key],
  );
  return rows.length > 0;
}

async function tryLock(client: pg.PoolClient): Promise<boolean> {
  const { rows } = await client.query<{ locked: boolean }>(
    `select pg_try_advisory_lock(${LOCK}) as locked`,
  );
  return rows[0]?.locked === true;
}

function alreadyClaimed(): OperatingError {
  return new OperatingError(
    "CONFIG_MISSING",
    "Another service already works on this database. Stop it first, or give this one a stateDir or DATABASE_URL of its own.",
  );
}
