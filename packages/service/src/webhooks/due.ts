/**
 * Leases due deliveries.
 *
 * A lease reschedules a delivery to its end: no other process sends it meanwhile, and it is due again if the process dies. A
 * delivery may so be sent twice, never less than once.
 *
 * Integrators take turns, by their weight, and each endpoint has a number of slots, so that neither a large integrator nor an
 * endpoint that does not answer holds up another. Of an ordered endpoint only the first pending delivery of a wallet and token
 * is sent; those behind it are rescheduled, and the end of each makes the next one due.
 */
import { sql } from "kysely";
import { formatStamp } from "../core/stamp.ts";
import type { Db, Tx } from "../db/schema.ts";

/** A delivery that this process sends. */
export interface LeasedDelivery {
  readonly endpointId: string;
  readonly eventId: string;
  readonly integratorId: string;
  readonly type: string;
  readonly eventAt: string;
  readonly isTest: boolean;
  readonly orderKey: string | null;
  /** Attempts since the last request to send it. */
  readonly tries: number;
}

/** Free places of this process. */
export interface FreePlaces {
  readonly total: number;
  /** Places of an endpoint without an entry, unless it fails: then one. */
  readonly perEndpoint: number;
  readonly ofEndpoint: ReadonlyMap<string, number>;
  readonly perIntegrator: number;
  readonly ofIntegrator: ReadonlyMap<string, number>;
}

/** Duration of a lease: longer than an attempt and its record take. */
export const DELIVERY_LEASE_MS = 30_000;
/** A delivery behind another one of its wallet and token is polled again after this time, unless that one's end wakes it. */
const BEHIND_RETRY_MS = 15_000;

interface Row {
  readonly endpoint_id: string;
  readonly event_id: string;
  readonly integrator_id: string;
  readonly type: string;
  readonly event_at: string;
  readonly is_test: boolean;
  readonly order_key: string | null;
  readonly tries: number;
  readonly is_behind: boolean;
}

/** The recursive query `waiting`: finds each endpoint with pending deliveries by one probe of the index. */
export const WAITING_ENDPOINTS = sql`
  (select endpoint_id from webhook_deliveries
    where state = 'pending' and not is_test order by endpoint_id limit 1)
  union all
  select (select deliveries.endpoint_id from webhook_deliveries as deliveries
           where state = 'pending' and not is_test and deliveries.endpoint_id > waiting.endpoint_id
           order by deliveries.endpoint_id limit 1)
    from waiting where waiting.endpoint_id is not null`;

