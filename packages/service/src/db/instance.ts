/**
 * One holder per exclusive role and database: two settlers would both send on its lanes. Whoever waits for a role takes
 * over when its holder is gone.
 */
import { setTimeout as delay } from "node:timers/promises";
import type pg from "pg";
import { OperatingError } from "../core/errors.ts";

export interface InstanceClaim {
  release(): Promise<void>;
}

/** Class of the session locks; 7, 8 and 10 are classes of locks of transactions. */
const LOCK_CLASS = 9;
/** Key of each exclusive role's lock. */
const LOCK_KEYS = { scanner: 1, settler: 2, attestor: 3 } as const;
export type ExclusiveRole = keyof typeof LOCK_KEYS;
/** Every role that only one process may have. */
export const EXCLUSIVE_ROLES: readonly ExclusiveRole[] = ["scanner", "settler", "attestor"];
/** A process that was killed holds its lock until the server notices. */
const PATIENCE_MS = 3_000;
const RETRY_MS = 100;
const RECONNECT_MS = 1_000;

/**
 * Claims roles for this process, all or none, until `release` or the end of the process. `onLost` is called when the
 * connection that holds the claim breaks: from then on another process may claim them. A standby waits for as long as
 * another process has one of them.
 * @throws OperatingError CONFIG_MISSING when another process has one of them, and this is no standby.
 */
export async function claimRoles(
  pool: pg.Pool,
  roles: readonly ExclusiveRole[],
  options: { readonly onLost?: () => void; readonly standby?: boolean } = {},
): Promise<InstanceClaim> {
  const { onLost = () => {}, standby = false } = options;
  const deadline = Date.now() + PATIENCE_MS;
  for (;;) {
    const client = await connect(pool, standby);
    // From the first moment: a connection that breaks while we wait must not end the process with the driver's error.
    let broken: Error | undefined;
    const onBroken = (error?: Error) => {
      broken ??= error ?? new Error("the connection ended");
    };
    client.once("error", onBroken);
    client.once("end", onBroken);
    try {
      for (;;) {
        const taken = await tryLock(client, roles);
        if (taken === null) return watch(client, () => broken, onLost);
        if (!standby && Date.now() >= deadline) throw alreadyClaimed(taken);
        await delay(RETRY_MS);
      }
    } catch (error) {
      client.release(true);
      if (!standby || error instanceof OperatingError) throw error;
      await delay(RECONNECT_MS);
    }
  }
}

/** A standby waits for a server that is away as well. */
async function connect(pool: pg.Pool, standby: boolean): Promise<pg.PoolClient> {
  for (;;) {
    try {
      return await pool.connect();
    } catch (error) {
      if (!standby) throw error;
      await delay(RECONNECT_MS);
    }
  }
}

/** Holds what was claimed over a connection, and tells when that is gone. */
function watch(
  client: pg.PoolClient,
  isBroken: () => Error | undefined,
  onLost: () => void,
): InstanceClaim {
  let held = true;
  const lose = () => {
    if (!held) return;
    held = false;
    client.release(true);
    onLost();
  };
  client.once("error", lose);
  client.once("end", lose);
  if (isBroken()) lose();
  return {
    async release() {
      if (!held) return;
      held = false;
      // Ending the session ends the lock.
      client.release(true);
    },
  };
}

/** Whether a running service has claimed any role on the database. */
export async function isClaimed(pool: pg.Pool): Promise<boolean> {
  // `objsubid` 2 marks a lock of two keys.
  const { rows } = await pool.query(
    `select 1 from pg_locks
      where locktype = 'advisory' and classid = $1 and objsubid = 2 and granted
        and database = (select oid from pg_database where datname = current_database())`,
    [LOCK_CLASS],
  );
  return rows.length > 0;
}

/** Locks all of the roles, or none and says which one somebody else has. */
async function tryLock(
  client: pg.PoolClient,
  roles: readonly ExclusiveRole[],
): Promise<ExclusiveRole | null> {
  for (const role of roles) {
    const { rows } = await client.query<{ locked: boolean }>(
      "select pg_try_advisory_lock($1, $2) as locked",
      [LOCK_CLASS, LOCK_KEYS[role]],
    );
    if (rows[0]?.locked === true) continue;
    await client.query("select pg_advisory_unlock_all()");
    return role;
  }
  return null;
}

function alreadyClaimed(role: ExclusiveRole): OperatingError {
  return new OperatingError(
    "CONFIG_MISSING",
    `Another service already works on this database (as its ${role}). Stop it first, wait for it with --standby, or give this one a stateDir or DATABASE_URL of its own.`,
  );
}
