import { type EvmAddress, toEvmAddress } from "../core/hex.ts";
import type { Db } from "../db/schema.ts";

/** Returns the distinct EVM refund authorities of integrators and issued addresses, sorted. */
export async function listRefundAuthorities(db: Db): Promise<readonly EvmAddress[]> {
  const rows = await db
    .selectFrom("integrators")
    .select("refund_evm as authority")
    .union(
      db
        .selectFrom("addresses")
        .select("refund_authority as authority")
        .where("chain_family", "=", "evm"),
    )
    .execute();
  return rows.map(({ authority }) => toEvmAddress(authority)).toSorted();
}
