import type { BlockRef, Outflow } from "../chains/port.ts";
import { toHex32 } from "../core/hex.ts";
import type { Db, Tx } from "../db/schema.ts";
import {
  insertOutflows,
  orphanAbove,
  orphanOthers,
  removeOutflowsAbove,
} from "../deposits/index.ts";

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

/** How far the scanned chain has been final, by what the node said at the time; null before the first block. */
export async function getScannedFinal(db: Db, chainId: number): Promise<bigint | null> {
  const row = await db
    .selectFrom("scanner_finality")
    .select("number")
    .where("chain_id", "=", chainId)
    .executeTakeFirst();
  return row?.number ?? null;
}

/** Moves the cursor onto a block whose deposits are recorded, with what left wallets of ours in it, and forgets blocks below the window. */
export async function pushBlock(
  tx: Tx,
  chainId: number,
  block: BlockRef,
  args: {
    readonly outflows: readonly Outflow[];
    /** What the node calls final. */
    readonly finalNumber: bigint;
    readonly windowBlocks: number;
    readonly nowMs: number;
  },
): Promise<void> {
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
    .execute();
}

/** Takes a block that left the chain off the window and marks its deposits; returns how many those are. */
export async function popBlock(
  tx: Tx,
  chainId: number,
  block: BlockRef,
  nowMs: number,
): Promise<number> {
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
