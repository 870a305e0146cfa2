/** Stores when a dead settlement is next polled for a refund, and the refund that was found. */
import { sql } from "kysely";
import { displayTxHash } from "../../core/base58.ts";
import { toAddress, type TxHash } from "../../core/hex.ts";
import { formatStamp } from "../../core/stamp.ts";
import type { Db, Tx } from "../../db/schema.ts";
import { takeTurns } from "../../jobs/turns.ts";
import type { Holding } from "../../deposits/index.ts";

/** A settlement that ended without moving its deposits. */
export interface DeadSettlement extends Holding {
  readonly id: string;
  /** Time of its end, or of the last operator action if later. */
  readonly sinceMs: number;
}

/** Returns due dead settlements of a chain whose deposits may have been refunded, in turns, the longest due first. */
export async function listDeadDue(
  db: Db,
  args: { readonly chainId: number; readonly nowMs: number; readonly limit: number },
): Promise<DeadSettlement[]> {
  const turns = takeTurns({
    table: "settlements",
    open: sql`chain_id = ${args.chainId} and status = 'dead'`,
    due: sql`next_check_at <= ${formatStamp(args.nowMs)}`,
    since: "next_check_at",
    limit: args.limit,
  });
  const rows = await db
    .selectFrom("settlements")
    .innerJoin(turns.as("turns"), (join) => join.onRef("turns.id", "=", "settlements.id"))
    .select(["settlements.id", "chain_id", "wallet", "token", "updated_at"])
    .select((eb) =>
      eb
        .selectFrom("operator_actions")
        .whereRef("operator_actions.settlement_id", "=", "settlements.id")
        .select((inner) => inner.fn.max("at").as("at"))
        .as("acted_at"),
    )
    .orderBy("turns.place")
    .execute();
  return rows.map((row) => ({
    id: row.id,
    chainId: row.chain_id,
    wallet: toAddress(row.wallet),
    token: toAddress(row.token),
    sinceMs: Math.max(Date.parse(row.updated_at), Date.parse(row.acted_at ?? row.updated_at)),
  }));
}

/** Sets when a dead settlement is next polled for a refund; null stops the polls. */
export async function watchForRefund(db: Db | Tx, id: string, atMs: number | null): Promise<void> {
  await db
    .updateTable("settlements")
    .set({ next_check_at: atMs === null ? null : formatStamp(atMs) })
    .where("id", "=", id)
    .where("status", "=", "dead")
    .execute();
}

/** Records the refund in the error details of a dead settlement. The status, which is terminal, stays. */
export async function recordRefunded(
  db: Db,
  id: string,
  refund: { readonly txHash: TxHash },
): Promise<void> {
  const details = JSON.stringify({ reason: "refunded", txHash: displayTxHash(refund.txHash) });
  await db
    .updateTable("settlements")
    .set({
      error_details: sql<string>`coalesce(error_details, '{}'::jsonb) || ${details}::jsonb`,
      next_check_at: null,
    })
    .where("id", "=", id)
    .where("status", "=", "dead")
    .execute();
}
