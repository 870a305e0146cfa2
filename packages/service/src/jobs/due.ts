/**
 * Due work: rows of a table whose `next_check_at` has come.
 *
 * A worker leases some of them, which reschedules each to the end of a lease: no other worker takes it meanwhile, and when
 * the worker dies it is due again. Rows that are locked by somebody are skipped. The work itself says when a row is due
 * next; a row it says nothing about waits for its lease.
 *
 * A lease authorises nothing. The work reads the row, and every write of it is a compare-and-set.
 */
import type { ErrorObject } from "@sluice/sdk/wire";
import { type Expression, sql, type SqlBool } from "kysely";
import { type OperatingError, toErrorObject, toOperatingError } from "../core/errors.ts";
import type { Clock } from "../core/ports.ts";
import { formatStamp } from "../core/stamp.ts";
import type { Db, Tx } from "../db/schema.ts";
import { isTransientDatabaseError } from "../db/transient-errors.ts";
import type { Log } from "../telemetry/log.ts";

/** Tables with a `next_check_at`, whose rows are worked on chain by chain. */
type DueTable = "settlements" | "deliveries" | "bridge_transfers";

/** The due work of a table. */
export interface DueRows<Id extends string> {
  /** Leases rows of a chain that are due, the longest due first. */
  lease(
    db: Db,
    args: {
      readonly chainId: number;
      readonly nowMs: number;
      readonly leaseMs: number;
      readonly limit: number;
    },
  ): Promise<Id[]>;
  /** Sets when a row is due; does not count as a change of it. */
  reschedule(db: Db | Tx, id: Id, atMs: number): Promise<void>;
}

/** Names the due work of a table. The folder that owns the table calls it. */
export function createDueRows<Id extends string = string>({
  table,
  chain,
  isOpen,
  keepsEnded = false,
}: {
  readonly table: DueTable;
  /** The column with the chain that a worker is for. */
  readonly chain: "chain_id" | "dest_chain";
  /** Whether a row may still be worked on. */
  readonly isOpen: Expression<SqlBool>;
  /** Whether rows that are not open are left as they are when one is rescheduled. */
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
 * Works on the rows of a chain that are due, all at once and each apart. Returns true when there may be more. What the
 * work throws is logged: the row stays due and is worked on again when its lease ends.
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
 * Works on one row whose trouble is shown: an error is written into the row and does not hold up the others, and work
 * that goes well clears the error of an earlier time. Trouble of the database is thrown, as it says nothing about the row.
 */
export async function workAndRecordError<
  Row extends { readonly trouble: ErrorObject | null },
>(row: {
  readonly read: () => Promise<Row | null>;
  readonly work: () => Promise<void>;
  /** Writes the trouble, or null to clear it, unless the row changed since it was read. */
  readonly writeError: (row: Row, trouble: ErrorObject | null) => Promise<void>;
  /** Logs what was thrown, and the error that it is taken for. */
  readonly report: (thrown: unknown, error: OperatingError) => void;
  /** Whether the row shows errors in the state that it is in. */
  readonly showsErrors: (row: Row) => boolean;
  /** Has the row worked on again later. */
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
