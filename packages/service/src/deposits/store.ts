import { sql } from "kysely";
import type { BlockId } from "../chains/port/index.ts";
import { compare } from "../core/compare.ts";
import { toAddress } from "../core/hex.ts";
import type { Random } from "../core/ports.ts";
import { formatStamp } from "../core/stamp.ts";
import { takeTurns } from "../jobs/turns.ts";
import type { Db, Tx } from "../db/schema.ts";
import type { ArrivedTransfer, ArrivedValue, DepositOutcome, Holding, OpenValue } from "./types.ts";

/** Rows per statement: a block may contain tens of thousands of transfers. */
const ROWS_MAX = 1_000;

/** New transfers of one holding, with the owner of its wallet and the outcome that was decided for them. */
export interface NewDeposits {
  readonly arrived: ArrivedValue;
  readonly owner: { readonly addressId: string; readonly integratorId: string };
  readonly outcome: DepositOutcome;
}

/** Records new transfers as deposits. Returns the ids of each holding's deposits, in the order of its transfers. */
export async function insertDeposits(
  tx: Tx,
  random: Random,
  added: readonly NewDeposits[],
  { nowMs, recheckAtMs }: { readonly nowMs: number; readonly recheckAtMs: number },
): Promise<readonly (readonly string[])[]> {
  const ids = added.map(({ arrived }) => arrived.transfers.map(() => random.uuid()));
  const rows = added.flatMap(({ arrived, owner, outcome }, place) => {
    const settlementId = outcome.queued ? outcome.settlementId : null;
    return arrived.transfers.map((transfer, position) => ({
      id: ids[place]?.[position],
      chain_id: arrived.chainId,
      wallet: arrived.wallet,
      token: arrived.token,
      tx_hash: transfer.txHash,
      ordinal: transfer.ordinal,
      log_index: transfer.logIndex,
      sender: transfer.from,
      amount: transfer.amount.toString(),
      block_number: arrived.blockNumber.toString(),
      block_hash: arrived.blockHash,
      address_id: owner.addressId,
      integrator_id: owner.integratorId,
      settlement_id: settlementId,
      queued: outcome.queued,
      ignored_reason: outcome.queued ? null : outcome.reason,
      detected_at: formatStamp(nowMs),
      recheck_at: settlementId === null ? formatStamp(recheckAtMs) : null,
    }));
  });
  // Each row locks its settlement; everything locks settlements in the order of their ids.
  const ordered = rows.toSorted((a, b) => compare(a.settlement_id ?? "", b.settlement_id ?? ""));
  for (let from = 0; from < ordered.length; from += ROWS_MAX) {
    const some = JSON.stringify(ordered.slice(from, from + ROWS_MAX));
    await sql`insert into deposits (id, chain_id, wallet, token, tx_hash, ordinal, log_index, sender, amount,
        block_number, block_hash, address_id, integrator_id, settlement_id, queued, ignored_reason,
        detected_at, recheck_at)
      select * from jsonb_to_recordset(${some}::jsonb) as added (id uuid, chain_id integer, wallet text,
        token text, tx_hash text, ordinal integer, log_index integer, sender text, amount numeric,
        block_number bigint, block_hash text, address_id uuid, integrator_id uuid, settlement_id uuid,
        queued boolean, ignored_reason text, detected_at timestamptz, recheck_at timestamptz)`.execute(
      tx,
    );
  }
  return ids;
}

/** A holding with deposits that have no settlement, and the detection time of the oldest. */
export interface Unsettled extends Holding {
  readonly addressId: string;
  readonly integratorId: string;
  readonly oldestMs: number;
}

/**
 * Returns the holdings of the unsettled deposits of a chain that are due for a re-check. Integrators take turns; `limit` is
 * the number of deposits.
 */
