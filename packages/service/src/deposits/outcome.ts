/** One word for what became of a deposit, from its block, its gate, its settlement and what left its wallet later. */
import { type DepositOutcome as Outcome, SETTLEMENT_STATUSES } from "@sluice/sdk/wire";
import type { SettlementStatus } from "@sluice/sdk/wire";
import { type AliasableExpression, sql } from "kysely";
import type { Address, TxHash } from "../core/hex.ts";
import type { Db } from "../db/schema.ts";

/** SQL about a row of `deposits`: the kind of the first outflow after it that was no sweep of ours; null without one. */
export const TAKEN_BY = sql<"refunded" | "unattended" | null>`(
  select o.kind from outflows o
  where o.chain_id = deposits.chain_id and o.wallet = deposits.wallet and o.token = deposits.token
    and o.kind in ('refunded', 'unattended')
    and (o.block_number, o.log_index) > (deposits.block_number, deposits.log_index)
  order by o.block_number, o.log_index limit 1)`;

/** Facts that decide the outcome. */
export interface OutcomeFacts {
  readonly isOrphaned: boolean;
  readonly ignoredReason: string | null;
  /** Status of its settlement; null while it has none. */
  readonly status: SettlementStatus | null;
  readonly takenBy: "refunded" | "unattended" | null;
}

/** Returns the outcome. A settlement that completed took its deposits, whatever left the wallet later. */
export function outcomeOf({ isOrphaned, ignoredReason, status, takenBy }: OutcomeFacts): Outcome {
  if (isOrphaned) return "orphaned";
  const category = status && SETTLEMENT_STATUSES[status].category;
  if (category === "success") return "settled";
  if (category === "retrying") return "held";
  if (category === "waiting" || category === "active") return "settling";
  if (takenBy !== null) return takenBy === "refunded" ? "refunded" : "settled";
  if (category === "failed") return "dead";
  if (ignoredReason === "below_token_min" || ignoredReason === "below_min") return "below_minimum";
  return ignoredReason === "no_adapter" ? "no_route" : "queued";
}

/** Returns what became of the deposit that a transaction made in a wallet; null while it is not recorded, or is orphaned. */
export async function findDepositOutcome(
  db: Db,
  {
    chainId,
    wallet,
    token,
    txHash,
    status,
  }: {
    readonly chainId: number;
    readonly wallet: Address;
    readonly token: Address;
    readonly txHash: TxHash;
    /** As in `DepositView`. */
    readonly status: AliasableExpression<string | null>;
  },
): Promise<Outcome | null> {
  const row = await db
    .selectFrom("deposits")
    .select(["ignored_reason", status.as("settlement_status"), TAKEN_BY.as("taken_by")])
    .where("chain_id", "=", chainId)
    .where("wallet", "=", wallet)
    .where("token", "=", token)
    .where("tx_hash", "=", txHash)
    .where("orphaned_at", "is", null)
    .executeTakeFirst();
  if (!row) return null;
  return outcomeOf({
    isOrphaned: false,
    ignoredReason: row.ignored_reason,
    // CAST: held by the column's check constraint.
    status: row.settlement_status as SettlementStatus | null,
    takenBy: row.taken_by,
  });
}
