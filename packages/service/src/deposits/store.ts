import { sql } from "kysely";
import type { EvmAddress } from "../core/hex.ts";
import type { Random } from "../core/ports.ts";
import { formatStamp } from "../core/stamp.ts";
import type { Db, Tx } from "../db/schema.ts";
import type { ArrivedValue, DepositOutcome } from "./types.ts";

/**
 * Whether any of these transfers is new to us. A known one that was orphaned, or that is now in another block, gets its
 * new place and is not counted twice.
 */
export async function refreshKnown(
  tx: Tx,
  arrived: ArrivedValue,
): Promise<{ fresh: ArrivedValue }> {
  const fresh = [];
  for (const transfer of arrived.transfers) {
    const result = await tx
      .updateTable("deposits")
      .set({
        block_number: arrived.blockNumber,
        block_hash: arrived.blockHash,
        log_index: transfer.logIndex,
        orphaned_at: null,
      })
      .where("chain_id", "=", arrived.chainId)
      .where("tx_hash", "=", transfer.txHash)
      .where("ordinal", "=", transfer.ordinal)
      .where("wallet", "=", arrived.wallet)
      .executeTakeFirst();
    if (result.numUpdatedRows === 0n) fresh.push(transfer);
  }
  return { fresh: { ...arrived, transfers: fresh } };
}

/** Records new transfers with what became of them. */
export async function insertDeposits(
  tx: Tx,
  random: Random,
  arrived: ArrivedValue,
  owner: { readonly addressId: string; readonly integratorId: string },
  outcome: DepositOutcome,
): Promise<void> {
  if (arrived.transfers.length === 0) return;
  await tx
    .insertInto("deposits")
    .values(
      arrived.transfers.map((transfer) => ({
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
        settlement_id: outcome.queued ? outcome.settlementId : null,
        queued: outcome.queued,
        ignored_reason: outcome.queued ? null : outcome.reason,
      })),
    )
    .execute();
}

interface Place {
  readonly chainId: number;
  readonly wallet: EvmAddress;
  readonly token: EvmAddress;
}

/** Gives a new settlement the deposits that no sweep has taken and no settlement waits for. */
export async function assignUnsettled(tx: Tx, place: Place, settlementId: string): Promise<void> {
  await tx
    .updateTable("deposits")
    .set({ settlement_id: settlementId })
    .where("chain_id", "=", place.chainId)
    .where("wallet", "=", place.wallet)
    .where("token", "=", place.token)
    .where("settlement_id", "is", null)
    .execute();
}

/**
 * Settles who took what once a sweep is mined: deposits before it in chain order are the sweep's, whatever their event
 * said, and those after it wait for the next.
 */
export async function assignSwept(
  tx: Tx,
  place: Place,
  sweep: { readonly settlementId: string; readonly block: bigint; readonly logIndex: number },
): Promise<void> {
  const before = sql<boolean>`(block_number, log_index) < (${sweep.block}, ${sweep.logIndex})`;
  const ofPlace = tx
    .updateTable("deposits")
    .where("chain_id", "=", place.chainId)
    .where("wallet", "=", place.wallet)
    .where("token", "=", place.token);
  await ofPlace
    .set({ settlement_id: sweep.settlementId })
    .where("settlement_id", "is", null)
    .where(before)
    .execute();
  await ofPlace
    .set({ settlement_id: null })
    .where("settlement_id", "=", sweep.settlementId)
    .where(sql<boolean>`not ${before}`)
    .execute();
}

/** Marks the deposits of blocks above a height as orphaned: those blocks are no longer on the chain. */
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

/** How many deposits a settlement has, and how many of them left the chain. */
export async function countOrphaned(
  db: Db | Tx,
  settlementId: string,
): Promise<{ all: number; orphaned: number }> {
  const row = await db
    .selectFrom("deposits")
    .select((eb) => [
      eb.fn.countAll<bigint>().as("all"),
      eb.fn.count<bigint>("orphaned_at").as("orphaned"),
    ])
    .where("settlement_id", "=", settlementId)
    .executeTakeFirstOrThrow();
  return { all: Number(row.all), orphaned: Number(row.orphaned) };
}
