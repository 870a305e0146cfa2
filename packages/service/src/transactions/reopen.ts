import type { Tx } from "../db/schema.ts";

/**
 * Follows final transactions above a height again, after final blocks were replaced: their lanes send those again that the
 * chain has lost. Returns their number.
 */
export async function reopenFinal(
  tx: Tx,
  above: { readonly chainId: number; readonly height: bigint },
): Promise<number> {
  const { numUpdatedRows } = await tx
    .updateTable("transactions")
    .set({ state: "mined" })
    .where("chain_id", "=", above.chainId)
    .where("state", "=", "final")
    .where("mined_block_number", ">", above.height)
    .executeTakeFirst();
  return Number(numUpdatedRows);
}
