/**
 * Retention. Events are kept for at least 30 days, in weekly partitions that are dropped whole. Every statement has a
 * short lock timeout, so retention never blocks writers; a locked partition is left for the next round.
 */
import { sql } from "kysely";
import { formatStamp } from "../core/stamp.ts";
import type { Db } from "../db/schema.ts";

const DAY_MS = 86_400_000;
const WEEK_MS = 7 * DAY_MS;
/** The replay window that the interface promises. */
export const RETENTION_MS = 30 * DAY_MS;
/** Partitions created ahead. After a longer outage of this job, events go to the default partition. */
const WEEKS_AHEAD = 4;
/** 1970-01-05 was a Monday. */
const FIRST_MONDAY_MS = 4 * DAY_MS;
const LOCK_TIMEOUT_MS = 200;
const ROWS_AT_ONCE = 10_000;

/** Result of one round, by partition name. */
export interface RetentionRound {
  readonly created: readonly string[];
  readonly dropped: readonly string[];
  /** Rows deleted from the default partition. */
  readonly deleted: number;
}

/** Creates the partitions of the coming weeks and drops those older than 30 days. */
export async function maintainEvents(db: Db, nowMs: number): Promise<RetentionRound> {
  const known = await listPartitions(db);
  const created: string[] = [];
  for (let ahead = 0; ahead <= WEEKS_AHEAD; ahead += 1) {
    const startMs = startOfWeek(nowMs) + ahead * WEEK_MS;
    const name = nameOf(startMs);
    if (!known.includes(name) && (await createPartition(db, name, startMs))) created.push(name);
  }
  const dropped: string[] = [];
  for (const name of known) {
    const startMs = startOf(name);
    if (startMs === null || startMs + WEEK_MS > nowMs - RETENTION_MS) continue;
    if (await tryNow(db, sql`drop table ${sql.id(name)}`)) dropped.push(name);
  }
  return { created, dropped, deleted: await pruneDefault(db, nowMs) };
}

/** Returns false when the default partition already holds rows of that week: the week then stays there. */
async function createPartition(db: Db, name: string, startMs: number): Promise<boolean> {
  const [from, to] = [formatStamp(startMs), formatStamp(startMs + WEEK_MS)];
  const { rows } = await sql<{ taken: boolean }>`
    select exists (
      select from events_default where created_at >= ${from} and created_at < ${to}
    ) as taken`.execute(db);
  if (rows[0]?.taken) return false;
  // DDL takes partition bounds as literals only. These are built here, from digits.
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

/** Runs a statement unless its locks are held by others. Returns whether it ran. */
async function tryNow(db: Db, statement: ReturnType<typeof sql>): Promise<boolean> {
  try {
    await db.transaction().execute(async (tx) => {
      await sql`set local lock_timeout to ${sql.lit(LOCK_TIMEOUT_MS)}`.execute(tx);
      await statement.execute(tx);
    });
    return true;
  } catch (error) {
    if (isRetriedNextRound(error)) return false;
    throw error;
  }
}

/**
 * Recognizes a lock timeout (55P03), rows of the week that reached the default partition meanwhile (23514), and a
 * partition that another process created meanwhile (42P07).
 */
function isRetriedNextRound(error: unknown): boolean {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  return code === "55P03" || code === "23514" || code === "42P07";
}

function startOfWeek(ms: number): number {
  return FIRST_MONDAY_MS + Math.floor((ms - FIRST_MONDAY_MS) / WEEK_MS) * WEEK_MS;
}

/** Returns a name such as `events_20261116`: the Monday on which the week begins. */
function nameOf(startMs: number): string {
  return `events_${formatStamp(startMs).slice(0, 10).replaceAll("-", "")}`;
}

function startOf(name: string): number | null {
  const match = /^events_(\d{4})(\d{2})(\d{2})$/.exec(name);
  return match ? Date.parse(`${match[1]}-${match[2]}-${match[3]}T00:00:00.000Z`) : null;
}
