import { sql } from "kysely";
import { type Address, toAddress } from "../core/hex.ts";
import type { Random } from "../core/ports.ts";
import { formatStamp } from "../core/stamp.ts";
import type { Db, Tx } from "../db/schema.ts";
import type { ArrivedValue, DepositOutcome } from "./types.ts";

/** Rows of one statement: PostgreSQL takes 65,535 parameters, and a block may hold far more transfers. */
const ROWS_MAX = 1_000;

/**
 * The transfers that are new to us, and whether others came back. A known one that was orphaned, or that is now in another
 * block, gets its new place and is not counted twice; if no settlement has it, or one that gave up because it had left the
 * chain, its holding is looked at again.
 */
export async function refreshKnown(
  tx: Tx,
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
    await releaseOfGone(tx, arrived, nowMs);
    await assignBySweeps(tx, arrived, nowMs);
  }
  return { fresh: { ...arrived, transfers: fresh }, hasMoved };
}

/** Records new transfers with what became of them. */
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

/** A holding with deposits that no settlement has, and the age of the oldest of them. */
export interface Unsettled extends Place {
  readonly addressId: string;
  readonly integratorId: string;
  readonly oldestMs: number;
}

/** Holdings that are to be looked at again. */
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

/** Says when the unsettled deposits of a holding are looked at again. */
export async function putOffUnsettled(db: Db | Tx, place: Place, atMs: number): Promise<void> {
  await db
    .updateTable("deposits")
    .set({ recheck_at: formatStamp(atMs) })
    .where("chain_id", "=", place.chainId)
    .where("wallet", "=", place.wallet)
    .where("token", "=", place.token)
    .where("settlement_id", "is", null)
    .execute();
}

interface Place {
  readonly chainId: number;
  readonly wallet: Address;
  readonly token: Address;
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
  const ofPlace = tx
    .updateTable("deposits")
    .where("chain_id", "=", place.chainId)
    .where("wallet", "=", place.wallet)
    .where("token", "=", place.token);
  await ofPlace
    .set({ settlement_id: sweep.settlementId })
    .where((eb) =>
      eb.or([
        eb("settlement_id", "is", null),
        // What an earlier settlement gave up is taken along by the one that does sweep.
        eb.exists(
          eb
            .selectFrom("settlements")
            .select("id")
            .whereRef("settlements.id", "=", "deposits.settlement_id")
            .where("status", "=", "dead"),
        ),
      ]),
    )
    .where(before)
    .execute();
  await ofPlace
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
export async function assignBySweeps(tx: Tx, place: Place, nowMs: number): Promise<void> {
  const ofPlace = tx
    .updateTable("deposits")
    .where("chain_id", "=", place.chainId)
    .where("wallet", "=", place.wallet)
    .where("token", "=", place.token)
    .where("orphaned_at", "is", null);
  await ofPlace
    .set({ settlement_id: null, recheck_at: formatStamp(nowMs) })
    .where(
      sql<boolean>`exists (select from settlements s where s.id = deposits.settlement_id
        and (s.taken_block, s.taken_log_index) < (deposits.block_number, deposits.log_index))`,
    )
    .execute();
  const taker = sql<string | null>`(select s.id from settlements s
    where s.chain_id = deposits.chain_id and s.wallet = deposits.wallet and s.token = deposits.token
      and (s.taken_block, s.taken_log_index) > (deposits.block_number, deposits.log_index)
    order by s.taken_block, s.taken_log_index limit 1)`;
  await ofPlace
    .set({ settlement_id: taker })
    .where("settlement_id", "is", null)
    .where(sql<boolean>`${taker} is not null`)
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
async function releaseOfGone(tx: Tx, place: Place, nowMs: number): Promise<void> {
  await tx
    .updateTable("deposits")
    .set({ settlement_id: null, recheck_at: formatStamp(nowMs) })
    .where("chain_id", "=", place.chainId)
    .where("wallet", "=", place.wallet)
    .where("token", "=", place.token)
    .where("orphaned_at", "is", null)
    .where(
      sql<boolean>`exists (select from settlements s where s.id = deposits.settlement_id
        and s.status = 'dead' and s.error_code = 'REORG')`,
    )
    .execute();
}

/** Whether a deposit of a holding is in a block above a height. */
export async function hasDepositAbove(db: Db, place: Place, height: bigint): Promise<boolean> {
  const row = await db
    .selectFrom("deposits")
    .select("id")
    .where("chain_id", "=", place.chainId)
    .where("wallet", "=", place.wallet)
    .where("token", "=", place.token)
    .where("orphaned_at", "is", null)
    .where("block_number", ">", height)
    .limit(1)
    .executeTakeFirst();
  return row !== undefined;
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

/** Whether all of the arrivals are recorded, as of this block. */
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
  const there = new Set(
    rows.map(({ wallet, token, tx_hash, ordinal }) => [wallet, token, tx_hash, ordinal].join(":")),
  );
  return arrivals.every(({ wallet, token, transfers }) =>
    transfers.every(({ txHash, ordinal }) => there.has([wallet, token, txHash, ordinal].join(":"))),
  );
}

/** Marks deposits that were recorded from another block of this height, one that was never made the cursor. */
export async function orphanOthers(
  tx: Tx,
  chainId: number,
  block: { readonly number: bigint; readonly hash: string },
  nowMs: number,
): Promise<void> {
  await tx
    .updateTable("deposits")
    .set({ orphaned_at: formatStamp(nowMs) })
    .where("chain_id", "=", chainId)
    .where("block_number", "=", block.number)
    .where("block_hash", "<>", block.hash)
    .where("orphaned_at", "is", null)
    .execute();
}

/** How many deposits a settlement has, how many of them left the chain, and the highest block that held one. */
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
    // The maximum of no rows is null.
    highest: row.highest ?? 0n,
  };
}

/** Where the last deposit of a settlement stands on the chain; null when it has none there. */
export async function getLastDeposit(
  db: Db,
  settlementId: string,
): Promise<{ readonly block: bigint; readonly logIndex: number } | null> {
  const row = await db
    .selectFrom("deposits")
    .innerJoin("settlements", (join) =>
      // By the holding, which has an index.
      join
        .onRef("settlements.chain_id", "=", "deposits.chain_id")
        .onRef("settlements.wallet", "=", "deposits.wallet")
        .onRef("settlements.token", "=", "deposits.token"),
    )
    .select(["block_number", "log_index"])
    .where("settlements.id", "=", settlementId)
    .where("settlement_id", "=", settlementId)
    .where("orphaned_at", "is", null)
    .orderBy("block_number", "desc")
    .orderBy("log_index", "desc")
    .limit(1)
    .executeTakeFirst();
  return row ? { block: row.block_number, logIndex: row.log_index } : null;
}
