/** Gauges of the backups that `sluice backup create` records. */
import { sql } from "kysely";
import { formatStamp } from "../core/stamp.ts";
import type { RowGauge } from "../telemetry/row-gauge.ts";

export const BACKUP_GAUGES: readonly RowGauge[] = [
  {
    role: "auditor",
    name: "backups",
    help: "Recorded backups of the database.",
    oldestName: "backup_age_seconds",
    oldestHelp: "Time in seconds since the newest of these backups began. Absent before the first.",
    labels: ["kind"],
    select: (_age, nowMs) => sql`
      select 'backups', null::integer, 'database', count(*)::float8,
             extract(epoch from ${formatStamp(nowMs)}::timestamptz - max(started_at))::float8
        from backups having count(*) > 0`,
  },
];
