/** The table `payout_searches`: how far the search for a payout's transaction has come. */
import { type Selectable, sql } from "kysely";
import type { Hex32 } from "../../core/hex.ts";
import { gather } from "../../db/gather.ts";
import type { Database, Db } from "../../db/schema.ts";

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
export const get = gather(async (db, deliveryIds: readonly Hex32[]) => {
  const rows = await db
    .selectFrom("payout_searches")
    .select(["delivery_id", "first_left", "last_left", "part_blocks", "rounds"])
    .where(sql<boolean>`delivery_id = any(${deliveryIds}::text[])`)
    .execute();
  return rows.map((row) => [row.delivery_id, row] as const);
}, parseSearch);

function parseSearch(
  row: Pick<
    Selectable<Database["payout_searches"]>,
    "first_left" | "last_left" | "part_blocks" | "rounds"
  >,
): Search {
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
