/** Reads the facts that `sluice doctor` checks of a database. Changes nothing. */
import type { Clock } from "../core/ports.ts";
import { listWrongRights } from "./attestor-user.ts";
import { readConnectionsMax } from "./connections.ts";
import { type HeldRole, listHeldRoles } from "./instance.ts";
import { listMissingMigrations } from "./migrate.ts";
import type { OpenDatabase } from "./pool.ts";
import type { Db } from "./schema.ts";

/** Server settings that protect committed transactions from loss. */
export const DURABILITY_SETTINGS = ["fsync", "synchronous_commit", "full_page_writes"] as const;

export interface DatabaseFacts {
  /** Major version of the server. */
  readonly majorVersion: number;
  /** Values of the durability settings, such as `on`. */
  readonly durability: Readonly<Record<(typeof DURABILITY_SETTINGS)[number], string>>;
  /** Connections that the server allows this service. */
  readonly connectionsMax: number;
  /** Milliseconds by which the database's clock is ahead of this machine's; negative when it is behind. */
  readonly clockAheadMs: number;
  /** Names of the migrations that are not applied. */
  readonly missingMigrations: readonly string[];
  /** The exclusive roles that running processes hold on it. */
  readonly heldRoles: readonly HeldRole[];
  /** Differences of the rights of the attestors' users from those they need; null if none has a user of its own. */
  readonly attestorRights: readonly string[] | null;
}

/** Reads version, durability, clock difference, migrations, claims and the attestor's rights of a database. */
export async function inspectDatabase(
  { db, pool }: Pick<OpenDatabase, "db" | "pool">,
  clock: Clock,
  attestorUsers: readonly string[],
): Promise<DatabaseFacts> {
  const before = clock.now();
  const { rows } = await pool.query<{
    version: number;
    fsync: string;
    synchronous_commit: string;
    full_page_writes: string;
    now_ms: number;
  }>(
    `select current_setting('server_version_num')::int4 as version,
            current_setting('fsync') as fsync,
            current_setting('synchronous_commit') as synchronous_commit,
            current_setting('full_page_writes') as full_page_writes,
            (extract(epoch from clock_timestamp()) * 1000)::float8 as now_ms`,
  );
  const after = clock.now();
  const [row] = rows;
  if (!row) throw new RangeError("expected one row of settings");
  const { version, now_ms: nowMs, ...durability } = row;
  return {
    majorVersion: Math.floor(version / 10_000),
    durability,
    connectionsMax: await readConnectionsMax(pool),
    clockAheadMs: Math.round(nowMs - (before + after) / 2),
    missingMigrations: await listMissingMigrations(db),
    heldRoles: await listHeldRoles(pool),
    attestorRights: attestorUsers.length === 0 ? null : await listRights(db, attestorUsers),
  };
}

async function listRights(db: Db, users: readonly string[]): Promise<string[]> {
  const rights: string[] = [];
  for (const user of users) {
    rights.push(...(await listWrongRights(db, user)).map((phrase) => `${user} ${phrase}`));
  }
  return rights;
}
