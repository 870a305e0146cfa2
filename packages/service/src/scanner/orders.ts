/**
 * Orders of operators to the scanner. A block that no node answers for is skipped: the scanner moves over it by its header
 * alone. The comparison of balances finds the native coin that was in it, and the auditor the tokens. Blocks that are read
 * again later give their deposits to the ledger.
 */
import type { Db } from "../db/schema.ts";

/** An order to read final blocks again, from `next` on. */
export interface Reread {
  readonly id: bigint;
  readonly next: bigint;
  readonly through: bigint;
}

interface Order {
  readonly chainId: number;
  readonly operator: string;
  readonly reason: string;
}

/** Records the order to skip a block. */
export async function orderSkip(db: Db, order: Order & { readonly block: bigint }): Promise<void> {
  const { chainId, block, operator, reason } = order;
  await db
    .insertInto("scanner_orders")
    .values({
      chain_id: chainId,
      kind: "skip",
      from_block: block,
      through_block: block,
      next_block: null,
      operator,
      reason,
    })
    .execute();
}

/** Records the order to read the blocks of a range again, as far as they are final. */
export async function orderReread(
  db: Db,
  order: Order & { readonly from: bigint; readonly through: bigint },
): Promise<void> {
  const { chainId, from, through, operator, reason } = order;
  await db
    .insertInto("scanner_orders")
    .values({
      chain_id: chainId,
      kind: "reread",
      from_block: from,
      through_block: through,
      next_block: from,
      operator,
      reason,
    })
    .execute();
}

/** Returns the lowest block above `after` and up to `through` that is to be skipped, or null. */
export async function findSkip(
  db: Db,
  chainId: number,
  { after, through }: { readonly after: bigint; readonly through: bigint },
): Promise<bigint | null> {
  const row = await db
    .selectFrom("scanner_orders")
    .select("from_block")
    .where("chain_id", "=", chainId)
    .where("kind", "=", "skip")
    .where("from_block", ">", after)
    .where("from_block", "<=", through)
    .orderBy("from_block")
    .limit(1)
    .executeTakeFirst();
  return row?.from_block ?? null;
}

/** Returns the oldest open order to read blocks again, or null. */
export async function findReread(db: Db, chainId: number): Promise<Reread | null> {
  const row = await db
    .selectFrom("scanner_orders")
    .select(["id", "next_block", "through_block"])
    .where("chain_id", "=", chainId)
    .where("next_block", "is not", null)
    .orderBy("id")
    .limit(1)
    .executeTakeFirst();
  if (!row || row.next_block === null) return null;
  return { id: row.id, next: row.next_block, through: row.through_block };
}

/** Records that an order's blocks are read again up to `through`. */
export async function putReread(db: Db, order: Reread, through: bigint): Promise<void> {
  await db
    .updateTable("scanner_orders")
    .set({ next_block: through < order.through ? through + 1n : null })
    .where("id", "=", order.id)
    .where("next_block", "=", order.next)
    .execute();
}
