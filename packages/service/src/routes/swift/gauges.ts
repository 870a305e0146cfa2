/** Gauges of deliveries from inventory and of attestation requests that have not ended. */
import { sql } from "kysely";
import type { RowGauge } from "../../telemetry/row-gauge.ts";
import { stagesTable } from "./overdue-claims.ts";

export const swiftGauges: readonly RowGauge[] = [
  {
    role: "settler",
    name: "deliveries",
    help: "Deliveries that have not ended, by state.",
    oldestName: "deliveries_oldest_age_seconds",
    oldestHelp: "Age in seconds of the oldest delivery in a state, since its lock was recorded.",
    labels: ["chain", "state"],
    select: (age) => sql`select 'deliveries', dest_chain, state, count(*)::float8, ${age}
        from deliveries where state not in ('claimed', 'returned', 'taken_back')
        group by dest_chain, state`,
  },
  {
    role: "settler",
    name: "claims_overdue",
    help: "Payouts that were not claimed 6, 24 and 48 hours after their lock; each counts under every hour that it passed.",
    oldestName: "claims_overdue_oldest_age_seconds",
    oldestHelp:
      "Age in seconds of the oldest payout without its claim, since its lock was recorded.",
    labels: ["chain", "kind"],
    warnsOf: "6h",
    select: (age, nowMs) => sql`select 'claims_overdue', src_chain, kind, count(*)::float8, ${age}
        from deliveries join ${stagesTable}
          on after_s <= ${BigInt(Math.floor(nowMs / 1000))} - locked_at
        where state in ('delivered', 'claiming') group by src_chain, kind`,
  },
  {
    role: "settler",
    name: "early_payouts_usd",
    help: "Worth of payouts for locks that are not final, in US dollars: `counted` against the exposure, and of these `missing` from final blocks.",
    oldestName: "early_payouts_oldest_age_seconds",
    oldestHelp: "Age in seconds of the oldest payout that is counted, since it was counted.",
    labels: ["chain", "state"],
    warnsOf: "missing",
    select: (
      age,
    ) => sql`select 'early_payouts_usd', src_chain, state, sum(worth / 1e18)::float8, ${age}
        from (select src_chain, worth, counted_at as created_at, kind as state from early_payouts
          cross join (values ('counted'), ('missing')) kinds (kind)
          where kind = 'counted' or missing_at is not null) as early group by src_chain, state`,
  },
  {
    role: "settler",
    name: "early_payouts_closed",
    help: "Whether the early payouts of a chain are closed: by the `service`, because a lock is missing, or by an `operator`.",
    oldestName: "early_payouts_closed_age_seconds",
    oldestHelp: "Age in seconds of the closure.",
    labels: ["chain", "kind"],
    select: (age) => sql`select 'early_payouts_closed', src_chain, kind, count(*)::float8, ${age}
        from (select src_chain, closed_at as created_at,
            case when closed_by is null then 'service' else 'operator' end as kind
          from early_closures where opened_at is null) as closed group by src_chain, kind`,
  },
  {
    role: "settler",
    name: "early_losses_usd",
    help: "Payouts whose lock never became final, as operators accepted them, in US dollars.",
    oldestName: "early_losses_age_seconds",
    oldestHelp: "Age in seconds of the first loss.",
    labels: ["chain", "state"],
    select: (
      age,
    ) => sql`select 'early_losses_usd', src_chain, 'accepted' as state, sum(worth / 1e18)::float8, ${age}
        from (select d.src_chain, l.worth, l.accepted_at as created_at from early_losses l
          join deliveries d on d.id = l.delivery_id where l.recovered_at is null) as lost group by src_chain`,
  },
  {
    role: "attestor",
    name: "attestation_requests_open",
    help: "Attestation requests that are unanswered and not expired.",
    oldestName: "attestation_requests_oldest_age_seconds",
    oldestHelp: "Age in seconds of the oldest unanswered attestation request.",
    labels: ["kind"],
    select: (
      age,
      nowMs,
    ) => sql`select 'attestation_requests_open', null, kind, count(*)::float8, ${age}
        from attestations where not exists (select from attestation_answers
          where attestation_id = id and (signature is not null or refusal is not null))
        and deadline > ${BigInt(Math.floor(nowMs / 1000))} group by kind`,
  },
];
