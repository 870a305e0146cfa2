import type { DepositAddress } from "@sluice/sdk/wire";
import { type EvmAddress, toEvmAddress } from "../core/hex.ts";
import type { Db } from "../db/schema.ts";

/** A page of an integrator's deposit addresses, newest first, strictly older than `cursor`. */
export async function listAddresses(
  db: Db,
  integratorId: string,
  page: {
    readonly limit: number;
    readonly cursor?: string | undefined;
    readonly display: (address: EvmAddress) => string;
  },
): Promise<{ items: DepositAddress[]; nextCursor: string | null }> {
  let query = db
    .selectFrom("addresses")
    .selectAll()
    .where("integrator_id", "=", integratorId)
    .orderBy("created_at", "desc")
    .limit(page.limit + 1);
  if (page.cursor !== undefined) query = query.where("created_at", "<", page.cursor);
  const rows = await query.execute();
  const show = (text: string) => page.display(toEvmAddress(text));
  const items = rows.slice(0, page.limit).map((row) => ({
    id: row.id,
    walletAddress: show(row.wallet),
    userId: row.user_id,
    destChain: String(row.dest_chain),
    destWallet: show(row.dest_wallet),
    destToken: show(row.dest_token),
    chainType: "evm" as const,
    createdAt: row.created_at,
  }));
  const more = rows.length > page.limit;
  return { items, nextCursor: more ? (items.at(-1)?.createdAt ?? null) : null };
}
