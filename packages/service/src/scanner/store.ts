import { expressionBuilder, sql } from "kysely";
import type { BlockRef, Outflow } from "../chains/port/index.ts";
import { toHex32 } from "../core/hex.ts";
import { formatStamp } from "../core/stamp.ts";
import type { Database, Db, Tx } from "../db/schema.ts";
import {
  type ArrivedValue,
  hasAllAt,
  insertOutflows,
  orphanAbove,
  orphanOthers,
  removeOutflowsAbove,
} from "../deposits/index.ts";
import { lockCursor, reverseAdjustmentsAbove } from "../ledger/index.ts";
import { announceFinalRefunds, announceRefunds, type IntakeDeps } from "../settlements/index.ts";

const ofDeposit = expressionBuilder<Database, "deposits">();

/** SQL for heights of a deposit's chain; null before the first block. */
export const HEIGHTS_OF_DEPOSIT = {
  /** The newest scanned block. */
  tip: ofDeposit
    .selectFrom("scanner_blocks")
    .whereRef("scanner_blocks.chain_id", "=", "deposits.chain_id")
    .select((block) => block.fn.max("number").as("tip"))
    .$asScalar(),
  /** The newest final block. */
  final: ofDeposit
    .selectFrom("scanner_finality")
    .whereRef("scanner_finality.chain_id", "=", "deposits.chain_id")
    .select("number")
    .$asScalar(),
  /** Ids of an integrator's deposits in blocks that are not final, which are few at any time. */
  unfinal: (integratorId: string) => sql<string>`select unfinal.id
    from (select distinct chain_id from scanner_blocks) scanned
    left join scanner_finality using (chain_id)
    join deposits unfinal on unfinal.chain_id = scanned.chain_id
      and unfinal.block_number > coalesce(scanner_finality.number, -1)
    where unfinal.integrator_id = ${integratorId}::uuid and unfinal.orphaned_at is null`,
};

/** Returns the newest scanned and the newest final block of chains. Those that are not scanned have neither. */
export async function readHeights(
  db: Db,
  chainIds: readonly number[],
): Promise<ReadonlyMap<number, { readonly tip: bigint | null; readonly final: bigint | null }>> {
  const { rows } = await sql<{ chain_id: number; tip: bigint | null; final: bigint | null }>`
    select chain_id, (select max(number) from scanner_blocks b where b.chain_id = asked.chain_id) as tip,
           (select number from scanner_finality f where f.chain_id = asked.chain_id) as final
    from unnest(${[...new Set(chainIds)]}::int[]) as asked (chain_id)`.execute(db);
  return new Map(rows.map(({ chain_id, tip, final }) => [chain_id, { tip, final }]));
}

/** Returns the newest scanned block of a chain, which is its cursor; null before the first. */
export async function getTip(db: Db, chainId: number): Promise<BlockRef | null> {
  const row = await db
    .selectFrom("scanner_blocks")
    .selectAll()
    .where("chain_id", "=", chainId)
    .orderBy("number", "desc")
    .limit(1)
    .executeTakeFirst();
  if (!row) return null;
  return { number: row.number, hash: toHex32(row.hash), parentHash: toHex32(row.parent_hash) };
}

/**
 * The result of a scan does not follow from the cursor: a reorg happened between two reads, or another scanner moved the
 * cursor, as after a process froze, lost its role and woke. Results are recorded only under the lock of the cursor, so two
 * scanners never undo each other's work.
 */
export class CursorMoved extends Error {
  constructor(chainId: number) {
    super(`the scanned block of chain ${chainId} does not follow from the cursor`);
  }
}

/**
 * Locks the cursor until the end of the database transaction and returns it: exclusively to move it, shared to record
 * deposits under it.
 */
async function lockTip(tx: Tx, chainId: number, use: "move" | "record"): Promise<BlockRef | null> {
  await lockCursor(tx, chainId, use === "move" ? "alone" : "shared");
  return getTip(tx, chainId);
}

/** Locks the cursor for recording. @throws CursorMoved unless it is at `tip`; null before the first block. */
export async function assertTip(tx: Tx, chainId: number, tip: BlockRef | null): Promise<void> {
  checkTip(await lockTip(tx, chainId, "record"), chainId, tip);
}

function checkTip(actual: BlockRef | null, chainId: number, expected: BlockRef | null): void {
  if (actual?.hash !== expected?.hash) throw new CursorMoved(chainId);
}

/** Locks the cursor for recording. @throws CursorMoved unless `block` and every block before it are scanned. */
export async function assertScanned(tx: Tx, chainId: number, block: BlockRef): Promise<void> {
  const tip = await lockTip(tx, chainId, "record");
  const scanned = await getWindowHash(tx, chainId, block.number);
  // Below the window every block is final, so it is the scanned one.
  const isScanned = scanned === null ? isBelow(block, tip) : scanned === block.hash;
  if (!isScanned) throw new CursorMoved(chainId);
}

