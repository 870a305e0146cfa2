/** Gauges of moves that have not ended, and of those that failed within a day. */
import { sql } from "kysely";
import { formatStamp } from "../core/stamp.ts";
import type { RowGauge } from "../telemetry/row-gauge.ts";

const DAY_MS = 86_400_000;

export const MOVE_GAUGES: readonly RowGauge[] = [
  {
    role: "settler",
    name: "inventory_moves",
    help: "Moves of treasuries to inventories by state: those that have not ended, and those that failed within a day.",
    oldestName: "inventory_moves_oldest_age_seconds",
    oldestHelp: "Age in seconds of the oldest move in a state.",
    labels: ["chain", "state"],
    select: (
      age,
      nowMs,
    ) => sql`select 'inventory_moves', dest_chain, state, count(*)::float8, ${age}
        from moves where ended_at is null
          or state = 'failed' and ended_at > ${formatStamp(nowMs - DAY_MS)}::timestamptz
        group by dest_chain, state`,
  },
];
