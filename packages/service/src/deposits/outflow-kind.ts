import type { Address } from "../core/hex.ts";
import type { Db } from "../db/schema.ts";

/**
 * Returns how a holding left its wallet at or after a block without a sweep of ours: settled by somebody else, as its
 * commitment allowed, or refunded. The newest counts; null if nothing left so.
 */
export async function findOutflowKind(
  db: Db,
  holding: { readonly chainId: number; readonly wallet: Address; readonly token: Address },
  fromBlock: bigint,
): Promise<"unattended" | "refunded" | null> {
  const row = await db
    .selectFrom("outflows")
    .select("kind")
    .where("chain_id", "=", holding.chainId)
    .where("wallet", "=", holding.wallet)
    .where("token", "=", holding.token)
    .where("kind", "in", ["unattended", "refunded"])
    .where("block_number", ">=", fromBlock)
    .orderBy("block_number", "desc")
    .orderBy("log_index", "desc")
    .limit(1)
    .executeTakeFirst();
  if (!row) return null;
  return row.kind === "unattended" ? "unattended" : "refunded";
}
