/**
 * Due work: rows of a table whose `next_check_at` has passed.
 *
 * Integrators take turns (turns.ts), so that nobody's rows wait behind all rows of another.
 *
 * A worker leases due rows, which reschedules each to the end of its lease: no other worker takes the row meanwhile, and
 * the row is due again if the worker dies. Locked rows are skipped. The work sets when the row is due next; otherwise the
 * row waits for the end of its lease.
 *
 * Invariant: a lease authorizes nothing. The work reads the row, and every write of it is a compare-and-set.
 */
import type { ErrorObject } from "@sluice/sdk/wire";
import { type Expression, type RawBuilder, sql, type SqlBool } from "kysely";
import { type OperatingError, toErrorObject, toOperatingError } from "../core/errors.ts";
import { assert } from "../core/assert.ts";
import type { Clock } from "../core/ports.ts";
import { formatStamp } from "../core/stamp.ts";
import { gatherWrites } from "../db/gather.ts";
import type { Db, Tx } from "../db/schema.ts";
import { isTransientDatabaseError } from "../db/transient-errors.ts";
import type { Log } from "../telemetry/log.ts";
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

/** The due work of a table. */
export interface DueRows<Id extends string> {
  /** Leases due rows of a chain, in turns and the longest due first, and returns their ids. */
  lease(
    db: Db,
    args: {
      readonly chainId: number;
      readonly nowMs: number;
      readonly leaseMs: number;
      readonly limit: number;
    },
  ): Promise<Id[]>;
  /** Makes the rows of a chain due that are due within a lease: the holder of the lease may have ended. */
  resume(
    db: Db,
    args: { readonly chainId: number; readonly nowMs: number; readonly leaseMs: number },
  ): Promise<void>;
  /** Sets when a row is due next. The row's version stays. */
  reschedule(db: Db | Tx, id: Id, atMs: number): Promise<void>;
  /**
   * Sets when a leased row is due next, unless it was made due since: a wake-up between a worker's reads and this write is
   * not lost.
   */
  rescheduleUnlessDue(
    db: Db | Tx,
    id: Id,
    times: { readonly atMs: number; readonly nowMs: number },
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
  const schedule = gatherWrites<Id, { readonly atMs: number; readonly afterMs: number | null }>(
    async (db, times) => {
      const given = [...times.values()];
      await sql`
        update ${sql.table(table)} as scheduled set next_check_at = chosen.at
          from (select held.id, given.at from ${sql.table(table)} as held
                  join unnest(${[...times.keys()]}::${sql.raw(id)}[],
                    ${given.map(({ atMs }) => formatStamp(atMs))}::timestamptz[],
                    ${given.map(({ afterMs }) => (afterMs === null ? null : formatStamp(afterMs)))}::timestamptz[]
                  ) as given (id, at, after) on held.id = given.id
                 where (given.after is null or held.next_check_at > given.after)
                   and ${keepsEnded ? isOpen : sql`true`}
                 order by held.id for update of held) as chosen
         where scheduled.id = chosen.id`.execute(db);
    },
  );
  return {
    async lease(db, { chainId, nowMs, leaseMs, limit }) {
      const turns = takeTurns({
        table,
        open: sql<boolean>`${sql.ref(chain)} = ${chainId} and ${isOpen}`,
        due: sql<boolean>`next_check_at <= ${formatStamp(nowMs)}`,
        since: "next_check_at",
        limit,
        lock: true,
      });
      // The array is read once, in the order of the turns; an update returns its rows in any order.
      const { rows } = await sql<{ id: Id; place: bigint }>`
        update ${sql.table(table)} as leased set next_check_at = ${formatStamp(nowMs + leaseMs)}
          from unnest(array(select turns.id from ${turns} as turns order by turns.place))
            with ordinality as turn (id, place)
         where leased.id = turn.id returning leased.id, turn.place`.execute(db);
      return rows.toSorted((one, other) => Number(one.place - other.place)).map(({ id }) => id);
    },
    async resume(db, { chainId, nowMs, leaseMs }) {
      await sql`
        update ${sql.table(table)} set next_check_at = ${formatStamp(nowMs)}
        where id in (select id from ${sql.table(table)}
          where ${sql.ref(chain)} = ${chainId} and ${isOpen} and next_check_at > ${formatStamp(nowMs)}
            and next_check_at <= ${formatStamp(nowMs + leaseMs)} order by id for update)`.execute(
        db,
      );
    },
    reschedule: (db, rowId, atMs) => schedule(db, rowId, { atMs, afterMs: null }),
    rescheduleUnlessDue: (db, rowId, { atMs, nowMs }) =>
      schedule(db, rowId, { atMs, afterMs: nowMs }),
    async wake(db, column, values, nowMs) {
      const { rows } = await sql<Queue>`
        update ${sql.table(table)} set next_check_at = ${formatStamp(nowMs)}
        where id in (select id from ${sql.table(table)}
          where ${sql.ref(column)} = any(${values}) and ${isOpen} order by id for update)
        returning ${queue} as name, ${sql.ref(chain)} as "chainId"`.execute(db);
      return [...new Map(rows.map((row) => [subjectOf(row), row])).values()];
    },
  };
}

/**
 * Returns a poll that first resumes the rows which a process that ended had leased, instead of waiting for the end of their
 * leases. For the roles that one process holds; beside another process it only repeats polls early.
 */
export function createResumingPoll<Id extends string>(
  { db, clock }: { readonly db: Db; readonly clock: Clock },
  {
    rows,
    chainId,
    leaseMs,
    poll,
  }: {
    readonly rows: Pick<DueRows<Id>, "resume">;
    readonly chainId: number;
    readonly leaseMs: number;
    readonly poll: () => Promise<boolean>;
  },
): () => Promise<boolean> {
  let isResumed = false;
  return async () => {
    if (!isResumed) await rows.resume(db, { chainId, nowMs: clock.now(), leaseMs });
    isResumed = true;
    return poll();
  };
}

/**
 * Processes the due rows of a chain concurrently and independently. Returns true when there may be more. An error of the
 * work is logged, and the row is due again when its lease ends.
 */
export async function workOnDue<Id extends string>(
  { db, clock, log }: { readonly db: Db; readonly clock: Clock; readonly log: Log },
  {
    rows,
    chainId,
    leaseMs,
    limit,
    work,
  }: {
    readonly rows: DueRows<Id>;
    readonly chainId: number;
    readonly leaseMs: number;
    readonly limit: number;
    readonly work: (id: Id) => Promise<void>;
  },
): Promise<boolean> {
  const ids = await rows.lease(db, { chainId, nowMs: clock.now(), leaseMs, limit });
  for (const result of await Promise.allSettled(ids.map(work))) {
    if (result.status === "rejected") log.error({ err: result.reason }, "poll failed, retrying");
  }
  return ids.length === limit;
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
