/**
 * Due work: rows of a table whose `next_check_at` has passed.
 *
 * Integrators take turns (turns.ts), so that nobody's rows wait behind all rows of another.
 *
 * One loop of one process polls a queue. It reads due rows, works on them, and each work ends by setting when its row is due
 * next, unless something else set another time since the work read the row: a wake-up then is not lost. A row whose
 * process ends stays due, and is polled at once by the process that takes over the chain.
 *
 * Invariant: to be due authorizes nothing. Two processes may work on the same row while one takes over from the other: every
 * write is a compare-and-set.
 */
import type { ErrorObject } from "@sluice/sdk/wire";
import { type Expression, type RawBuilder, sql, type SqlBool } from "kysely";
import { type OperatingError, toErrorObject, toOperatingError } from "../core/errors.ts";
import { assert } from "../core/assert.ts";
import type { Clock } from "../core/ports.ts";
import { formatStamp } from "../core/stamp.ts";
import { gatherWrites } from "../db/gather.ts";
import type { Db, Tx } from "../db/schema.ts";
import type { Stamp } from "../db/columns.ts";
import { isTransientDatabaseError } from "../db/transient-errors.ts";
import type { Log } from "../telemetry/log.ts";
import { FAILED_POLL_RETRY_MS } from "./delays.ts";
import { takeTurns } from "./turns.ts";

/** Tables with a `next_check_at`, whose rows are polled by chain. */
type DueTable = "settlements" | "deliveries" | "bridge_transfers" | "screenings";

/** The due rows that one loop polls. */
export interface Queue {
  readonly name: string;
  readonly chainId: number;
}

/** Returns the subject of wake-ups of a queue. */
export function subjectOf({ name, chainId }: Queue): string {
  return `${name}:${chainId}`;
}

/** A due row, and since when it is due. */
export interface DueRow<Id extends string> {
  readonly id: Id;
  readonly dueAt: Stamp;
}

/** The due work of a table. */
export interface DueRows<Id extends string> {
  /** Returns due rows of a chain, in turns and the longest due first. */
  list(
    db: Db,
    args: { readonly chainId: number; readonly nowMs: number; readonly limit: number },
  ): Promise<DueRow<Id>[]>;
  /** Sets when a row is due next. The row's version stays. */
  reschedule(db: Db | Tx, id: Id, atMs: number): Promise<void>;
  /**
   * Sets when a row is due next, unless its time is no longer `seen`, the one that the worker read: a wake-up between its reads and
   * this write is not lost.
   */
  rescheduleUnlessChanged(
    db: Db | Tx,
    id: Id,
    times: { readonly atMs: number; readonly seen: Stamp | null },
  ): Promise<void>;
  /**
   * Makes rows due whose column has one of the values, and returns their queues. Locks them in the order of their ids, so that
   * two transactions never wait for each other.
   */
  wake(
    db: Db | Tx,
    column: "id" | "settlement_id",
    values: readonly string[],
    nowMs: number,
  ): Promise<readonly Queue[]>;
}

/**
 * Returns the `next_check_at` of a row that is made due: never the time that it had, so that a worker which read that one notices
 * the change.
 */
export function dueFrom(at: number | RawBuilder<Stamp>): RawBuilder<Stamp> {
  const stamp = typeof at === "number" ? formatStamp(at) : at;
  return sql<Stamp>`least(${stamp}, next_check_at - interval '1 millisecond')`;
}

