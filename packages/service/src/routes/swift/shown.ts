/** Locks of a settlement, for display to an operator. */
import type { Db } from "../../db/schema.ts";

/** A lock in the escrow, and its progress. */
export interface ShownDelivery {
  readonly id: string;
  readonly state: string;
  readonly lockedAmount: bigint;
  readonly payAmount: bigint;
  readonly deliveredTxHash: string | null;
  readonly claimedTxHash: string | null;
  readonly error: string | null;
  readonly createdAt: string;
}

/** Lists the deliveries of a settlement, oldest first. */
export async function listDeliveries(db: Db, id: string): Promise<ShownDelivery[]> {
  const rows = await db
    .selectFrom("deliveries")
    .selectAll()
    .where("settlement_id", "=", id)
    .orderBy("created_at")
    .execute();
  return rows.map((row) => ({
    id: row.id,
    state: row.state,
    lockedAmount: BigInt(row.locked_amount),
    payAmount: BigInt(row.pay_amount),
    deliveredTxHash: row.delivered_tx_hash,
    claimedTxHash: row.claimed_tx_hash,
    error: row.trouble?.message ?? null,
    createdAt: row.created_at,
  }));
}