function isBelow(block: BlockRef, tip: BlockRef | null): boolean {
  return tip !== null && block.number < tip.number;
}

/** Returns the hash of the window's block at a height, or null if the window has none. */
export async function getWindowHash(
  db: Db,
  chainId: number,
  number: bigint,
): Promise<string | null> {
  const row = await db
    .selectFrom("scanner_blocks")
    .select("hash")
    .where("chain_id", "=", chainId)
    .where("number", "=", number)
    .executeTakeFirst();
  return row?.hash ?? null;
}

/** Returns the height of the window's next lower block, across skipped slots; null at the end of the window. */
export async function getNumberBelow(
  db: Db,
  chainId: number,
  number: bigint,
): Promise<bigint | null> {
  const row = await db
    .selectFrom("scanner_blocks")
    .select("number")
    .where("chain_id", "=", chainId)
    .where("number", "<", number)
    .orderBy("number", "desc")
    .limit(1)
    .executeTakeFirst();
  return row?.number ?? null;
}

/** Returns the height up to which the scanned blocks are certainly final; null before the first final one. */
export async function getScannedFinal(db: Db, chainId: number): Promise<bigint | null> {
  const row = await db
    .selectFrom("scanner_finality")
    .select("number")
    .where("chain_id", "=", chainId)
    .executeTakeFirst();
  return row?.number ?? null;
}

/** Heights of a chain's final blocks. */
export interface Finality {
  /** The height up to which the scanned blocks are certainly final. */
  readonly final: bigint;
  /** The height up to which they were read a second time; null before the first time. */
  readonly lookedAgain: bigint | null;
  /** The lowest block of the window. */
  readonly window: bigint;
}

/** Returns the heights; null before the first final block. */
export async function getFinality(db: Db, chainId: number): Promise<Finality | null> {
  const row = await db
    .selectFrom("scanner_finality")
    .innerJoin("scanner_blocks", "scanner_blocks.chain_id", "scanner_finality.chain_id")
    .where("scanner_finality.chain_id", "=", chainId)
    .groupBy(["scanner_finality.number", "looked_again"])
    .select(({ fn }) => [
      "scanner_finality.number as final",
      "looked_again as lookedAgain",
      fn.min("scanner_blocks.number").as("window"),
    ])
    .executeTakeFirst();
  return row ?? null;
}

/** Records that the blocks after `from` up to `through` need no second look, if those up to `from` need none. */
export async function putLookedAgain(
  db: Db,
  chainId: number,
  { from, through }: { readonly from: bigint | null; readonly through: bigint },
): Promise<void> {
  await db
    .updateTable("scanner_finality")
    .set({ looked_again: through })
    .where("chain_id", "=", chainId)
    .where("looked_again", "is not distinct from", from)
    .execute();
}

/** One block, or several in which nothing happened. */
export type Pushed = readonly [BlockRef, ...BlockRef[]];

/**
 * Moves the cursor over blocks whose deposits are recorded, records their outflows, and deletes blocks below the window.
 * Always keeps the newest final block and all above it, where a walk back after a reorg ends. The caller has checked that the
 * blocks are linked to the cursor, or are all final.
 * @throws CursorMoved unless the cursor is at `tip` and the deposits are recorded.
 */
