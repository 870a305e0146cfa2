import type { BlockId } from "../chains/port/index.ts";
import { toAddress } from "../core/hex.ts";
import type { Random } from "../core/ports.ts";
import { formatStamp } from "../core/stamp.ts";
import type { Db, Tx } from "../db/schema.ts";
import type { ArrivedValue, DepositOutcome, Holding } from "./types.ts";

/** Rows per statement: PostgreSQL accepts 65,535 parameters, and a block may contain far more transfers. */
const ROWS_MAX = 1_000;

/** Records new transfers as deposits, with the outcome that was decided for them. */
export async function insertDeposits(
  tx: Tx,
  random: Random,
  arrived: ArrivedValue,
  owner: { readonly addressId: string; readonly integratorId: string },
  decision: {
    readonly outcome: DepositOutcome;
    readonly nowMs: number;
    readonly recheckAtMs: number;
  },
): Promise<void> {
  const { outcome, nowMs, recheckAtMs } = decision;
  const settlementId = outcome.queued ? outcome.settlementId : null;
  for (let from = 0; from < arrived.transfers.length; from += ROWS_MAX) {
    await tx
      .insertInto("deposits")
      .values(
        arrived.transfers.slice(from, from + ROWS_MAX).map((transfer) => ({
          id: random.uuid(),
          chain_id: arrived.chainId,
          wallet: arrived.wallet,
          token: arrived.token,
          tx_hash: transfer.txHash,
          ordinal: transfer.ordinal,
          log_index: transfer.logIndex,
          sender: transfer.from,
          amount: transfer.amount,
          block_number: arrived.blockNumber,
          block_hash: arrived.blockHash,
          address_id: owner.addressId,
          integrator_id: owner.integratorId,
          settlement_id: settlementId,
          queued: outcome.queued,
          ignored_reason: outcome.queued ? null : outcome.reason,
          detected_at: formatStamp(nowMs),
          recheck_at: settlementId === null ? formatStamp(recheckAtMs) : null,
        })),
      )
      .execute();
  }
}

/** A holding with deposits that have no settlement, and the detection time of the oldest. */
export interface Unsettled extends Holding {
  readonly addressId: string;
  readonly integratorId: string;
  readonly oldestMs: number;
}

/** Returns holdings with unsettled deposits that are due for a re-check. */
export async function listUnsettled(
  db: Db,
  args: { readonly nowMs: number; readonly limit: number },
): Promise<Unsettled[]> {
  const rows = await db
    .selectFrom("deposits")
    .select(["chain_id", "wallet", "token", "address_id", "integrator_id"])
    .select((eb) => eb.fn.min("detected_at").as("oldest"))
    .where("settlement_id", "is", null)
    .where("orphaned_at", "is", null)
    .where("recheck_at", "<=", formatStamp(args.nowMs))
    .groupBy(["chain_id", "wallet", "token", "address_id", "integrator_id"])
    .limit(args.limit)
    .execute();
  return rows.map((row) => ({
    chainId: row.chain_id,
    wallet: toAddress(row.wallet),
    token: toAddress(row.token),
    addressId: row.address_id,
    integratorId: row.integrator_id,
    oldestMs: Date.parse(row.oldest),
  }));
}

/** Sets when the unsettled deposits of a holding are re-checked. */
export async function rescheduleUnsettled(
  db: Db | Tx,
  holding: Holding,
  atMs: number,
): Promise<void> {
  await db
    .updateTable("deposits")
    .set({ recheck_at: formatStamp(atMs) })
    .where("chain_id", "=", holding.chainId)
    .where("wallet", "=", holding.wallet)
    .where("token", "=", holding.token)
    .where("settlement_id", "is", null)
    .execute();
}

/** Returns whether a deposit of a holding is in a block above a height. */
export async function hasDepositAbove(db: Db, holding: Holding, height: bigint): Promise<boolean> {
  const row = await db
    .selectFrom("deposits")
    .select("id")
    .where("chain_id", "=", holding.chainId)
    .where("wallet", "=", holding.wallet)
    .where("token", "=", holding.token)
    .where("orphaned_at", "is", null)
    .where("block_number", ">", height)
    .limit(1)
    .executeTakeFirst();
  return row !== undefined;
}

/** Marks the deposits of orphaned blocks, those above a height. Returns how many were marked. */
export async function orphanAbove(
  tx: Tx,
  chainId: number,
  height: bigint,
  nowMs: number,
): Promise<number> {
  const result = await tx
    .updateTable("deposits")
    .set({ orphaned_at: formatStamp(nowMs) })
    .where("chain_id", "=", chainId)
    .where("block_number", ">", height)
    .where("orphaned_at", "is", null)
    .executeTakeFirst();
  return Number(result.numUpdatedRows);
}

/** Returns whether all arrivals of a block are recorded with this block's hash. */
export async function hasAllAt(
  tx: Tx,
  chainId: number,
  block: { readonly number: bigint; readonly hash: string },
  arrivals: readonly ArrivedValue[],
): Promise<boolean> {
  if (arrivals.length === 0) return true;
  const rows = await tx
    .selectFrom("deposits")
    .select(["wallet", "token", "tx_hash", "ordinal"])
    .where("chain_id", "=", chainId)
    .where("block_number", "=", block.number)
    .where("block_hash", "=", block.hash)
    .where("orphaned_at", "is", null)
    .execute();
  const recorded = new Set(
    rows.map(({ wallet, token, tx_hash, ordinal }) => [wallet, token, tx_hash, ordinal].join(":")),
  );
  return arrivals.every(({ wallet, token, transfers }) =>
    transfers.every(({ txHash, ordinal }) =>
      recorded.has([wallet, token, txHash, ordinal].join(":")),
    ),
  );
}

/**
 * Marks as orphaned the deposits of other blocks at the heights above `above` up to the last of `blocks`: they were recorded
 * for blocks that never became the cursor.
 */
export async function orphanOthers(
  tx: Tx,
  chainId: number,
  {
    above,
    blocks,
  }: {
    readonly above: bigint;
    readonly blocks: readonly [BlockId, ...BlockId[]];
  },
  nowMs: number,
): Promise<void> {
  const hashes = blocks.map(({ hash }) => hash);
  const last = blocks.at(-1) ?? blocks[0];
  await tx
    .updateTable("deposits")
    .set({ orphaned_at: formatStamp(nowMs) })
    .where("chain_id", "=", chainId)
    .where("block_number", ">", above)
    .where("block_number", "<=", last.number)
    .where("block_hash", "not in", hashes)
    .where("orphaned_at", "is", null)
    .execute();
}

/** Counts a settlement's deposits and the orphaned ones among them, and returns the highest block of any. */
export async function countOrphaned(
  db: Db | Tx,
  settlementId: string,
): Promise<{ readonly all: number; readonly orphaned: number; readonly highest: bigint }> {
  const row = await db
    .selectFrom("deposits")
    .select((eb) => [
      eb.fn.countAll<bigint>().as("all"),
      eb.fn.count<bigint>("orphaned_at").as("orphaned"),
      eb.fn.max("block_number").as("highest"),
    ])
    .where("settlement_id", "=", settlementId)
    .executeTakeFirstOrThrow();
  return {
    all: Number(row.all),
    orphaned: Number(row.orphaned),
    // `max` of no rows is null.
    highest: row.highest ?? 0n,
  };
}
