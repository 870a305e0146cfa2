/**
 * Inserts deliveries from the event log.
 *
 * Invariant: every event of an integrator after its cursor is read before the cursor passes it. Stamps increase in commit
 * order, so no event appears behind the cursor. The cursor moves in the transaction that inserts the deliveries.
 *
 * A delivery for which this process has a place is inserted with its lease, so that it is sent without another statement. It
 * is not where the endpoint is ordered, fails, pauses, or has deliveries that are due already: those go first.
 *
 * Lock order: the cursors, then deliveries. Whoever creates or enables an endpoint holds the cursor, so that the first event
 * of an endpoint is the one after its `since`.
 */
import { sql } from "kysely";
import { EVENT_TYPES, type ExtendedEventItem } from "@sluice/sdk/wire";
import { formatStamp } from "../core/stamp.ts";
import type { Db } from "../db/schema.ts";
import { DELIVERY_LEASE_MS, type FreePlaces, type LeasedDelivery } from "./due.ts";

/** Events of one integrator per round. */
const PAGE = 200;
/** Integrators per round. */
export const INTEGRATORS_MAX = 100;

/** The result of a round. */
export interface FannedOut {
  /** Endpoints with new deliveries that are not leased. */
  readonly endpointIds: readonly string[];
  /** New deliveries that this process leased. */
  readonly leased: readonly LeasedDelivery[];
  /** The events of leased deliveries, with their integrators. */
  readonly events: readonly (ExtendedEventItem & { readonly integratorId: string })[];
  /** Integrators that may have more events. */
  readonly more: readonly string[];
}

/**
 * Returns integrators with events after their cursor. With `exists` the database may read all events instead, since it
 * cannot know that cursors are at the end of them.
 */
