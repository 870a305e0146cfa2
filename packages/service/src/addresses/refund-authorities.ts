import { type EvmAddress, toEvmAddress } from "../core/hex.ts";
import type { Db } from "../db/schema.ts";

/** Lists the accounts that may take deposits on EVM chains back: of integrators and of issued addresses, each once. */
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
