/** Gauges of bridge transfers that have not ended. */
import { sql } from "kysely";
import type { RowGauge } from "../../telemetry/row-gauge.ts";

export const bridgeGauges: readonly RowGauge[] = [
  {
    role: "settler",
    name: "bridge_transfers",
    help: "Bridge transfers that have not ended, by state.",
    oldestName: "bridge_transfers_oldest_age_seconds",
    oldestHelp:
      "Age in seconds of the oldest bridge transfer in a state, since its burn was recorded.",
    labels: ["chain", "state"],
    select: (age) => sql`select 'bridge_transfers', dest_chain, state, count(*)::float8, ${age}
        from bridge_transfers where state in ('burned', 'attested', 'delivered')
        group by dest_chain, state`,
  },
];