/** Leases due deliveries of the given endpoints, or of all. `more` is true if there may be others. */
export async function leaseDeliveries(
  db: Db,
  {
    nowMs,
    places,
    endpointIds,
  }: {
    readonly nowMs: number;
    readonly places: FreePlaces;
    readonly endpointIds: readonly string[] | null;
  },
): Promise<{ readonly leased: readonly LeasedDelivery[]; readonly more: boolean }> {
  if (places.total <= 0 || endpointIds?.length === 0) return { leased: [], more: false };
  const now = formatStamp(nowMs);
  const waiting =
    endpointIds === null
      ? WAITING_ENDPOINTS
      : sql`select unnest(${[...endpointIds]}::uuid[]) as endpoint_id`;
  const { rows } = await sql<Row>`
    with recursive waiting as(${waiting}), own as(
      select found.endpoint_id, found.event_id, found.is_behind, found.next_check_at, endpoints.integrator_id,
             row_number() over (partition by endpoints.integrator_id
                                order by found.turn, found.next_check_at) as turn
        from waiting
        join webhook_endpoints as endpoints on endpoints.id = waiting.endpoint_id
             and endpoints.state = 'enabled'
             and (endpoints.not_before is null or endpoints.not_before <= ${now})
        left join unnest(${[...places.ofEndpoint.keys()]}::uuid[], ${[...places.ofEndpoint.values()]}::integer[])
             as busy (id, slots) on busy.id = endpoints.id
        cross join lateral (
          select locked.*, row_number() over (order by locked.next_check_at, locked.event_at) as turn from (
            select deliveries.endpoint_id, deliveries.event_id, deliveries.next_check_at, deliveries.event_at,
                   deliveries.order_key is not null and exists (
                     select from webhook_deliveries as earlier
                      where earlier.endpoint_id = deliveries.endpoint_id
                        and earlier.order_key = deliveries.order_key
                        and earlier.state = 'pending' and earlier.event_at < deliveries.event_at
                   ) as is_behind
              from webhook_deliveries as deliveries
             where deliveries.endpoint_id = endpoints.id and deliveries.state = 'pending'
               and not deliveries.is_test and deliveries.next_check_at <= ${now}
             order by deliveries.next_check_at, deliveries.event_at
             limit coalesce(busy.slots, case when endpoints.failing_since is null then ${places.perEndpoint}::integer else 1 end)
             for update of deliveries skip locked
          ) as locked
        ) as found
    ), chosen as(
      select own.* from own
        left join unnest(${[...places.ofIntegrator.keys()]}::uuid[], ${[...places.ofIntegrator.values()]}::integer[])
             as busy (id, slots) on busy.id = own.integrator_id
       where own.turn <= coalesce(busy.slots, ${places.perIntegrator}::integer)
       order by own.turn / queue_weight(own.integrator_id), own.next_check_at
       limit ${places.total}
    )
    update webhook_deliveries as deliveries
       set next_check_at = case when chosen.is_behind then ${formatStamp(nowMs + BEHIND_RETRY_MS)}::timestamptz
                                else ${formatStamp(nowMs + DELIVERY_LEASE_MS)}::timestamptz end
      from chosen
     where deliveries.endpoint_id = chosen.endpoint_id and deliveries.event_id = chosen.event_id
    returning deliveries.*, chosen.is_behind`.execute(db);
  return {
    leased: rows.filter((row) => !row.is_behind).map(toLeased),
    more: rows.length >= places.total || rows.some((row) => row.is_behind),
  };
}

/** Leases tests, which are sent also to disabled endpoints. */
export async function leaseTests(
  db: Db,
  { nowMs, limit }: { readonly nowMs: number; readonly limit: number },
): Promise<readonly LeasedDelivery[]> {
  const { rows } = await sql<Row>`
    update webhook_deliveries set next_check_at = ${formatStamp(nowMs + DELIVERY_LEASE_MS)}
     where (endpoint_id, event_id) in (
       select endpoint_id, event_id from webhook_deliveries
        where state = 'pending' and is_test and next_check_at <= ${formatStamp(nowMs)}
        order by next_check_at limit ${limit} for update skip locked)
    returning *, false as is_behind`.execute(db);
  return rows.map(toLeased);
}

/** Ends the leases of deliveries that a stopping process did not send. */
export async function releaseDeliveries(
  db: Db | Tx,
  deliveries: readonly LeasedDelivery[],
  nowMs: number,
): Promise<void> {
  if (deliveries.length === 0) return;
  await sql`
    update webhook_deliveries as rows set next_check_at = ${formatStamp(nowMs)}
      from unnest(${deliveries.map(({ endpointId }) => endpointId)}::uuid[],
                  ${deliveries.map(({ eventId }) => eventId)}::uuid[]) as left_over (endpoint_id, event_id)
     where rows.endpoint_id = left_over.endpoint_id and rows.event_id = left_over.event_id
       and rows.state = 'pending'`.execute(db);
}

function toLeased(row: Row): LeasedDelivery {
  return {
    endpointId: row.endpoint_id,
    eventId: row.event_id,
    integratorId: row.integrator_id,
    type: row.type,
    eventAt: row.event_at,
    isTest: row.is_test,
    orderKey: row.order_key,
    tries: row.tries,
  };
}
