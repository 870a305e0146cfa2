/** Selects and reschedules the settlements that workers poll. Nothing here changes a status. */
import { expressionBuilder, type RawBuilder, sql, type SqlBool } from "kysely";
import { createDueRows } from "../../jobs/due.ts";
import { takeTurns } from "../../jobs/turns.ts";
import { formatStamp } from "../../core/stamp.ts";
import type { Database, Db, Tx } from "../../db/schema.ts";
import { TOO_SMALL_FOR_FEES } from "../../fees/index.ts";
import type { Reservation } from "../../routes/index.ts";
import type { Settlement } from "../types.ts";
import { parseSettlement } from "./row.ts";

const OF_SETTLEMENT = expressionBuilder<Database, "settlements">();

/** Due work of the settlements that are not terminal, by chain. A terminal row is never changed. */
export const dueSettlements = createDueRows({
  table: "settlements",
  chain: "chain_id",
  isOpen: OF_SETTLEMENT("status", "not in", ["completed", "dead"]),
  keepsEnded: true,
});

/** Which settlements of a source chain a list is about; integrators take turns in it. */
interface ListArgs {
  readonly chainId: number;
  readonly nowMs: number;
  readonly limit: number;
}

/** Returns due completed settlements whose sweep is not recorded as final, the longest due first. */
export function listToFollow(db: Db, { chainId, nowMs, limit }: ListArgs): Promise<Settlement[]> {
  return listInTurns(db, {
    open: sql`chain_id = ${chainId} and status = 'completed' and not sweep_final`,
    // Null in rows that completed since their last poll.
    due: sql`(next_check_at is null or next_check_at <= ${formatStamp(nowMs)})`,
    since: "next_check_at",
    nulls: "first",
    limit,
  });
}

/** Sets when a completed settlement is followed next. */
export async function followAgain(db: Db, id: string, atMs: number): Promise<void> {
  await db
    .updateTable("settlements")
    .set({ next_check_at: formatStamp(atMs) })
    .where("id", "=", id)
    .where("status", "=", "completed")
    .execute();
}

/** Returns settlements that wait for inventory and are not due yet, the oldest first. */
export function listWaitingForInventory(db: Db, args: ListArgs): Promise<Settlement[]> {
  return listFailing(db, args, {
    cause: sql`step = 'sweep' and error_code = 'INSUFFICIENT_BALANCE'`,
    due: sql`error_details ->> 'reason' in (${sql.join(WAITS_FOR_INVENTORY)})`,
  });
}

const WAITS_FOR_INVENTORY = [
  "inventory_too_low",
  "daily_cap_reached",
  "address_share_reached",
  "integrator_share_reached",
] satisfies Reservation[];

/** Returns settlements that wait for lower gas costs and are not due yet, the oldest first. */
export function listWaitingForGas(db: Db, args: ListArgs): Promise<Settlement[]> {
  return listFailing(db, args, {
    cause: sql`error_code in ('FEE_NOT_COVERED', 'AMOUNT_TOO_SMALL')`,
    due: sql`step in ('deploy', 'sweep') and (error_code = 'FEE_NOT_COVERED'
      or error_details ->> 'reason' = ${TOO_SMALL_FOR_FEES})`,
  });
}

function listFailing(
  db: Db,
  { chainId, nowMs, limit }: ListArgs,
  waits: {
    /** The condition of an index: those that fail for this cause. */
    readonly cause: RawBuilder<SqlBool>;
    readonly due: RawBuilder<SqlBool>;
  },
): Promise<Settlement[]> {
  const failing = sql`status in ('failed_deploy', 'failed_swap', 'failed_settle', 'deferred')`;
  return listInTurns(db, {
    open: sql`chain_id = ${chainId} and ${failing} and ${waits.cause}`,
    due: sql`retry_at > ${formatStamp(nowMs)} and ${waits.due}`,
    since: "created_at",
    limit,
  });
}

async function listInTurns(
  db: Db,
  choice: Omit<Parameters<typeof takeTurns>[0], "table">,
): Promise<Settlement[]> {
  const rows = await db
    .selectFrom("settlements")
    .innerJoin(takeTurns({ table: "settlements", ...choice }).as("turns"), (join) =>
      join.onRef("turns.id", "=", "settlements.id"),
    )
    .selectAll("settlements")
    .orderBy("turns.place")
    .execute();
  return rows.map(parseSettlement);
}

/** Makes a settlement due at once, without its scheduled retry. A terminal settlement is not changed. */
export async function retryNow(tx: Tx, id: string, nowMs: number): Promise<void> {
  await tx
    .updateTable("settlements")
    .set({ next_check_at: formatStamp(nowMs), retry_at: null })
    .where("id", "=", id)
    .where("status", "not in", ["completed", "dead"])
    .execute();
}
