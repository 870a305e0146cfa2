/** One word for what became of a deposit, from its block, its gate, its settlement and what left its wallet later. */
import { type DepositOutcome as Outcome, SETTLEMENT_STATUSES } from "@sluice/sdk/wire";
import type { SettlementStatus } from "@sluice/sdk/wire";
import { sql } from "kysely";

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