export async function listCursorsBehind(db: Db): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    select cursors.integrator_id as id from webhook_cursors as cursors
    where (
      select events.created_at from events
      where events.integrator_id = cursors.integrator_id and events.created_at > cursors.cursor
      order by events.created_at limit 1
    ) is not null
    limit ${INTEGRATORS_MAX}`.execute(db);
  return rows.map(({ id }) => id);
}

const NOTHING: FannedOut = { endpointIds: [], leased: [], events: [], more: [] };

/** A row of the result: an endpoint, a leased delivery, an event or an integrator. Columns of other kinds are null. */
interface Row {
  readonly kind: "endpoint" | "leased" | "event" | "more";
  /** Of the endpoint, or of the integrator. */
  readonly id: string;
  readonly integrator_id: string;
  readonly event_id: string;
  readonly type: string;
  readonly event_at: string;
  readonly data: unknown;
  readonly details: unknown;
}

/**
 * Inserts the deliveries of the next events of integrators, and leases those for which there are free places. Integrators
 * whose cursor another process holds are skipped.
 */
export async function fanOut(
  db: Db,
  integratorIds: readonly string[],
  { nowMs, places }: { readonly nowMs: number; readonly places: FreePlaces },
): Promise<FannedOut> {
  if (integratorIds.length === 0) return NOTHING;
  const known = await db
    .selectFrom("webhook_cursors")
    .select("integrator_id")
    .where("integrator_id", "in", integratorIds)
    .limit(1)
    .executeTakeFirst();
  // Most integrators have no endpoint, and each of their events leads here.
  if (!known) return NOTHING;
  const now = formatStamp(nowMs);
  return db.transaction().execute(async (tx) => {
    // A statement of its own: the next one sees the endpoints that the last holder of a cursor committed.
    const { rows: held } = await sql<{ id: string }>`
      select integrator_id as id from webhook_cursors
      where integrator_id = any(${[...integratorIds]}::uuid[])
      order by integrator_id for update skip locked`.execute(tx);
    if (held.length === 0) return NOTHING;
    const { rows } = await sql<Row>`
      with page as(
        select found.* from webhook_cursors as cursors cross join lateral (
          select integrator_id, id, type, created_at, data, details,
                 concat_ws(' ', data ->> 'chainId', data ->> 'walletAddress', data ->> 'tokenAddress') as order_key
            from events
           where events.integrator_id = cursors.integrator_id and events.created_at > cursors.cursor
           order by events.created_at limit ${PAGE}
        ) as found
        where cursors.integrator_id = any(${held.map(({ id }) => id)}::uuid[])
      ), endpoints as materialized(
        select endpoints.*,
               case when endpoints.state = 'enabled' and not endpoints.ordered and endpoints.failing_since is null
                     and (endpoints.not_before is null or endpoints.not_before <= ${now})
                     and not exists (
                       select from webhook_deliveries as earlier
                        where earlier.endpoint_id = endpoints.id and earlier.state = 'pending'
                          and not earlier.is_test and earlier.next_check_at <= ${now})
                    then coalesce(busy.slots, ${places.perEndpoint}::integer) else 0 end as slots
          from webhook_endpoints as endpoints
          left join unnest(${[...places.ofEndpoint.keys()]}::uuid[], ${[...places.ofEndpoint.values()]}::integer[])
               as busy (id, slots) on busy.id = endpoints.id
         where endpoints.integrator_id = any(${held.map(({ id }) => id)}::uuid[])
      ), wanted as(
        select endpoints.id as endpoint_id, endpoints.slots, page.*,
               case when endpoints.ordered then nullif(page.order_key, '') end as key,
               row_number() over (partition by endpoints.id order by page.created_at) as turn
          from page join endpoints on endpoints.integrator_id = page.integrator_id
         where page.created_at > endpoints.since
           and (endpoints.state = 'enabled' or page.created_at <= endpoints.disabled_at)
           and (endpoints.types is null or page.type = any(endpoints.types))
           and (endpoints.extended or page.type = any(${[...EVENT_TYPES]}::text[]))
      ), ranked as(
        select wanted.*, turn <= slots as has_slot,
               row_number() over (partition by integrator_id, turn <= slots order by turn, created_at) as of_integrator,
               row_number() over (partition by turn <= slots order by turn, created_at) as of_all
          from wanted
      ), added as(
        insert into webhook_deliveries
          (endpoint_id, event_id, integrator_id, type, event_at, order_key, state, next_check_at)
        select ranked.endpoint_id, ranked.id, ranked.integrator_id, ranked.type, ranked.created_at, ranked.key, 'pending',
               case when ranked.has_slot and ranked.of_all <= ${places.total}
                     and ranked.of_integrator <= coalesce(busy.slots, ${places.perIntegrator}::integer)
                    then ${formatStamp(nowMs + DELIVERY_LEASE_MS)}::timestamptz else ${now}::timestamptz end
          from ranked
          left join unnest(${[...places.ofIntegrator.keys()]}::uuid[], ${[...places.ofIntegrator.values()]}::integer[])
               as busy (id, slots) on busy.id = ranked.integrator_id
        on conflict do nothing
        returning endpoint_id, event_id, integrator_id, type, event_at, next_check_at > ${now} as is_leased
      ), moved as(
        update webhook_cursors as cursors set cursor = read.newest
          from (select integrator_id, max(created_at) as newest, count(*) as events
                  from page group by integrator_id) as read
         where cursors.integrator_id = read.integrator_id
        returning cursors.integrator_id, read.events
      )
      select 'leased' as kind, endpoint_id as id, integrator_id, event_id, type, event_at,
             null::jsonb as data, null::jsonb as details
        from added where is_leased
      union all
      select 'event', id, integrator_id, id, type, created_at, data, details
        from page where id in (select event_id from added where is_leased)
      union all
      select distinct 'endpoint', endpoint_id, null::uuid, null::uuid, null, null::timestamptz, null::jsonb, null::jsonb
        from added where not is_leased
      union all
      select 'more', integrator_id, null, null, null, null, null, null
        from moved where events >= ${PAGE}`.execute(tx);
    const ofKind = (kind: Row["kind"]) => rows.filter((row) => row.kind === kind);
    return {
      endpointIds: ofKind("endpoint").map(({ id }) => id),
      leased: ofKind("leased").map(toLeased),
      events: ofKind("event").map(toEvent),
      more: ofKind("more").map(({ id }) => id),
    };
  });
}

function toLeased(row: Row): LeasedDelivery {
  return {
    endpointId: row.id,
    eventId: row.event_id,
    integratorId: row.integrator_id,
    type: row.type,
    eventAt: row.event_at,
    isTest: false,
    orderKey: null,
    tries: 0,
  };
}

function toEvent({ id, type, data, details, ...row }: Row) {
  const event = { id, type, data, details, timestamp: row.event_at };
  // CAST: type and data were written together by appendEvent, whose callers build the wire's payloads.
  return { ...(event as unknown as ExtendedEventItem), integratorId: row.integrator_id };
}
