/** The transactions of a settlement, as an operator is shown them. */
import type { Db } from "../db/schema.ts";

export interface ShownTransaction {
  readonly intent: string;
  readonly chainId: number;
  readonly state: string;
  /** Null until mined. */
  readonly succeeded: boolean | null;
  readonly minedHash: string | null;
  readonly minedBlock: bigint | null;
  /** The lane that sends it. */
  readonly lane: string;
  /** Its own, or that of the batch that carries it. */
  readonly nonce: number | null;
  readonly createdAt: string;
  /** What was signed for it, oldest first; of a batch that carries it, the batch's. */
  readonly attempts: readonly ShownAttempt[];
}

export interface ShownAttempt {
  readonly hash: string;
  readonly maxFeePerGas: bigint;
  readonly signedAt: string;
  readonly sentAt: string | null;
  /** Whether a node took it. */
  readonly accepted: boolean;
}

/** Lists the transactions that were planned for a settlement, oldest first. */
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
    maxFeePerGas: BigInt(row.max_fee_per_gas),
    signedAt: row.created_at,
    sentAt: row.sent_at,
    accepted: row.accepted,
  }));
}
