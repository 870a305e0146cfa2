/** Transactions of a settlement and their attempts, for operators. */
import type { Db } from "../db/schema.ts";

/** A transaction and its place in its lane. `state` is the column's: queued, carried, assigned, mined, final, abandoned. */
export interface ShownTransaction {
  readonly intent: string;
  readonly chainId: number;
  readonly state: string;
  /** Null until mined. */
  readonly succeeded: boolean | null;
  readonly minedHash: string | null;
  readonly minedBlock: bigint | null;
  /** Account of the lane. */
  readonly lane: string;
  /** Nonce of the transaction or of the batch that carries it; null until assigned. */
  readonly nonce: number | null;
  readonly createdAt: string;
  /** Attempts of the transaction or of the batch that carries it, oldest first. */
  readonly attempts: readonly ShownAttempt[];
}

/** A signed transaction. Several attempts of one transaction have the same nonce, of which one can be mined. */
export interface ShownAttempt {
  readonly hash: string;
  /** Wei per gas, or micro-lamports per compute unit. */
  readonly gasPriceMax: bigint;
  readonly signedAt: string;
  readonly sentAt: string | null;
  /** Whether a node accepted it. */
  readonly accepted: boolean;
}

/** Returns the transactions of a settlement, oldest first. */
export async function listTransactions(db: Db, id: string): Promise<ShownTransaction[]> {
  const rows = await db
    .selectFrom("transactions")
    .leftJoin("transactions as carrier", "carrier.id", "transactions.carrier_id")
    .selectAll("transactions")
    .select("carrier.nonce as carrier_nonce")
    .where("transactions.settlement_id", "=", id)
    .orderBy("transactions.created_at")
    .orderBy("transactions.id")
    .execute();
  return Promise.all(
    rows.map(async (row) => ({
      intent: row.intent,
      chainId: row.chain_id,
      state: row.state,
      succeeded: row.succeeded,
      minedHash: row.mined_hash,
      minedBlock: row.mined_block_number,
      lane: row.lane,
      nonce: row.nonce ?? row.carrier_nonce,
      createdAt: row.created_at,
      attempts: await listAttempts(db, row.carrier_id ?? row.id),
    })),
  );
}

async function listAttempts(db: Db, transactionId: string): Promise<ShownAttempt[]> {
  const rows = await db
    .selectFrom("attempts")
    .select(["hash", "max_fee_per_gas", "created_at", "sent_at", "accepted"])
    .where("transaction_id", "=", transactionId)
    .orderBy("number")
    .execute();
  return rows.map((row) => ({
    hash: row.hash,
    gasPriceMax: BigInt(row.max_fee_per_gas),
    signedAt: row.created_at,
    sentAt: row.sent_at,
    accepted: row.accepted,
  }));
}
