/** Reads the blocks that the scanner recorded. */
import { sql } from "kysely";
import type { BlockRef, Chain } from "../chains/port/index.ts";
import type { Db } from "../db/schema.ts";

/** Returns whether the scanner processed exactly this block. */
export async function isScanned(db: Db, chainId: number, block: BlockRef): Promise<boolean> {
  const { rows: seen } = await sql<{ hash: string }>`
    select hash from scanner_blocks where chain_id = ${chainId} and number = ${block.number}`.execute(
    db,
  );
  return seen[0]?.hash === block.hash;
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
