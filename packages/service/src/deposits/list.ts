import type { Deposit, IgnoredReason } from "@sluice/sdk/wire";
import { type AliasableExpression, sql } from "kysely";
import { displayTxHash } from "../core/base58.ts";
import { type Address, toAddress, type TxHash } from "../core/hex.ts";
import type { Db } from "../db/schema.ts";

/** Position of the last deposit of a page; the next page continues after it. */
export interface DepositCursor {
  readonly detectedAt: string;
  readonly id: string;
}

/** Returns a page of an integrator's deposits, newest first, after `cursor`. */
export async function listDeposits(
  db: Db,
  integratorId: string,
  page: {
    readonly limit: number;
    readonly cursor: DepositCursor | undefined;
    readonly wallet: Address | undefined;
    readonly chainId: number | undefined;
    readonly txHash: TxHash | undefined;
    readonly display: (address: Address) => string;
    /** The newest scanned block of a deposit's chain, as SQL about the row of `deposits`. */
    readonly tip: AliasableExpression<bigint | null>;
  },
): Promise<{ items: Deposit[]; nextCursor: string | null }> {
  let query = db
    .selectFrom("deposits")
    .innerJoin("addresses", "addresses.id", "deposits.address_id")
    .selectAll("deposits")
    .select("addresses.user_id")
    .select(page.tip.as("tip"))
    .where("deposits.integrator_id", "=", integratorId)
    .orderBy("deposits.detected_at", "desc")
    .orderBy("deposits.id", "desc")
    .limit(page.limit + 1);
  const { cursor, wallet, chainId, txHash } = page;
  if (cursor) {
    // Several deposits may share a millisecond: the id orders them.
    query = query.where(
      sql<boolean>`(deposits.detected_at, deposits.id)
        < (${cursor.detectedAt}::timestamptz, ${cursor.id}::uuid)`,
    );
  }
  if (wallet !== undefined) query = query.where("deposits.wallet", "=", wallet);
  if (chainId !== undefined) query = query.where("deposits.chain_id", "=", chainId);
  if (txHash !== undefined) query = query.where("deposits.tx_hash", "=", txHash);
  const rows = await query.execute();
  const items = rows.slice(0, page.limit).map((row): Deposit => ({
    id: row.id,
    chainId: row.chain_id,
    walletAddress: page.display(toAddress(row.wallet)),
    userId: row.user_id,
    tokenAddress: page.display(toAddress(row.token)),
    amount: row.amount,
    txHash: row.tx_hash && displayTxHash(row.tx_hash),
    sender: row.sender === null ? null : page.display(toAddress(row.sender)),
    blockNumber: Number(row.block_number),
    confirmations: row.orphaned_at === null ? confirmationsOf(row.tip, row.block_number) : 0,
    queued: row.queued,
    // CAST: held by the column's check constraint.
    ignoredReason: row.ignored_reason as IgnoredReason | null,
    queueItemId: row.settlement_id,
    detectedAt: row.detected_at,
  }));
  const last = rows.length > page.limit ? items.at(-1) : undefined;
  return { items, nextCursor: last ? `${last.detectedAt}_${last.id}` : null };
}

/** Returns the number of blocks from the deposit's block to the newest scanned one, both included; at least 1. */
function confirmationsOf(tip: bigint | null, blockNumber: bigint): number {
  const blocks = (tip ?? blockNumber) - blockNumber + 1n;
  return blocks < 1n ? 1 : Number(blocks);
}
