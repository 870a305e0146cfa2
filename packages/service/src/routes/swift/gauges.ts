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
