/**
 * Limits each exclusive role to one process per database, or per chain, by session-level advisory locks: two settlers would
 * send on the same lanes. A standby takes over when the holder's session ends.
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
/** Classes of the locks of single chains, whose key is the chain. */
const CHAIN_LOCK_CLASSES = { scanner: 15, settler: 17 } as const;
/** Key of each exclusive role's lock. */
const LOCK_KEYS = { scanner: 1, settler: 2 } as const;
export type ExclusiveRole = keyof typeof LOCK_KEYS | "attestor";
/** The roles that only one process may hold; of the attestor, one process per database user. */
export const EXCLUSIVE_ROLES: readonly ExclusiveRole[] = ["scanner", "settler", "attestor"];
/** The roles whose chains may be spread over processes. An attestor counts its payouts of all chains in one place. */
export const SPREADABLE_ROLES: readonly string[] = ["scanner", "settler"];
/** Wait for a lock: a killed process holds its lock until the server notices. */
const PATIENCE_MS = 3_000;
const RETRY_MS = 100;
const RECONNECT_MS = 1_000;

/**
 * Locks roles for this process, all or none, until `release` or the end of the process. `onLost` is called when the
 * connection with the locks breaks: from then on another process may take the roles. A standby waits without limit while
 * another process holds one of them. With `chains`, scanner and settler are locked for these bridge chain ids only.
 * @throws OperatingError CONFIG_MISSING when another process holds one of them and this process is no standby.
 */
export async function claimRoles(
  pool: pg.Pool,
  roles: readonly ExclusiveRole[],
  options: {
    readonly onLost?: () => void;
    readonly standby?: boolean;
    readonly chains?: readonly number[] | undefined;
  } = {},
): Promise<InstanceClaim> {
  const { onLost = () => {}, standby = false, chains } = options;
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
        const taken = await tryLock(client, roles, chains);
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

/** An exclusive role that a process holds. */
export interface HeldRole {
  readonly role: ExclusiveRole;
  /** The one bridge chain id that it is held for; undefined for all chains. */
  readonly chainId?: number;
}

/** Lists the exclusive roles that processes hold on the database. */
export async function listHeldRoles(pool: pg.Pool): Promise<readonly HeldRole[]> {
  // `objsubid` 2 marks a lock of two keys. The key of an attestor is a hash, which as an object id may have 32 bits.
  const { rows } = await pool.query<{ class: number; key: string; mode: string }>(
    `select classid::int4 as class, objid::text as key, mode from pg_locks
      where locktype = 'advisory' and classid in ($1, $2, $3, $4) and objsubid = 2 and granted
        and database = (select oid from pg_database where datname = current_database())
      order by classid, objid`,
    [LOCK_CLASS, ATTESTOR_LOCK_CLASS, CHAIN_LOCK_CLASSES.scanner, CHAIN_LOCK_CLASSES.settler],
  );
  return rows.flatMap(({ class: of, key, mode }): HeldRole[] => {
    if (of === ATTESTOR_LOCK_CLASS) return [{ role: "attestor" }];
    if (of === CHAIN_LOCK_CLASSES.scanner) return [{ role: "scanner", chainId: Number(key) }];
    if (of === CHAIN_LOCK_CLASSES.settler) return [{ role: "settler", chainId: Number(key) }];
    // Shared, the lock says only that a process has some of the chains.
    if (mode !== "ExclusiveLock") return [];
    return [{ role: Number(key) === LOCK_KEYS.scanner ? "scanner" : "settler" }];
  });
}

/** Locks all roles and returns null; or locks none and returns a role that another process holds. */
async function tryLock(
  client: pg.PoolClient,
  roles: readonly ExclusiveRole[],
  chains: readonly number[] | undefined,
): Promise<Taken | null> {
  for (const role of roles) {
    for (const { sql, values, chain } of listLocks(role, chains)) {
      const { rows } = await client.query<{ locked: boolean }>(`select ${sql} as locked`, [
        ...values,
      ]);
      if (rows[0]?.locked === true) continue;
      await client.query("select pg_advisory_unlock_all()");
      return { role, chain };
    }
  }
  return null;
}

/** A role that another process holds, for all chains or for one. */
interface Taken {
  readonly role: ExclusiveRole;
  readonly chain?: number | undefined;
}

/**
 * Returns the locks of a role. Processes with some chains share the lock of the role, so that none is beside a process with all
 * of them.
 */
function listLocks(
  role: ExclusiveRole,
  chains: readonly number[] | undefined,
): readonly {
  readonly sql: string;
  readonly values: readonly number[];
  readonly chain?: number;
}[] {
  if (role === "attestor") {
    return [
      { sql: "pg_try_advisory_lock($1, hashtext(current_user))", values: [ATTESTOR_LOCK_CLASS] },
    ];
  }
  const whole = [LOCK_CLASS, LOCK_KEYS[role]];
  if (!chains) return [{ sql: "pg_try_advisory_lock($1, $2)", values: whole }];
  return [
    { sql: "pg_try_advisory_lock_shared($1, $2)", values: whole },
    ...chains.map((chain) => ({
      sql: "pg_try_advisory_lock($1, $2)",
      values: [CHAIN_LOCK_CLASSES[role], chain],
      chain,
    })),
  ];
}

function alreadyClaimed({ role, chain }: Taken): OperatingError {
  const of = chain === undefined ? "" : ` of chain ${chain}`;
  return new OperatingError(
    "CONFIG_MISSING",
    `Another service already works on this database (as its ${role}${of}). Stop it first, wait for it with --standby, or give this one a stateDir or DATABASE_URL of its own.`,
  );
}
