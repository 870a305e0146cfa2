/**
 * Assigns deposits to settlements. A settlement holds deposits while it waits; its mined sweep takes the deposits before
 * it on the chain. Settlements are a layer above this folder, so the caller passes their part of each condition, and
 * each assignment remains one statement.
 */
import { type Expression, sql, type SqlBool } from "kysely";
import { assert } from "../core/assert.ts";
import { formatStamp } from "../core/stamp.ts";
import { eachOf, gatherCalls } from "../db/gather.ts";
import type { Db, Tx } from "../db/schema.ts";
import type { ArrivedValue, Holding } from "./types.ts";

/** Conditions on the settlement of a deposit: SQL about the row of `deposits` that a statement here updates. */
export interface SettlementConditions {
  /** The settlement of the deposit is dead. */
  readonly isDead: Expression<SqlBool>;
  /** The settlement is dead because its deposits were orphaned. */
  readonly isDeadByReorg: Expression<SqlBool>;
  /** The settlement's mined sweep is before the deposit on the chain. */
  readonly hasSweptBefore: Expression<SqlBool>;
  /** Id of the settlement with the next mined sweep after the deposit; null when there is none. */
  readonly taker: Expression<string | null>;
}

/**
 * Returns the transfers that are not recorded yet, and whether recorded ones moved. A recorded transfer that was
 * orphaned, or that is in another block now, is updated and not counted twice. Without a settlement, or with one that
 * ended by the reorg, it becomes due for a re-check.
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

/** Assigns to a settlement the deposits of its holding that have no settlement. */
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

/** Assigns the unsettled deposits of holdings, each named once, to their settlements. */
export async function assignAllUnsettled(
  tx: Tx,
  assigned: readonly { readonly holding: Holding; readonly settlementId: string }[],
): Promise<void> {
  const holdings = eachOf(assigned.map(({ holding }) => holding));
  const ids = assigned.map(({ settlementId }) => settlementId);
  await sql`
    update "deposits" as deposit set settlement_id = (${ids}::uuid[])[held.place]
      from ${holdings}
     where deposit.chain_id = held.chain_id and deposit.wallet = held.wallet and deposit.token = held.token
       and deposit.settlement_id is null`.execute(tx);
}

/** Returns the base units of a holding's deposits that have a given settlement or none. */
export async function sumOpen(tx: Tx, holding: Holding, settlementId: string): Promise<bigint> {
  const { total } = await tx
    .selectFrom("deposits")
    .select((eb) => eb.fn.sum<string | null>("amount").as("total"))
    .where("chain_id", "=", holding.chainId)
    .where("wallet", "=", holding.wallet)
    .where("token", "=", holding.token)
    .where("orphaned_at", "is", null)
    .where((eb) => eb.or([eb("settlement_id", "is", null), eb("settlement_id", "=", settlementId)]))
    .executeTakeFirstOrThrow();
  return BigInt(total ?? "0");
}

/**
 * Returns the last block before the newest deposits that add up to an amount, of those up to a block that no other settlement
 * took: with first in, first out, the rest of the balance arrived up to there.
 *
 * Zero while the deposits add up to less: the log of an older one may be left out, and no part may take credit for it before
 * it is recorded.
 */
export async function findEndBeforeNewest(
  db: Db,
  { isDead }: Pick<SettlementConditions, "isDead">,
  {
    holding,
    settlementId,
    upTo,
    amount,
  }: {
    readonly holding: Holding;
    readonly settlementId: string;
    readonly upTo: bigint;
    readonly amount: bigint;
  },
): Promise<bigint> {
  const newest = db
    .selectFrom("deposits")
    .select([
      "block_number",
      // The deposits of one block stay together.
      sql<string>`sum(amount) over (order by block_number desc)`.as("sum"),
    ])
    .where("chain_id", "=", holding.chainId)
    .where("wallet", "=", holding.wallet)
    .where("token", "=", holding.token)
    .where("orphaned_at", "is", null)
    .where("block_number", "<=", upTo)
    .where((eb) =>
      eb.or([eb("settlement_id", "is", null), eb("settlement_id", "=", settlementId), isDead]),
    );
  const row = await db
    .selectFrom(newest.as("newest"))
    .select((eb) => [
      eb.fn.max("block_number").filterWhere("sum", ">=", amount.toString()).as("first"),
    ])
    .executeTakeFirstOrThrow();
  return row.first === null ? 0n : row.first - 1n;
}

/**
 * Returns the last block whose deposits a mined sweep took in full, with those before it, or undefined if it left nothing of
 * what arrived before it: first in, first out. Unlike the block that was planned, it follows the deposits that a reorg moved. Null
 * until the sweep is recorded as an outflow.
 */
