/** Locks of a settlement, for an operator. */
import type { LockFacts } from "../../chains/port/index.ts";
import { type Hex32, toAddress, toHex32 } from "../../core/hex.ts";
import type { Db } from "../../db/schema.ts";
import type { EarlyWait } from "./early/store.ts";

/** A lock in the escrow, and its progress. */
export interface ShownDelivery {
  readonly id: string;
  readonly state: string;
  readonly lockedAmount: bigint;
  readonly payAmount: bigint;
  readonly deliveredTxHash: string | null;
  readonly claimedTxHash: string | null;
  /** How deep the lock was when its payout was requested: a number of blocks, `safe` or `finalized`. */
  readonly paidAtDepth: string | null;
  readonly waitsFor: EarlyWait | null;
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
    paidAtDepth: row.paid_at_depth,
    // CAST: the column's check constraint allows only these.
    waitsFor: row.waits_for as EarlyWait | null,
    error: row.trouble?.message ?? null,
    createdAt: row.created_at,
  }));
}

/** Returns the facts of a settlement's newest lock, and the transaction that paid it; null if it locked nothing. */
export async function findNewestLock(
  db: Db,
  { id, commitment }: { readonly id: string; readonly commitment: Hex32 },
): Promise<{ readonly lock: LockFacts; readonly deliveredTxHash: string | null } | null> {
  const row = await db
    .selectFrom("deliveries")
    .selectAll()
    .where("settlement_id", "=", id)
    .orderBy("created_at", "desc")
    .limit(1)
    .executeTakeFirst();
  if (!row) return null;
  const lock = {
    commitment,
    delivery: toHex32(row.delivery),
    token: toAddress(row.token),
    amount: BigInt(row.locked_amount),
    minOut: BigInt(row.min_out),
    seq: row.seq,
    lockedAt: row.locked_at,
  };
  return { lock, deliveredTxHash: row.delivered_tx_hash };
}
