/** SQL that relates deposits to settlements. */
import { expressionBuilder, sql } from "kysely";
import type { Database, Db } from "../../db/schema.ts";
import type { SettlementConditions } from "../../deposits/index.ts";

const ofDeposit = expressionBuilder<Database, "deposits">();

/** Conditions that assign deposits to settlements; see `SettlementConditions`. */
export const SETTLEMENT_CONDITIONS: SettlementConditions = {
  isDead: ofDeposit.exists(
    ofDeposit
      .selectFrom("settlements")
      .select("id")
      .whereRef("settlements.id", "=", "deposits.settlement_id")
      .where("status", "=", "dead"),
  ),
  isDeadByReorg: sql<boolean>`exists (select from settlements s where s.id = deposits.settlement_id
        and s.status = 'dead' and s.error_code = 'REORG')`,
  hasSweptBefore: sql<boolean>`exists (select from settlements s where s.id = deposits.settlement_id
        and (s.taken_block, s.taken_log_index) < (deposits.block_number, deposits.log_index))`,
  // A sweep that finally reverted has an amount of zero.
  taker: sql<string | null>`(select s.id from settlements s
    where s.chain_id = deposits.chain_id and s.wallet = deposits.wallet and s.token = deposits.token
      and s.swept_amount > 0
      and (s.taken_block, s.taken_log_index) > (deposits.block_number, deposits.log_index)
    order by s.swept_block, s.swept_log_index limit 1)`,
};

/** The status of a deposit's settlement; null while it has none. */
export const STATUS_OF_DEPOSIT = ofDeposit
  .selectFrom("settlements")
  .whereRef("settlements.id", "=", "deposits.settlement_id")
  .select("settlements.status")
  .$asScalar();

/** Returns the chain position of a settlement's last deposit; null when it has none on the chain. */
export async function getLastDeposit(
  db: Db,
  settlementId: string,
): Promise<{ readonly block: bigint; readonly logIndex: number } | null> {
  const row = await db
    .selectFrom("deposits")
    .innerJoin("settlements", (join) =>
      // Joins by the holding, which has an index.
      join
        .onRef("settlements.chain_id", "=", "deposits.chain_id")
        .onRef("settlements.wallet", "=", "deposits.wallet")
        .onRef("settlements.token", "=", "deposits.token"),
    )
    .select(["block_number", "log_index"])
    .where("settlements.id", "=", settlementId)
    .where("settlement_id", "=", settlementId)
    .where("orphaned_at", "is", null)
    .orderBy("block_number", "desc")
    .orderBy("log_index", "desc")
    .limit(1)
    .executeTakeFirst();
  return row ? { block: row.block_number, logIndex: row.log_index } : null;
}