export async function pushBlocks(
  tx: Tx,
  chainId: number,
  { tip, blocks }: { readonly tip: BlockRef | null; readonly blocks: Pushed },
  args: {
    /** The recorded deposits of the last block. A scanner that read a sibling may have moved them there meanwhile. */
    readonly arrivals: readonly ArrivedValue[];
    /** The outflows of the last block. */
    readonly outflows: readonly Outflow[];
    /** Height up to which the blocks are certainly final; null if nothing new is known. */
    readonly final: bigint | null;
    readonly windowBlocks: number;
    readonly nowMs: number;
    readonly settlements: Pick<IntakeDeps, "random" | "displayAddress">;
  },
): Promise<void> {
  checkTip(await lockTip(tx, chainId, "move"), chainId, tip);
  const [first] = blocks;
  const block = blocks.at(-1) ?? first;
  if (!(await hasAllAt(tx, block, args.arrivals))) throw new CursorMoved(chainId);
  const outflows = await insertOutflows(tx, chainId, block, args.outflows);
  const above = tip ? tip.number : first.number - 1n;
  await orphanOthers(tx, chainId, { above, blocks }, args.nowMs);
  await tx
    .insertInto("scanner_blocks")
    .values(
      blocks.map(({ number, hash, parentHash }) => ({
        chain_id: chainId,
        number,
        hash,
        parent_hash: parentHash,
      })),
    )
    .execute();
  const final = args.final !== null && args.final > block.number ? block.number : args.final;
  // Read before it moves: what becomes final by this push lies above.
  const finalBefore = final === null ? null : await getScannedFinal(tx, chainId);
  if (final !== null) {
    await tx
      .insertInto("scanner_finality")
      .values({ chain_id: chainId, number: final })
      .onConflict((conflict) =>
        conflict
          .column("chain_id")
          .doUpdateSet({ number: final })
          .where("scanner_finality.number", "<", final),
      )
      .execute();
  }
  await tx
    .deleteFrom("scanner_blocks")
    .where("chain_id", "=", chainId)
    .where("number", "<=", block.number - BigInt(args.windowBlocks))
    .where(
      sql<boolean>`number < coalesce((select max(newest.number) from scanner_blocks newest
        join scanner_finality using (chain_id)
        where newest.chain_id = ${chainId} and newest.number <= scanner_finality.number), 0)`,
    )
    .execute();
  // A block that is final at once is in the range below.
  await announceRefunds(tx, args.settlements, chainId, { ...block, isFinal: false }, outflows);
  if (final === null) return;
  const becameFinal = { after: finalBefore ?? -1n, through: final };
  await announceFinalRefunds(tx, args.settlements, chainId, becameFinal);
}

/**
 * Removes the newest block, which is orphaned, from the window, deletes its outflows and marks its deposits as orphaned.
 * Returns the number of those deposits.
 * @throws CursorMoved if it is not the newest any more.
 */
export async function popBlock(
  tx: Tx,
  chainId: number,
  block: BlockRef,
  nowMs: number,
): Promise<number> {
  if ((await lockTip(tx, chainId, "move"))?.hash !== block.hash) throw new CursorMoved(chainId);
  await tx
    .deleteFrom("scanner_blocks")
    .where("chain_id", "=", chainId)
    .where("number", "=", block.number)
    .execute();
  // Below the scanned final height only after an operator allowed it: the remaining blocks are final as before.
  await tx
    .updateTable("scanner_finality")
    .set({
      number: block.number - 1n,
      looked_again: sql`least(looked_again, ${block.number - 1n}::bigint)`,
    })
    .where("chain_id", "=", chainId)
    .where("number", ">=", block.number)
    .execute();
  // First, so that the lines of the orphaned facts are not posted back.
  await reverseAdjustmentsAbove(tx, chainId, block.number - 1n);
  await removeOutflowsAbove(tx, chainId, block.number - 1n);
  return orphanAbove(tx, chainId, block.number - 1n, nowMs);
}

/** Returns the newest scanned block that is not above a height; null if the window has none. */
export async function getScannedAt(
  db: Db,
  chainId: number,
  number: bigint,
): Promise<BlockRef | null> {
  const row = await db
    .selectFrom("scanner_blocks")
    .selectAll()
    .where("chain_id", "=", chainId)
    .where("number", "<=", number)
    .orderBy("number", "desc")
    .limit(1)
    .executeTakeFirst();
  if (!row) return null;
  return { number: row.number, hash: toHex32(row.hash), parentHash: toHex32(row.parent_hash) };
}

/** The place of the comparison of balances among an integrator's wallets. */
export interface Position {
  readonly integratorId: string;
  /** The last address that was passed. */
  readonly position: string;
  /** The time at which a round without delay was at this place. */
  readonly sweptMs: number;
}

/** Returns the positions of one list on a chain. */
export async function listPositions(
  db: Db,
  chainId: number,
  list: "all" | "fresh",
): Promise<Position[]> {
  const rows = await db
    .selectFrom("balance_rounds")
    .selectAll()
    .where("chain_id", "=", chainId)
    .where("list", "=", list)
    .execute();
  return rows.map((row) => ({
    integratorId: row.integrator_id,
    position: row.position,
    sweptMs: Date.parse(row.swept_at),
  }));
}

/** Records positions. */
export async function putPositions(
  db: Db,
  chainId: number,
  list: "all" | "fresh",
  positions: readonly Position[],
): Promise<void> {
  if (positions.length === 0) return;
  await sql`insert into balance_rounds (chain_id, list, integrator_id, position, swept_at)
    select ${chainId}, ${list}, integrator_id, position, swept_at from unnest(
      ${positions.map(({ integratorId }) => integratorId)}::uuid[],
      ${positions.map(({ position }) => position)}::text[],
      ${positions.map(({ sweptMs }) => formatStamp(sweptMs))}::timestamptz[]
    ) as passed (integrator_id, position, swept_at)
    on conflict (chain_id, list, integrator_id)
      do update set position = excluded.position, swept_at = excluded.swept_at`.execute(db);
}
