/** The table `payout_searches`: how far the search for a payout's transaction has come. */
import type { Hex32 } from "../../core/hex.ts";
import type { Db } from "../../db/schema.ts";

/** Progress of a search. Heights are of the destination, the ends included; nothing is left if the first is the greater. */
export interface Search {
  readonly firstLeft: bigint;
  readonly lastLeft: bigint;
  /** Blocks of the next part. */
  readonly partBlocks: bigint;
  /** Searches before this one that ended without a result. */
  readonly rounds: number;
}

/** Returns the search of a delivery; null if none is under way. */
export async function get(db: Db, deliveryId: Hex32): Promise<Search | null> {
  const row = await db
    .selectFrom("payout_searches")
    .select(["first_left", "last_left", "part_blocks", "rounds"])
    .where("delivery_id", "=", deliveryId)
    .executeTakeFirst();
  if (!row) return null;
  return {
    firstLeft: row.first_left,
    lastLeft: row.last_left,
    partBlocks: row.part_blocks,
    rounds: row.rounds,
  };
}

/** Inserts or replaces the search of a delivery. */
export async function write(db: Db, deliveryId: Hex32, search: Search): Promise<void> {
  const progress = {
    first_left: search.firstLeft,
    last_left: search.lastLeft,
    part_blocks: search.partBlocks,
    rounds: search.rounds,
  };
  await db
    .insertInto("payout_searches")
    .values({ delivery_id: deliveryId, ...progress })
    .onConflict((conflict) => conflict.column("delivery_id").doUpdateSet(progress))
    .execute();
}

/** Ends the search of a delivery. */
export async function remove(db: Db, deliveryId: Hex32): Promise<void> {
  await db.deleteFrom("payout_searches").where("delivery_id", "=", deliveryId).execute();
}
