/**
 * Retention: events are kept for at least 30 days, in partitions of a week that are dropped whole. Each statement waits
 * only a moment for its lock; what writers hold is left for the next round.
 */
import { sql } from "kysely";
import { formatStamp } from "../core/stamp.ts";
import type { Db } from "../db/schema.ts";

const DAY_MS = 86_400_000;
const WEEK_MS = 7 * DAY_MS;
/** How long every event can be replayed, as the interface promises. */
export const RETENTION_MS = 30 * DAY_MS;
/** Weeks that are there before they begin: a service that is down that long writes to the default partition. */
const WEEKS_AHEAD = 4;
/** 1970-01-05 was a Monday. */
const FIRST_MONDAY_MS = 4 * DAY_MS;
const LOCK_TIMEOUT_MS = 200;
const ROWS_AT_ONCE = 10_000;

/** What a round did, by the names of partitions. */
export interface RetentionRound {
  readonly made: readonly string[];
  readonly dropped: readonly string[];
  /** Rows taken out of the default partition. */
  readonly deleted: number;
}

/** Makes the partitions of the weeks to come and drops what is older than 30 days. */
export async function maintainEvents(db: Db, nowMs: number): Promise<RetentionRound> {
  const known = await listPartitions(db);
  const made: string[] = [];
  for (let ahead = 0; ahead <= WEEKS_AHEAD; ahead += 1) {
    const startMs = startOfWeek(nowMs) + ahead * WEEK_MS;
    const name = nameOf(startMs);
    if (!known.includes(name) && (await makePartition(db, name, startMs))) made.push(name);
  }
  const dropped: string[] = [];
  for (const name of known) {
    const startMs = startOf(name);
    if (startMs === null || startMs + WEEK_MS > nowMs - RETENTION_MS) continue;
    if (await tryNow(db, sql`drop table ${sql.id(name)}`)) dropped.push(name);
  }
  return { made, dropped, deleted: await pruneDefault(db, nowMs) };
}

/** False when rows of that week are in the default partition already: then that is where the week stays. */
async function makePartition(db: Db, name: string, startMs: number): Promise<boolean> {
  const [from, to] = [formatStamp(startMs), formatStamp(startMs + WEEK_MS)];
  const { rows } = await sql<{ taken: boolean }>`
    select exists (
      select from events_default where created_at >= ${from} and created_at < ${to}
    ) as taken`.execute(db);
  if (rows[0]?.taken) return false;
  // Bounds are literals in the grammar of partitions; these are made here, of digits.
  return tryNow(
    db,
    sql`create table ${sql.id(name)} partition of events
      for values from (${sql.lit(from)}) to (${sql.lit(to)})`,
  );
}

async function pruneDefault(db: Db, nowMs: number): Promise<number> {
  const { numAffectedRows } = await sql`
    delete from events_default where ctid = any(array(
      select ctid from events_default where created_at < ${formatStamp(nowMs - RETENTION_MS)}
      limit ${ROWS_AT_ONCE}))`.execute(db);
  return Number(numAffectedRows ?? 0n);
}

async function listPartitions(db: Db): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`
    select child.relname as name
      from pg_inherits
      join pg_class child on child.oid = inhrelid
     where inhparent = 'events'::regclass
     order by child.relname`.execute(db);
  return rows.map(({ name }) => name);
}

/** Runs a statement if its locks can be had at once. */
async function tryNow(db: Db, statement: ReturnType<typeof sql>): Promise<boolean> {
  try {
    await db.transaction().execute(async (tx) => {
      await sql`set local lock_timeout to ${sql.lit(LOCK_TIMEOUT_MS)}`.execute(tx);
      await statement.execute(tx);
    });
    return true;
  } catch (error) {
    if (isLeftForLater(error)) return false;
    throw error;
  }
}

/**
 * A lock that was not to be had in time; rows of the week that came into the default partition, or the partition that
 * another process made, since we looked.
 */
function isLeftForLater(error: unknown): boolean {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  return code === "55P03" || code === "23514" || code === "42P07";
}

function startOfWeek(ms: number): number {
  return FIRST_MONDAY_MS + Math.floor((ms - FIRST_MONDAY_MS) / WEEK_MS) * WEEK_MS;
}

/** Such as `events_20261116`, the Monday on which it begins. */
function nameOf(startMs: number): string {
  return `events_${formatStamp(startMs).slice(0, 10).replaceAll("-", "")}`;
}

function startOf(name: string): number | null {
  const match = /^events_(\d{4})(\d{2})(\d{2})$/.exec(name);
  return match ? Date.parse(`${match[1]}-${match[2]}-${match[3]}T00:00:00.000Z`) : null;
}
