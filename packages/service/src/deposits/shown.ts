/** Reads the deposits of a settlement for operators. */
import type { Db } from "../db/schema.ts";
import type { Address } from "../core/hex.ts";

export interface ShownDeposit {
  readonly amount: bigint;
  /** Null for a deposit found by balance. */
  readonly txHash: string | null;
  readonly sender: string | null;
  readonly block: bigint;
  readonly detectedAt: string;
  /** Time when its block was found orphaned; null on the chain. */
  readonly orphanedAt: string | null;
}

/** Returns the deposits of a settlement, in chain order. */
export async function listDepositsOf(
  db: Db,
  settlement: {
    readonly id: string;
    readonly chainId: number;
    readonly wallet: Address;
    readonly token: Address;
  },
): Promise<ShownDeposit[]> {
  const rows = await db
    .selectFrom("deposits")
    .selectAll()
    // Selects by the holding, which has an index.
    .where("chain_id", "=", settlement.chainId)
    .where("wallet", "=", settlement.wallet)
    .where("token", "=", settlement.token)
    .where("settlement_id", "=", settlement.id)
    .orderBy("block_number")
    .orderBy("log_index")
    .execute();
  return rows.map((row) => ({
    amount: BigInt(row.amount),
    txHash: row.tx_hash,
    sender: row.sender,
    block: row.block_number,
    detectedAt: row.detected_at,
    orphanedAt: row.orphaned_at,
  }));
}
