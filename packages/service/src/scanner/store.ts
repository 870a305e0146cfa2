import { expressionBuilder, sql } from "kysely";
import type { BlockRef, Outflow } from "../chains/port/index.ts";
import { toHex32 } from "../core/hex.ts";
import type { Database, Db, Tx } from "../db/schema.ts";
import {
  type ArrivedValue,
  hasAllAt,
  insertOutflows,
  orphanAbove,
  orphanOthers,
  removeOutflowsAbove,
} from "../deposits/index.ts";

/** SQL for the number of the newest scanned block of a deposit's chain; null before the first. */
export const TIP_OF_DEPOSIT = expressionBuilder<Database, "deposits">()
  .selectFrom("scanner_blocks")
  .whereRef("scanner_blocks.chain_id", "=", "deposits.chain_id")
  .select((block) => block.fn.max("number").as("tip"))
  .$asScalar();

/** The newest scanned block of a chain: its cursor. Null before the first. */
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
 * What was found does not follow from where the cursor is: the chain moved between two reads, or another scanner moved
 * the cursor, as when one froze long enough to lose its role, and woke. Findings are recorded under the lock of the cursor
 * only, so two scanners never undo each other's work.
 */
export class CursorMoved extends Error {
  constructor(chainId: number) {
    super(`what was found of chain ${chainId} does not follow from where the cursor is`);
  }
}

/** Holds the cursor until the end of the transaction: alone to move it, with others to record under it. */
async function lockTip(tx: Tx, chainId: number, use: "move" | "record"): Promise<BlockRef | null> {
  await (
    use === "move"
      ? sql`select pg_advisory_xact_lock(12, ${chainId})`
      : sql`select pg_advisory_xact_lock_shared(12, ${chainId})`
  ).execute(tx);
  return getTip(tx, chainId);
}

/** @throws CursorMoved unless `block` is the one that comes next. */
export async function assertNext(tx: Tx, chainId: number, block: BlockRef): Promise<void> {
  checkNext(await lockTip(tx, chainId, "record"), chainId, block);
}

function checkNext(tip: BlockRef | null, chainId: number, block: BlockRef): void {
  if (tip && tip.hash !== block.parentHash) throw new CursorMoved(chainId);
}

/** @throws CursorMoved unless everything up to `block` is recorded, by the blocks that led to it. */
export async function assertScanned(tx: Tx, chainId: number, block: BlockRef): Promise<void> {
  const tip = await lockTip(tx, chainId, "record");
  const scanned = await getWindowHash(tx, chainId, block.number);
  // Older than the window: it is final, so it is the one that was scanned.
  const isScanned = scanned === null ? isBelow(block, tip) : scanned === block.hash;
  if (!isScanned) throw new CursorMoved(chainId);
}

function isBelow(block: BlockRef, tip: BlockRef | null): boolean {
  return tip !== null && block.number < tip.number;
}

/** The hash of a block of the window, or null when the window does not reach there. */
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

/** The height of the block of the window below a height, whatever slots were skipped in between; null where it ends. */
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

/** How far the scanned chain has been final, by what the node said at the time; null before the first block. */
export async function getScannedFinal(db: Db, chainId: number): Promise<bigint | null> {
  const row = await db
    .selectFrom("scanner_finality")
    .select("number")
    .where("chain_id", "=", chainId)
    .executeTakeFirst();
  return row?.number ?? null;
}

/** Moves the cursor onto a block whose deposits are recorded, with what left wallets of ours in it, and forgets blocks below the window; never the newest final one, nor what is above it: the way back leads there. Throws as `assertNext` does. */
export async function pushBlock(
  tx: Tx,
  chainId: number,
  block: BlockRef,
  args: {
    /** What is recorded of it: a scanner that read a sibling of this block may have moved it there meanwhile. */
    readonly arrivals: readonly ArrivedValue[];
    readonly outflows: readonly Outflow[];
    /** What the node calls final. */
    readonly finalNumber: bigint;
    readonly windowBlocks: number;
    readonly nowMs: number;
  },
): Promise<void> {
  checkNext(await lockTip(tx, chainId, "move"), chainId, block);
  if (!(await hasAllAt(tx, chainId, block, args.arrivals))) throw new CursorMoved(chainId);
  await insertOutflows(tx, chainId, block, args.outflows);
  await orphanOthers(tx, chainId, block, args.nowMs);
  await tx
    .insertInto("scanner_blocks")
    .values({
      chain_id: chainId,
      number: block.number,
      hash: block.hash,
      parent_hash: block.parentHash,
    })
    .execute();
  const final = args.finalNumber < block.number ? args.finalNumber : block.number;
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
  await tx
    .deleteFrom("scanner_blocks")
    .where("chain_id", "=", chainId)
    .where("number", "<=", block.number - BigInt(args.windowBlocks))
    .where(
      sql<boolean>`number < coalesce((select max(newest.number) from scanner_blocks newest
        where newest.chain_id = ${chainId} and newest.number <= ${final}), 0)`,
    )
    .execute();
}

/**
 * Takes the newest block, which left the chain, off the window and marks its deposits; returns how many those are.
 * @throws CursorMoved when it is not the newest any more.
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
  await removeOutflowsAbove(tx, chainId, block.number - 1n);
  return orphanAbove(tx, chainId, block.number - 1n, nowMs);
}

/** The wallet up to which the round over all wallets has come; null before the first and after the last. */
export async function getRound(db: Db, chainId: number): Promise<string | null> {
  const row = await db
    .selectFrom("balance_rounds")
    .select("last_wallet")
    .where("chain_id", "=", chainId)
    .executeTakeFirst();
  return row?.last_wallet ?? null;
}

/** Notes how far the round has come; null begins a new one. */
export async function putRound(db: Db, chainId: number, lastWallet: string | null): Promise<void> {
  if (lastWallet === null) {
    await db.deleteFrom("balance_rounds").where("chain_id", "=", chainId).execute();
    return;
  }
  await db
    .insertInto("balance_rounds")
    .values({ chain_id: chainId, last_wallet: lastWallet })
    .onConflict((conflict) => conflict.column("chain_id").doUpdateSet({ last_wallet: lastWallet }))
    .execute();
}