export async function listUnsettled(
  db: Db,
  args: { readonly chainId: number; readonly nowMs: number; readonly limit: number },
): Promise<{ readonly holdings: readonly Unsettled[]; readonly mayBeMore: boolean }> {
  const turns = takeTurns({
    table: "deposits",
    open: sql`chain_id = ${args.chainId} and settlement_id is null and orphaned_at is null`,
    due: sql`recheck_at <= ${formatStamp(args.nowMs)}`,
    since: "recheck_at",
    limit: args.limit,
  });
  const rows = await db
    .selectFrom("deposits")
    .select(["chain_id", "wallet", "token", "address_id", "integrator_id"])
    .select((eb) => [eb.fn.min("detected_at").as("oldest"), eb.fn.countAll<bigint>().as("count")])
    .innerJoin(turns.as("turns"), (join) => join.onRef("turns.id", "=", "deposits.id"))
    .groupBy(["chain_id", "wallet", "token", "address_id", "integrator_id"])
    .orderBy((eb) => eb.fn.min("turns.place"))
    .execute();
  const holdings = rows.map((row) => ({
    chainId: row.chain_id,
    wallet: toAddress(row.wallet),
    token: toAddress(row.token),
    addressId: row.address_id,
    integratorId: row.integrator_id,
    oldestMs: Date.parse(row.oldest),
  }));
  const deposits = rows.reduce((sum, { count }) => sum + Number(count), 0);
  return { holdings, mayBeMore: deposits === args.limit };
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

/** Splits the transfers of a block into those that are recorded as deposits of it, and the others. Neither has empty arrivals. */
export async function splitRecorded(
  db: Db | Tx,
  block: { readonly number: bigint; readonly hash: string },
  arrivals: readonly ArrivedValue[],
): Promise<{ readonly recorded: OpenValue[]; readonly open: OpenValue[] }> {
  const [first] = arrivals;
  if (!first) return { recorded: [], open: [] };
  const rows = await db
    .selectFrom("deposits")
    .select(["wallet", "token", "tx_hash", "ordinal", "amount"])
    .where("chain_id", "=", first.chainId)
    .where("block_number", "=", block.number)
    .where("block_hash", "=", block.hash)
    .where("orphaned_at", "is", null)
    .execute();
  const rowsOf = Map.groupBy(rows, ({ wallet, token }) => `${wallet}:${token}`);
  const [recorded, open]: [OpenValue[], OpenValue[]] = [[], []];
  for (const arrived of arrivals) {
    const known = rowsOf.get(`${arrived.wallet}:${arrived.token}`) ?? [];
    const places = new Set(known.map(({ tx_hash, ordinal }) => `${tx_hash}:${ordinal}`));
    const isKnown = ({ txHash, ordinal }: ArrivedTransfer) => places.has(`${txHash}:${ordinal}`);
    const recordedAmount = known.reduce((sum, { amount }) => sum + BigInt(amount), 0n);
    const [old, others] = [
      arrived.transfers.filter(isKnown),
      arrived.transfers.filter((one) => !isKnown(one)),
    ];
    if (old.length > 0) recorded.push({ ...arrived, transfers: old, recordedAmount });
    if (others.length > 0) open.push({ ...arrived, transfers: others, recordedAmount });
  }
  return { recorded, open };
}

/** Gives deposits of a block the amounts of their transfers. Assumes the lock of the holding. */
export async function restateAmounts(tx: Tx, arrived: ArrivedValue): Promise<void> {
  for (const { txHash, ordinal, amount } of arrived.transfers) {
    await tx
      .updateTable("deposits")
      .set({ amount })
      .where("chain_id", "=", arrived.chainId)
      .where("wallet", "=", arrived.wallet)
      .where("token", "=", arrived.token)
      .where("tx_hash", "=", txHash)
      .where("ordinal", "=", ordinal)
      .where("block_hash", "=", arrived.blockHash)
      .where("orphaned_at", "is", null)
      .execute();
  }
}

/**
 * Returns the positions of the arrivals that have a transfer which is already recorded as a deposit, in any block.
 * Assumes that every transfer has a transaction.
 */
export async function listKnown(
  db: Db | Tx,
  arrivals: readonly ArrivedValue[],
): Promise<ReadonlySet<number>> {
  const [first] = arrivals;
  if (!first) return new Set();
  const places = arrivals.flatMap(({ wallet, token, transfers }, place) =>
    [...new Set(transfers.map(({ txHash }) => txHash))].map((txHash) => ({
      place,
      wallet,
      token,
      txHash,
    })),
  );
  const { rows } = await sql<{ place: number }>`
    select place from unnest(
      ${places.map(({ place }) => place)}::int[],
      ${places.map(({ wallet }) => wallet)}::text[],
      ${places.map(({ token }) => token)}::text[],
      ${places.map(({ txHash }) => txHash)}::text[]
    ) as stated (place, wallet, token, tx_hash)
    where exists (
      select from deposits where chain_id = ${first.chainId} and deposits.wallet = stated.wallet
        and deposits.token = stated.token and deposits.tx_hash = stated.tx_hash
    )`.execute(db);
  return new Set(rows.map(({ place }) => place));
}

/** Reports whether all arrivals of a block are recorded as its deposits. */
export async function hasAllAt(
  db: Db,
  block: { readonly number: bigint; readonly hash: string },
  arrivals: readonly ArrivedValue[],
): Promise<boolean> {
  return (await splitRecorded(db, block, arrivals)).open.length === 0;
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