export async function findEndOfPart(
  tx: Tx,
  holding: Holding,
  sweep: { readonly block: bigint; readonly logIndex: number },
): Promise<bigint | undefined | null> {
  const { rows } = await sql<{ seen: boolean; left: string; first: bigint | null }>`
    with known as(
      select block_number, log_index, amount from deposits
       where chain_id = ${holding.chainId} and wallet = ${holding.wallet} and token = ${holding.token}
         and orphaned_at is null and (block_number, log_index) < (${sweep.block}, ${sweep.logIndex})
    ), taken as(
      select block_number, log_index, amount from outflows
       where chain_id = ${holding.chainId} and wallet = ${holding.wallet} and token = ${holding.token}
         and (block_number, log_index) <= (${sweep.block}, ${sweep.logIndex})
    ), rest as(
      select coalesce((select sum(amount) from known), 0) - coalesce((select sum(amount) from taken), 0) as amount
    ), newest as(
      select block_number, sum(amount) over (order by block_number desc) as sum from known
    )
    select exists (select from taken where block_number = ${sweep.block} and log_index = ${sweep.logIndex}) as seen,
           (select amount from rest)::text as left,
           (select max(block_number) from newest where sum >= (select amount from rest)) as first`.execute(
    tx,
  );
  const [row] = rows;
  if (!row?.seen) return null;
  if (BigInt(row.left) <= 0n) return undefined;
  return row.first === null ? 0n : BigInt(row.first) - 1n;
}

/** Returns when the oldest deposit was detected, in milliseconds, that no sweep or refund took; null without any. */
export async function findOldestLeft(
  db: Db,
  { isDead }: Pick<SettlementConditions, "isDead">,
  { chainId, wallet, token }: Holding,
): Promise<number | null> {
  const lastOutflow = sql<bigint>`coalesce((select max(block_number) from outflows
    where chain_id = ${chainId} and wallet = ${wallet} and token = ${token}), -1)`;
  const row = await db
    .selectFrom("deposits")
    .select("detected_at")
    .where("chain_id", "=", chainId)
    .where("wallet", "=", wallet)
    .where("token", "=", token)
    .where("orphaned_at", "is", null)
    .where((eb) => eb.or([eb("settlement_id", "is", null), isDead]))
    .where("block_number", ">", lastOutflow)
    .orderBy("detected_at")
    .limit(1)
    .executeTakeFirst();
  return row ? Date.parse(row.detected_at) : null;
}

/** A mined sweep of a holding. */
interface Swept {
  readonly settlementId: string;
  readonly block: bigint;
  readonly logIndex: number;
  /** The last block whose deposits it took, where the sweep names one. */
  readonly upTo?: bigint | undefined;
  /** When deposits that it did not take are re-checked, unless a settlement takes them first. */
  readonly recheckAtMs: number;
}

/**
 * Assigns deposits by a mined sweep: those before it in chain order belong to the sweep, whatever their event reported;
 * those after it wait for the next settlement.
 */
export function assignSwept(
  tx: Tx,
  settlements: SettlementConditions,
  holding: Holding,
  sweep: Swept,
): Promise<void> {
  return assignAllSwept(tx, { settlements, holding, sweep });
}

const assignAllSwept = gatherCalls(
  async (
    tx,
    all: readonly {
      readonly settlements: SettlementConditions;
      readonly holding: Holding;
      readonly sweep: Swept;
    }[],
  ) => {
    const [first] = all;
    assert(first, "there is a sweep");
    const swept = sql`unnest(
      ${all.map(({ holding }) => holding.chainId)}::integer[], ${all.map(({ holding }) => holding.wallet)}::text[],
      ${all.map(({ holding }) => holding.token)}::text[], ${all.map(({ sweep }) => sweep.settlementId)}::uuid[],
      ${all.map(({ sweep }) => sweep.block)}::bigint[], ${all.map(({ sweep }) => sweep.logIndex)}::integer[],
      ${all.map(({ sweep }) => sweep.upTo ?? null)}::bigint[],
      ${all.map(({ sweep }) => formatStamp(sweep.recheckAtMs))}::timestamptz[]
    ) as swept (chain, holder, coin, settlement, block, position, up_to, recheck)`;
    const ofHolding = sql`chain_id = swept.chain and wallet = swept.holder and token = swept.coin`;
    const isBefore = sql`case when swept.up_to is null
      then (block_number, log_index) < (swept.block, swept.position) else block_number <= swept.up_to end`;
    // The sweep also takes deposits of earlier settlements that are dead.
    await sql`
      update "deposits" set settlement_id = swept.settlement from ${swept}
       where ${ofHolding} and (settlement_id is null or ${first.settlements.isDead}) and ${isBefore}`.execute(
      tx,
    );
    await sql`
      update "deposits" set settlement_id = null, recheck_at = swept.recheck from ${swept}
       where ${ofHolding} and settlement_id = swept.settlement and not ${isBefore}`.execute(tx);
    return all.map(() => undefined);
  },
);

/**
 * Assigns deposits that were recorded, or moved by a reorg, after a sweep was recorded. A deposit before a sweep belongs
 * to that sweep; one after its own settlement's sweep waits for the next settlement. Assumes the lock of the holding.
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
    .where(sql<boolean>`${settlements.taker} is not null`)
    .where(sql<boolean>`settlement_id is distinct from ${settlements.taker}`)
    .execute();
}

/** Releases the deposits of a settlement whose sweep finally took nothing. They are due for a re-check at once. */
export async function releaseDeposits(tx: Tx, settlementId: string, nowMs: number): Promise<void> {
  await tx
    .updateTable("deposits")
    .set({ settlement_id: null, recheck_at: formatStamp(nowMs) })
    .where("settlement_id", "=", settlementId)
    .execute();
}

/** Releases deposits that are on the chain again from settlements that ended because of a reorg. */
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
