/** Selects and reschedules the settlements that workers poll. Nothing here changes a status. */
import { expressionBuilder, sql } from "kysely";
import { createDueRows } from "../../jobs/due.ts";
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

/** Returns completed settlements whose sweep is not recorded as final, the longest unchanged first. */
export async function listToFollow(db: Db, limit: number): Promise<Settlement[]> {
  const rows = await db
    .selectFrom("settlements")
    .selectAll()
    .where("status", "=", "completed")
    .where("sweep_final", "=", false)
    .orderBy("updated_at")
    .limit(limit)
    .execute();
  return rows.map(parseSettlement);
}

/** Returns settlements that wait for inventory and are not due yet, the oldest first. */
export async function listWaitingForInventory(
  db: Db,
  args: { readonly nowMs: number; readonly limit: number },
): Promise<Settlement[]> {
  const rows = await db
    .selectFrom("settlements")
    .selectAll()
    .where("status", "in", ["failed_swap", "failed_settle", "deferred"])
    .where("step", "=", "sweep")
    .where("error_code", "=", "INSUFFICIENT_BALANCE")
    .where(sql<string>`error_details ->> 'reason'`, "in", WAITS_FOR_INVENTORY)
    .where("retry_at", ">", formatStamp(args.nowMs))
    .orderBy("created_at")
    .limit(args.limit)
    .execute();
  return rows.map(parseSettlement);
}

const WAITS_FOR_INVENTORY = ["inventory_too_low", "daily_cap_reached"] satisfies Reservation[];

/** Returns settlements that wait for lower gas costs and are not due yet, the oldest first. */
export async function listWaitingForGas(
  db: Db,
  args: { readonly nowMs: number; readonly limit: number },
): Promise<Settlement[]> {
  const rows = await db
    .selectFrom("settlements")
    .selectAll()
    .where("status", "in", ["failed_deploy", "failed_swap", "failed_settle", "deferred"])
    .where("step", "in", ["deploy", "sweep"])
    .where((eb) =>
      eb.or([
        eb("error_code", "=", "FEE_NOT_COVERED"),
        eb.and([
          eb("error_code", "=", "AMOUNT_TOO_SMALL"),
          eb(sql<string>`error_details ->> 'reason'`, "=", TOO_SMALL_FOR_FEES),
        ]),
      ]),
    )
    .where("retry_at", ">", formatStamp(args.nowMs))
    .orderBy("created_at")
    .limit(args.limit)
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
