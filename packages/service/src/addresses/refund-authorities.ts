/**
 * Refund authorities, for the doctor: where a contract is the authority on one chain and has no code on another, a stranger
 * may claim its address there.
 */
import { type EvmAddress, toEvmAddress } from "../core/hex.ts";
import type { Db } from "../db/schema.ts";

/** Returns the distinct EVM refund authorities of integrators and issued addresses, sorted. */
export async function listRefundAuthorities(db: Db): Promise<readonly EvmAddress[]> {
  const rows = await db
    .selectFrom("integrators")
    .select("refund_evm as authority")
    // An issued address has its own authority, whatever the row of its integrator says now.
    .union(
      db
        .selectFrom("addresses")
        .select("refund_authority as authority")
        .where("chain_family", "=", "evm"),
    )
    .execute();
  return rows.map(({ authority }) => toEvmAddress(authority)).toSorted();
}
