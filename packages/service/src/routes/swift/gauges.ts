/** Gauges of deliveries from inventory and of attestation requests that have not ended. */
import { sql } from "kysely";
import type { RowGauge } from "../../telemetry/row-gauge.ts";

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
        from attestations where signature is null and refusal is null
        and deadline > ${BigInt(Math.floor(nowMs / 1000))} group by kind`,
  },
];
