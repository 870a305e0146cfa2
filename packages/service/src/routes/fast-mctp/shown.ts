/** Burns of a settlement, for display to an operator. */
import type { Db } from "../../db/schema.ts";

/** A burn for the bridge, and its progress. */
export interface ShownTransfer {
  readonly id: string;
  readonly state: string;
  readonly burnedAmount: bigint;
  readonly burnTxHash: string;
  /** Null until the attestation service assigns it. */
  readonly nonce: string | null;
  /** Reason for a delayed attestation, as the service gives it. */
  readonly delayReason: string | null;
  readonly mintTxHash: string | null;
  readonly error: string | null;
  readonly createdAt: string;
}

/** Lists the bridge transfers of a settlement, oldest first. */
export async function listTransfers(db: Db, id: string): Promise<ShownTransfer[]> {
  const rows = await db
    .selectFrom("bridge_transfers")
    .selectAll()
    .where("settlement_id", "=", id)
    .orderBy("created_at")
    .execute();
  return rows.map((row) => ({
    id: row.id,
    state: row.state,
    burnedAmount: BigInt(row.burned_amount),
    burnTxHash: row.burn_tx_hash,
    nonce: row.nonce,
    delayReason: row.delay_reason,
    mintTxHash: row.mint_tx_hash,
    error: row.trouble?.message ?? null,
    createdAt: row.created_at,
  }));
}
