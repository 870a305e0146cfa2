/** Gauges of deliveries that have not ended. */
import { sql } from "kysely";
import { formatStamp } from "../core/stamp.ts";
import type { RowGauge } from "../telemetry/row-gauge.ts";
import { WAITING_ENDPOINTS } from "./due.ts";

/** Deliveries of one endpoint that are counted: a scrape must not read the backlog of a dead endpoint in whole. */
const COUNTED_MAX = 10_000;

export const WEBHOOK_GAUGES: readonly RowGauge[] = [
  {
    role: "webhooks",
    name: "webhook_deliveries_pending",
    help: `Webhooks that have not ended, at most ${COUNTED_MAX} of each endpoint, by the state of the endpoints: healthy, failing (since the last success) or disabled.`,
    oldestName: "webhook_deliveries_oldest_overdue_seconds",
    oldestHelp:
      "Time in seconds since the oldest of these webhooks was due to be sent; 0 if none is overdue.",
    labels: ["state"],
    select: (_age, nowMs) => sql`
      select 'webhook_deliveries_pending', null::integer, endpoints, sum(counted)::float8,
             max(greatest(0, extract(epoch from ${formatStamp(nowMs)}::timestamptz - due)))::float8
        from (
          with recursive waiting as(${WAITING_ENDPOINTS})
          select found.counted, found.due,
                 case when endpoints.state = 'disabled' then 'disabled'
                      when endpoints.failing_since is null then 'healthy' else 'failing' end as endpoints
            from waiting join webhook_endpoints as endpoints on endpoints.id = waiting.endpoint_id
            cross join lateral (
              select count(*) as counted, min(next_check_at) as due from (
                select deliveries.next_check_at from webhook_deliveries as deliveries
                 where deliveries.endpoint_id = endpoints.id and deliveries.state = 'pending'
                   and not deliveries.is_test
                 order by deliveries.next_check_at, deliveries.event_at limit ${COUNTED_MAX}::integer
              ) as some_of_them
            ) as found
        ) as waiting_endpoints group by endpoints`,
  },
];
