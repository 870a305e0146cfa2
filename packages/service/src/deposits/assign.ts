/**
 * Which settlement has which deposit: a settlement waits for deposits, and its mined sweep takes those before it on the
 * chain. Settlements are above this folder, so their part of a condition is handed in, and each assignment stays one
 * statement.
 */
import { type Expression, sql, type SqlBool } from "kysely";
import { formatStamp } from "../core/stamp.ts";
import type { Tx } from "../db/schema.ts";
import type { ArrivedValue, Holding } from "./types.ts";

/** Conditions on the settlements of a deposit: SQL about the row of `deposits` that a statement here changes. */
export interface SettlementConditions {
  /** The settlement of the deposit is dead. */
  readonly isDead: Expression<SqlBool>;
  /** It is dead because its deposits left the chain. */
  readonly isDeadByReorg: Expression<SqlBool>;
  /** Its mined sweep is before the deposit on the chain. */
  readonly hasSweptBefore: Expression<SqlBool>;
  /** Id of the settlement whose mined sweep is the next after the deposit; null where there is none. */
  readonly taker: Expression<string | null>;
}

/**
 * The transfers that are new to us, and whether others came back. A known one that was orphaned, or that is now in another
 * block, gets its new place and is not counted twice; if no settlement has it, or one that gave up because it had left the
 * chain, its holding is looked at again.
 */
export async function refreshKnown(
  tx: Tx,
  settlements: SettlementConditions,
  arrived: ArrivedValue,
  nowMs: number,
): Promise<{ readonly fresh: ArrivedValue; readonly hasMoved: boolean }> {
  const known = await tx
    .selectFrom("deposits")
    .select(["id", "tx_hash", "ordinal", "block_hash", "orphaned_at", "settlement_id"])
    .where("chain_id", "=", arrived.chainId)
    .where("wallet", "=", arrived.wallet)
    .where("token", "=", arrived.token)
    .where(
      sql<boolean>`(tx_hash = any(${arrived.transfers.flatMap(({ txHash }) => txHash ?? [])})
        or (tx_hash is null and block_hash = ${arrived.blockHash}))`,
    )
    .execute();
  const byPlace = new Map(known.map((row) => [`${row.tx_hash ?? ""}:${row.ordinal}`, row]));
  const fresh = [];
  let hasMoved = false;
  for (const transfer of arrived.transfers) {
    const row = byPlace.get(`${transfer.txHash ?? ""}:${transfer.ordinal}`);
    if (!row) {
      fresh.push(transfer);
    } else if (row.block_hash !== arrived.blockHash || row.orphaned_at !== null) {
      hasMoved = true;
      await tx
        .updateTable("deposits")
        .set({
          block_number: arrived.blockNumber,
          block_hash: arrived.blockHash,
          log_index: transfer.logIndex,
          amount: transfer.amount,
          orphaned_at: null,
          recheck_at: row.settlement_id === null ? formatStamp(nowMs) : null,
        })
        .where("id", "=", row.id)
        .execute();
    }
  }
  if (hasMoved) {
    await releaseFromReorged(tx, settlements, arrived, nowMs);
    await assignBySweeps(tx, settlements, arrived, nowMs);
  }
  return { fresh: { ...arrived, transfers: fresh }, hasMoved };
}

/** Gives a new settlement the deposits that no sweep has taken and no settlement waits for. */
export async function assignUnsettled(
  tx: Tx,
  holding: Holding,
  settlementId: string,
): Promise<void> {
  await tx
    .updateTable("deposits")
    .set({ settlement_id: settlementId })
    .where("chain_id", "=", holding.chainId)
    .where("wallet", "=", holding.wallet)
    .where("token", "=", holding.token)
    .where("settlement_id", "is", null)
    .execute();
}

/**
 * Settles who took what once a sweep is mined: deposits before it in chain order are the sweep's, whatever their event
 * said, and those after it wait for the next.
 */
export async function assignSwept(
  tx: Tx,
  settlements: SettlementConditions,
  holding: Holding,
  sweep: {
    readonly settlementId: string;
    readonly block: bigint;
    readonly logIndex: number;
    /** Where it took no more than what arrived up to a block. */
    readonly upTo?: bigint | undefined;
    /** When what it did not take is looked at again, should nothing else come of it. */
    readonly recheckAtMs: number;
  },
): Promise<void> {
  const before =
    sweep.upTo === undefined
      ? sql<boolean>`(block_number, log_index) < (${sweep.block}, ${sweep.logIndex})`
      : sql<boolean>`block_number <= ${sweep.upTo}`;
  const ofHolding = tx
    .updateTable("deposits")
    .where("chain_id", "=", holding.chainId)
    .where("wallet", "=", holding.wallet)
    .where("token", "=", holding.token);
  await ofHolding
    .set({ settlement_id: sweep.settlementId })
    .where((eb) =>
      // What an earlier settlement gave up is taken along by the one that does sweep.
      eb.or([eb("settlement_id", "is", null), settlements.isDead]),
    )
    .where(before)
    .execute();
  await ofHolding
    .set({ settlement_id: null, recheck_at: formatStamp(sweep.recheckAtMs) })
    .where("settlement_id", "=", sweep.settlementId)
    .where(sql<boolean>`not ${before}`)
    .execute();
}

/**
 * The same for deposits that came to their place after a sweep was recorded, as a scanner that is behind finds them
 * after a reorganisation: one before a sweep is the sweep's, one behind the sweep of its settlement waits for the next.
 * Assumes the lock of the holding.
 */
export async function assignBySweeps(
  tx: Tx,
  settlements: SettlementConditions,
  holding: Holding,
  nowMs: number,
): Promise<void> {
  const ofHolding = tx
    .updateTable("deposits")
    .where("chain_id", "=", holding.chainId)
    .where("wallet", "=", holding.wallet)
    .where("token", "=", holding.token)
    .where("orphaned_at", "is", null);
  await ofHolding
    .set({ settlement_id: null, recheck_at: formatStamp(nowMs) })
    .where(settlements.hasSweptBefore)
    .execute();
  await ofHolding
    .set({ settlement_id: settlements.taker })
    .where("settlement_id", "is", null)
    .where(sql<boolean>`${settlements.taker} is not null`)
    .execute();
}

/** Takes the deposits away from a settlement that in the end took nothing; they are looked at at once. */
export async function releaseDeposits(tx: Tx, settlementId: string, nowMs: number): Promise<void> {
  await tx
    .updateTable("deposits")
    .set({ settlement_id: null, recheck_at: formatStamp(nowMs) })
    .where("settlement_id", "=", settlementId)
    .execute();
}

/** Takes deposits that are on the chain away from settlements that gave up because theirs had left it. */
async function releaseFromReorged(
  tx: Tx,
  settlements: SettlementConditions,
  holding: Holding,
  nowMs: number,
): Promise<void> {
  await tx
    .updateTable("deposits")
    .set({ settlement_id: null, recheck_at: formatStamp(nowMs) })
    .where("chain_id", "=", holding.chainId)
    .where("wallet", "=", holding.wallet)
    .where("token", "=", holding.token)
    .where("orphaned_at", "is", null)
    .where(settlements.isDeadByReorg)
    .execute();
}
