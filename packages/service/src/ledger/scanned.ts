/** Reads the blocks that the scanner recorded, and holds the lock of its cursor. */
import { sql } from "kysely";
import type { BlockRef, Chain } from "../chains/port/index.ts";
import type { Db, Tx } from "../db/schema.ts";

/**
 * Locks the scanner's cursor of a chain until the end of the database transaction: shared to record facts under it, alone to
 * move it, or to correct the books while nothing is recorded.
 */
export async function lockCursor(tx: Tx, chainId: number, use: "alone" | "shared"): Promise<void> {
  await (
    use === "alone"
      ? sql`select pg_advisory_xact_lock(12, ${chainId})`
      : sql`select pg_advisory_xact_lock_shared(12, ${chainId})`
  ).execute(tx);
}

/** Returns whether the scanner processed exactly this block. */
export async function isScanned(db: Db, chainId: number, block: BlockRef): Promise<boolean> {
  const { rows: seen } = await sql<{ hash: string }>`
    select hash from scanner_blocks where chain_id = ${chainId} and number = ${block.number}`.execute(
    db,
  );
  return seen[0]?.hash === block.hash;
}

/**
 * Returns the newest block, up to a final one, of which no log can be missing because a node left it out: it was final when it
 * was scanned, or has been read a second time. Null before the first, and while the node shows another one.
 */
export async function findCertain(
  { db, chain }: { readonly db: Db; readonly chain: Chain },
  final: BlockRef,
): Promise<BlockRef | null> {
  // On Solana a block is read whole, or not at all.
  if (chain.balances.kind === "final") return final;
  const { rows } = await sql<{ number: bigint; hash: string | null }>`
    select looked_again as number, b.hash from scanner_finality f
      left join scanner_blocks b on b.chain_id = f.chain_id and b.number = f.looked_again
     where f.chain_id = ${chain.chainId} and looked_again is not null`.execute(db);
  const [seen] = rows;
  if (!seen) return null;
  if (seen.number >= final.number) return final;
  const block = await chain.getBlock(seen.number);
  // Below the scanner's window every block is final.
  return block && (seen.hash === null || seen.hash === block.hash) ? block : null;
}

/** Returns whether the chain is scanned up to a final height. The hash must match: scanned blocks may be orphaned. */
export async function isReached(
  { db, chain }: { readonly db: Db; readonly chain: Chain },
  number: bigint,
): Promise<boolean> {
  if ((await readTip(db, chain.chainId)) < number) return false;
  const block = await chain.getBlock(number);
  return block !== null && isScanned(db, chain.chainId, block);
}

/** Returns the newest scanned height; -1 before the first block. */
export async function readTip(db: Db, chainId: number): Promise<bigint> {
  const { rows } = await sql<{ tip: bigint | null }>`
    select max(number) as tip from scanner_blocks where chain_id = ${chainId}`.execute(db);
  return rows[0]?.tip ?? -1n;
}
