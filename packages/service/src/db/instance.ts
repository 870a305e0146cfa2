/**
 * Limits each exclusive role to one process per database, by a session-level advisory lock: two settlers would send on
 * the same lanes. A standby takes over when the holder's session ends.
 */
import { setTimeout as delay } from "node:timers/promises";
import type pg from "pg";
import { OperatingError } from "../core/errors.ts";

/** Exclusive roles held by this process. */
export interface InstanceClaim {
  release(): Promise<void>;
}

/** Class of the session-level locks; 7, 8, 10, 11 and 12 are classes of transaction-level locks. */
const LOCK_CLASS = 9;
/** Class of the attestors' locks: their key is the user, since each attestor has a user of its own. */
const ATTESTOR_LOCK_CLASS = 13;
/** Key of each exclusive role's lock. */
const LOCK_KEYS = { scanner: 1, settler: 2 } as const;
export type ExclusiveRole = keyof typeof LOCK_KEYS | "attestor";
/** The roles that only one process may hold; of the attestor, one process per database user. */
export const EXCLUSIVE_ROLES: readonly ExclusiveRole[] = ["scanner", "settler", "attestor"];
/** Wait for a lock: a killed process holds its lock until the server notices. */
const PATIENCE_MS = 3_000;
const RETRY_MS = 100;
const RECONNECT_MS = 1_000;

/**
 * Locks roles for this process, all or none, until `release` or the end of the process. `onLost` is called when the
 * connection with the locks breaks: from then on another process may take the roles. A standby waits without limit while
 * another process holds one of them.
 * @throws OperatingError CONFIG_MISSING when another process holds one of them and this process is no standby.
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
    // Registered at once: a connection that breaks during the wait must not end the process with the driver's error.
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

/** Connects to the server. A standby retries until the server is reachable. */
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

/** Holds the locks of a connection, and reports when the connection is lost. */
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
      // The end of the session releases its locks.
      client.release(true);
    },
  };
}

/** Returns whether a running service holds any exclusive role on the database. */
export async function isClaimed(pool: pg.Pool): Promise<boolean> {
  // `objsubid` 2 marks a lock of two keys.
  const { rows } = await pool.query(
    `select 1 from pg_locks
      where locktype = 'advisory' and classid in ($1, $2) and objsubid = 2 and granted
        and database = (select oid from pg_database where datname = current_database())`,
    [LOCK_CLASS, ATTESTOR_LOCK_CLASS],
  );
  return rows.length > 0;
}

/** Locks all roles and returns null; or locks none and returns a role that another process holds. */
async function tryLock(
  client: pg.PoolClient,
  roles: readonly ExclusiveRole[],
): Promise<ExclusiveRole | null> {
  for (const role of roles) {
    const { rows } =
      role === "attestor"
        ? await client.query<{ locked: boolean }>(
            "select pg_try_advisory_lock($1, hashtext(current_user)) as locked",
            [ATTESTOR_LOCK_CLASS],
          )
        : await client.query<{ locked: boolean }>("select pg_try_advisory_lock($1, $2) as locked", [
            LOCK_CLASS,
            LOCK_KEYS[role],
          ]);
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
