/**
 * Due work: rows of a table whose `next_check_at` has passed.
 *
 * A worker leases due rows, which reschedules each to the end of its lease: no other worker takes the row meanwhile, and
 * the row is due again if the worker dies. Locked rows are skipped. The work sets when the row is due next; otherwise the
 * row waits for the end of its lease.
 *
 * Invariant: a lease authorizes nothing. The work reads the row, and every write of it is a compare-and-set.
 */
import type { ErrorObject } from "@sluice/sdk/wire";
import { type Expression, sql, type SqlBool } from "kysely";
import { type OperatingError, toErrorObject, toOperatingError } from "../core/errors.ts";
import type { Clock } from "../core/ports.ts";
import { formatStamp } from "../core/stamp.ts";
import type { Db, Tx } from "../db/schema.ts";
import { isTransientDatabaseError } from "../db/transient-errors.ts";
import type { Log } from "../telemetry/log.ts";

/** Tables with a `next_check_at`, whose rows are polled by chain. */
type DueTable = "settlements" | "deliveries" | "bridge_transfers";

/** The due work of a table. */
export interface DueRows<Id extends string> {
  /** Leases due rows of a chain, the longest due first, and returns their ids. */
  lease(
    db: Db,
    args: {
      readonly chainId: number;
      readonly nowMs: number;
      readonly leaseMs: number;
      readonly limit: number;
    },
  ): Promise<Id[]>;
  /** Sets when a row is due next. The row's version stays. */
  reschedule(db: Db | Tx, id: Id, atMs: number): Promise<void>;
}

/** Creates the due work of a table, in the folder that owns the table. */
export function createDueRows<Id extends string = string>({
  table,
  chain,
  isOpen,
  keepsEnded = false,
}: {
  readonly table: DueTable;
  /** Column of the chain by which workers divide the rows. */
  readonly chain: "chain_id" | "dest_chain";
  /** Condition of rows that still have work. */
  readonly isOpen: Expression<SqlBool>;
  /** Whether `reschedule` ignores rows that are not open. */
  readonly keepsEnded?: boolean;
}): DueRows<Id> {
  return {
    async lease(db, { chainId, nowMs, leaseMs, limit }) {
      const rows = await db
        .updateTable(table)
        .set({ next_check_at: formatStamp(nowMs + leaseMs) })
        .where("id", "in", (due) =>
          due
            .selectFrom(table)
            .select("id")
            .where(sql.ref(chain), "=", chainId)
            .where(isOpen)
            .where("next_check_at", "<=", formatStamp(nowMs))
            .orderBy("next_check_at")
            .limit(limit)
            .forUpdate()
            .skipLocked(),
        )
        .returning("id")
        .execute();
      // CAST: the owner of the table names the type of its ids.
      return rows.map((row) => row.id as Id);
    },
    async reschedule(db, id, atMs) {
      await db
        .updateTable(table)
        .set({ next_check_at: formatStamp(atMs) })
        .where("id", "=", id)
        .$if(keepsEnded, (query) => query.where(isOpen))
        .execute();
    },
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
export async function workAndRecordError<
  Row extends { readonly trouble: ErrorObject | null },
>(row: {
  readonly read: () => Promise<Row | null>;
  readonly work: () => Promise<void>;
  /** Stores the error, or null to clear it, unless the row changed since it was read. */
  readonly writeError: (row: Row, error: ErrorObject | null) => Promise<void>;
  /** Logs the thrown value and the operating error that it was converted to. */
  readonly report: (thrown: unknown, error: OperatingError) => void;
  /** Returns whether the row shows errors in its current state. */
  readonly showsErrors: (row: Row) => boolean;
  /** Reschedules the row for a retry. */
  readonly retryLater: () => Promise<void>;
}): Promise<void> {
  try {
    const before = await row.read();
    await row.work();
    if (!before?.trouble) return;
    const after = await row.read();
    if (after?.trouble) await row.writeError(after, null);
  } catch (thrown) {
    if (isTransientDatabaseError(thrown)) throw thrown;
    const error = toOperatingError(thrown);
    row.report(thrown, error);
    const current = await row.read();
    if (current && row.showsErrors(current)) await row.writeError(current, toErrorObject(error));
    await row.retryLater();
  }
}
