import type { Address } from "../core/hex.ts";
import type { Db } from "../db/schema.ts";

/** Returns whether somebody else settled a holding at or after a block, as its commitment allowed. */
export async function wasSettledUnattended(
  db: Db,
  holding: { readonly chainId: number; readonly wallet: Address; readonly token: Address },
  fromBlock: bigint,
): Promise<boolean> {
  const row = await db
    .selectFrom("outflows")
    .select("log_index")
    .where("chain_id", "=", holding.chainId)
    .where("wallet", "=", holding.wallet)
    .where("token", "=", holding.token)
    .where("kind", "=", "unattended")
    .where("block_number", ">=", fromBlock)
    .executeTakeFirst();
  return row !== undefined;
}