/** Creates the due work of a table, in the folder that owns the table. */
export function createDueRows<Id extends string = string>({
  table,
  chain,
  isOpen,
  queue = sql<string>`${sql.lit(table)}`,
  id = "uuid",
  keepsEnded = false,
}: {
  readonly table: DueTable;
  /** Column of the chain by which workers divide the rows. */
  readonly chain: "chain_id" | "dest_chain";
  /** Condition of rows that still have work. */
  readonly isOpen: Expression<SqlBool>;
  /** Name of a row's queue; the table's by default. */
  readonly queue?: RawBuilder<string>;
  /** Type of the rows' ids. */
  readonly id?: "uuid" | "text";
  /** Whether rows that are not open are never rescheduled. */
  readonly keepsEnded?: boolean;
}): DueRows<Id> {
  const schedule = gatherWrites<Id, { readonly atMs: number; readonly seen: Stamp | null }>(
    async (db, times) => {
      const given = [...times.values()];
      await sql`
        update ${sql.table(table)} as scheduled set next_check_at = chosen.at
          from (select held.id, given.at from ${sql.table(table)} as held
                  join unnest(${[...times.keys()]}::${sql.raw(id)}[],
                    ${given.map(({ atMs }) => formatStamp(atMs))}::timestamptz[],
                    ${given.map(({ seen }) => seen)}::timestamptz[]
                  ) as given (id, at, seen) on held.id = given.id
                 where (given.seen is null or date_trunc('milliseconds', held.next_check_at) = given.seen)
                   and ${keepsEnded ? isOpen : sql`true`}
                 order by held.id for update of held) as chosen
         where scheduled.id = chosen.id`.execute(db);
    },
  );
  return {
    async list(db, { chainId, nowMs, limit }) {
      const turns = takeTurns({
        table,
        open: sql<boolean>`${sql.ref(chain)} = ${chainId} and ${isOpen}`,
        due: sql<boolean>`next_check_at <= ${formatStamp(nowMs)}`,
        since: "next_check_at",
        limit,
      });
      const { rows } = await sql<DueRow<Id>>`
        select id, since as "dueAt" from ${turns} as turns order by place`.execute(db);
      return rows;
    },
    reschedule: (db, rowId, atMs) => schedule(db, rowId, { atMs, seen: null }),
    rescheduleUnlessChanged: (db, rowId, times) => schedule(db, rowId, times),
    async wake(db, column, values, nowMs) {
      const { rows } = await sql<Queue>`
        update ${sql.table(table)} set next_check_at = ${dueFrom(nowMs)}
        where id in (select id from ${sql.table(table)}
          where ${sql.ref(column)} = any(${values}) and ${isOpen} order by id for update)
        returning ${queue} as name, ${sql.ref(chain)} as "chainId"`.execute(db);
      return [...new Map(rows.map((row) => [subjectOf(row), row])).values()];
    },
  };
}

/**
 * Creates the poll of a chain's due rows, which works on a page of them at the same time and independently. Returns true when
 * there may be more. An error of the work is logged. A row that is in the next page as it was, because its work failed before it
 * set a time, is rescheduled then; after a failure the loop pauses.
 */
export function createDuePoll<Id extends string>(
  { db, clock, log }: { readonly db: Db; readonly clock: Clock; readonly log: Log },
  {
    rows,
    chainId,
    limit,
    work,
  }: {
    readonly rows: DueRows<Id>;
    readonly chainId: number;
    readonly limit: number;
    readonly work: (id: Id) => Promise<void>;
  },
): () => Promise<boolean> {
  let before: ReadonlyMap<Id, Stamp> = new Map();
  return async () => {
    const nowMs = clock.now();
    const page = await rows.list(db, { chainId, nowMs, limit });
    const isLeft = ({ id, dueAt }: DueRow<Id>) => before.get(id) === dueAt;
    const atMs = nowMs + FAILED_POLL_RETRY_MS;
    // Where nothing can be written, as on a full disk, this ends the poll: no row is worked on again and again.
    await Promise.all(
      page
        .filter(isLeft)
        .map(({ id, dueAt: seen }) => rows.rescheduleUnlessChanged(db, id, { seen, atMs })),
    );
    const fresh = page.filter((row) => !isLeft(row));
    before = new Map(page.map(({ id, dueAt }) => [id, dueAt]));
    const results = await Promise.allSettled(fresh.map(({ id }) => work(id)));
    const failed = results.filter((result) => result.status === "rejected");
    for (const { reason } of failed) log.error({ err: reason }, "poll failed, retrying");
    return page.length === limit && failed.length === 0;
  };
}

/**
 * Processes one row that shows its last error: an error is stored in the row, and a later success clears it. Transient
 * database errors are thrown instead, since they are not about the row.
 */
export async function workAndRecordError<Row extends { readonly error: ErrorObject | null }>(row: {
  readonly read: () => Promise<Row | null>;
  readonly work: (row: Row) => Promise<void>;
  /** Stores the error, or null to clear it, unless the row changed since it was read. */
  readonly writeError: (row: Row, error: ErrorObject | null) => Promise<void>;
  /** Logs the thrown value and the operating error that it was converted to. */
  readonly report: (thrown: unknown, error: OperatingError) => void;
  /** Returns whether the row shows errors in its current state. */
  readonly showsErrors: (row: Row) => boolean;
  /** Reschedules the row, as it is now, for a retry. */
  readonly retryLater: (row: Row) => Promise<void>;
}): Promise<void> {
  try {
    const before = await row.read();
    assert(before !== null, "a due row exists");
    await row.work(before);
    if (!before.error) return;
    const after = await row.read();
    if (after?.error) await row.writeError(after, null);
  } catch (thrown) {
    if (isTransientDatabaseError(thrown)) throw thrown;
    const error = toOperatingError(thrown);
    row.report(thrown, error);
    const current = await row.read();
    if (current === null) return;
    if (row.showsErrors(current)) await row.writeError(current, toErrorObject(error));
    await row.retryLater(current);
  }
}
