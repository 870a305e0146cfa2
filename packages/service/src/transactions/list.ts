/** Lists the transactions of lanes for operators. */
import type { Db } from "../db/schema.ts";

/** A transaction of a lane that is not final. */
export interface OpenTransaction {
  readonly chainId: number;
  readonly lane: string;
  /** Null while it has none yet. */
  readonly nonce: number | null;
  readonly state: string;
  readonly intent: string;
  readonly settlementId: string | null;
  /** Whether a transfer of nothing takes its nonce. */
  readonly cancelled: boolean;
  /** Signed versions of it, and the hash of the newest. */
  readonly attempts: number;
  readonly hash: string | null;
  readonly createdAt: string;
}

/** Returns the transactions that are not final, by lane and nonce; those without a nonce last. */
export async function listOpenTransactions(
  db: Db,
  { chainId, limit }: { readonly chainId: number | undefined; readonly limit: number },
): Promise<readonly OpenTransaction[]> {
  const rows = await db
    .selectFrom("transactions as t")
    .select(["chain_id", "lane", "nonce", "state", "intent", "settlement_id", "cancelled"])
    .select((eb) => [
      "t.created_at",
      eb
        .selectFrom("attempts")
        .whereRef("transaction_id", "=", "t.id")
        .select((of) => of.fn.countAll<bigint>().as("count"))
        .as("attempts"),
      eb
        .selectFrom("attempts")
        .whereRef("transaction_id", "=", "t.id")
        .select("hash")
        .orderBy("number", "desc")
        .limit(1)
        .as("hash"),
    ])
    .where("state", "in", ["queued", "carried", "assigned", "mined"])
    .$if(chainId !== undefined, (query) => query.where("chain_id", "=", chainId ?? 0))
    .orderBy("chain_id")
    .orderBy("lane")
    .orderBy("nonce", (order) => order.asc().nullsLast())
    .orderBy("t.created_at")
    .limit(limit)
    .execute();
  return rows.map((row) => ({
    chainId: row.chain_id,
    lane: row.lane,
    nonce: row.nonce,
    state: row.state,
    intent: row.intent,
    settlementId: row.settlement_id,
    cancelled: row.cancelled,
    attempts: Number(row.attempts ?? 0n),
    hash: row.hash,
    createdAt: row.created_at,
  }));
}
