/** The log of deliveries, and requests to send again. */
import { sql } from "kysely";
import { EVENT_TYPES } from "@sluice/sdk/wire";
import { OperatingError } from "../core/errors.ts";
import type { Clock, Random } from "../core/ports.ts";
import { formatStamp } from "../core/stamp.ts";
import type { Db } from "../db/schema.ts";
import { RETENTION_MS } from "../events/index.ts";
import { type EndpointRef, getEndpoint, invalid, type ListPage } from "./endpoints.ts";
import type { AttemptFacts, DeliveryFacts, DeliveryState, EndpointFacts } from "./types.ts";

/** Type of a test's payload. It is in no event log. */
export const TEST_TYPE = "endpoint.test";
/** Attempts that a delivery shows. */
const ATTEMPTS_SHOWN = 20;
/** Events of one request to send again. */
export const RESEND_LIMIT = 1_000;
const PURGED_AT_ONCE = 10_000;
const PURGED_PER_ENDPOINT = 1_000;

/** Returns deliveries of an endpoint, newest event first. @throws OperatingError NOT_FOUND. */
export async function listDeliveries(
  db: Db,
  ref: EndpointRef,
  {
    limit,
    cursor,
    state,
    from,
    to,
  }: ListPage & {
    readonly state: DeliveryState | undefined;
    /** Of events at or after. */
    readonly from?: string | undefined;
    /** Of events before. */
    readonly to?: string | undefined;
  },
): Promise<{ readonly items: readonly DeliveryFacts[]; readonly more: boolean }> {
  await getEndpoint(db, ref);
  let query = selectDeliveries(db, ref.id).limit(limit + 1);
  if (state !== undefined) query = query.where("state", "=", state);
  // Repeats the condition of the index of open deliveries.
  if (state === "pending" || state === "failed") query = query.where("state", "<>", "delivered");
  if (from !== undefined) query = query.where("event_at", ">=", from);
  if (to !== undefined) query = query.where("event_at", "<", to);
  if (cursor) {
    query = query.where(
      sql<boolean>`(event_at, event_id) < (${cursor.stamp}::timestamptz, ${cursor.id}::uuid)`,
    );
  }
  const rows = await query.execute();
  return { items: rows.slice(0, limit).map(toDelivery), more: rows.length > limit };
}

/** Returns one delivery. @throws OperatingError NOT_FOUND. */
export async function getDelivery(
  db: Db,
  ref: EndpointRef,
  eventId: string,
): Promise<DeliveryFacts> {
  await getEndpoint(db, ref);
  const row = await selectDeliveries(db, ref.id).where("event_id", "=", eventId).executeTakeFirst();
  if (!row) throw noDelivery();
  return toDelivery(row);
}

/**
 * Inserts a test, which is sent once, also to a disabled endpoint. Its outcome does not count for the endpoint's state.
 * @throws OperatingError NOT_FOUND.
 */
export async function insertTest(
  { db, clock, random }: { readonly db: Db; readonly clock: Clock; readonly random: Random },
  ref: EndpointRef,
): Promise<DeliveryFacts> {
  await getEndpoint(db, ref);
  const eventId = random.uuid();
  const now = formatStamp(clock.now());
  await db
    .insertInto("webhook_deliveries")
    .values({
      endpoint_id: ref.id,
      event_id: eventId,
      integrator_id: ref.integratorId,
      is_test: true,
      type: TEST_TYPE,
      event_at: now,
      order_key: null,
      state: "pending",
      next_check_at: now,
    })
    .execute();
  return getDelivery(db, ref, eventId);
}

/**
 * Sends the event of a delivery again, with the whole retry schedule, whatever became of it.
 * @throws OperatingError NOT_FOUND; VALIDATION_ERROR while the endpoint is disabled.
 */
export async function resendEvent(
  { db, clock }: { readonly db: Db; readonly clock: Clock },
  ref: EndpointRef,
  eventId: string,
): Promise<void> {
  assertEnabled(await getEndpoint(db, ref));
  const { numUpdatedRows } = await db
    .updateTable("webhook_deliveries")
    .set({ state: "pending", tries: 0, next_check_at: formatStamp(clock.now()) })
    .where("endpoint_id", "=", ref.id)
    .where("event_id", "=", eventId)
    .where("is_test", "=", false)
    .executeTakeFirst();
  if (numUpdatedRows === 0n) throw noDelivery();
}

/**
 * Sends the events of a range again, oldest first: those strictly after `since` and up to `until`, also events from before the
 * endpoint existed or while it was disabled. Returns the stamp from which to go on, null when the range is done.
 * @throws OperatingError NOT_FOUND; VALIDATION_ERROR while the endpoint is disabled.
 */
export async function resendRange(
  { db, clock }: { readonly db: Db; readonly clock: Clock },
  ref: EndpointRef,
  { since, until }: { readonly since: string; readonly until: string | undefined },
): Promise<{ readonly queued: number; readonly nextCursor: string | null }> {
  const endpoint = await getEndpoint(db, ref);
  assertEnabled(endpoint);
  const now = formatStamp(clock.now());
  const { rows } = await sql<{ queued: number; read: number; newest: string | null }>`
    with page as(
      select id, type, created_at,
             concat_ws(' ', data ->> 'chainId', data ->> 'walletAddress', data ->> 'tokenAddress') as order_key
        from events
       where integrator_id = ${ref.integratorId} and created_at > ${since}
         and created_at <= ${until ?? "infinity"}::timestamptz
       order by created_at limit ${RESEND_LIMIT}
    ), added as(
      insert into webhook_deliveries
        (endpoint_id, event_id, integrator_id, type, event_at, order_key, state, next_check_at)
      select ${ref.id}, id, ${ref.integratorId}, type, created_at,
             case when ${endpoint.ordered}::boolean then nullif(order_key, '') end, 'pending', ${now}
        from page
       where (${endpoint.types}::text[] is null or type = any(${endpoint.types}::text[]))
         and (${endpoint.extended}::boolean or type = any(${[...EVENT_TYPES]}::text[]))
      on conflict (endpoint_id, event_id) do update
        set state = 'pending', tries = 0, next_check_at = excluded.next_check_at
      returning 1
    )
    select (select count(*) from added)::integer as queued, count(*)::integer as read,
           max(created_at) as newest from page`.execute(db);
  const { queued = 0, read = 0, newest = null } = rows[0] ?? {};
  return { queued, nextCursor: read < RESEND_LIMIT ? null : newest };
}

/**
 * Deletes deliveries whose events are no longer kept, those of deleted endpoints, and expired secrets. Returns the number of
 * deleted deliveries, at most a part of them at once.
 */
export async function purgeDeliveries(db: Db, nowMs: number): Promise<number> {
  const { numAffectedRows } = await sql`
    with recursive owners as(
      (select endpoint_id from webhook_deliveries order by endpoint_id limit 1)
      union all
      select (select deliveries.endpoint_id from webhook_deliveries as deliveries
               where deliveries.endpoint_id > owners.endpoint_id order by deliveries.endpoint_id limit 1)
        from owners where owners.endpoint_id is not null
    )
    delete from webhook_deliveries where ctid = any(array(
      select found.ctid from owners cross join lateral (
        select ctid from webhook_deliveries as deliveries
         where deliveries.endpoint_id = owners.endpoint_id
           and deliveries.event_at < case
             when exists (select from webhook_endpoints as endpoints where endpoints.id = owners.endpoint_id)
             then ${formatStamp(nowMs - RETENTION_MS)}::timestamptz else 'infinity' end
         order by deliveries.event_at limit ${PURGED_PER_ENDPOINT}
      ) as found limit ${PURGED_AT_ONCE}))`.execute(db);
  await db.deleteFrom("webhook_secrets").where("expires_at", "<", formatStamp(nowMs)).execute();
  return Number(numAffectedRows ?? 0n);
}

interface DeliveryRow {
  readonly event_id: string;
  readonly type: string;
  readonly event_at: string;
  readonly is_test: boolean;
  readonly state: string;
  readonly next_check_at: string;
  readonly attempts: number;
  readonly log: readonly AttemptFacts[];
}

function selectDeliveries(db: Db, endpointId: string) {
  return db
    .selectFrom("webhook_deliveries")
    .select(["event_id", "type", "event_at", "is_test", "state", "next_check_at", "attempts"])
    .select(
      sql<readonly AttemptFacts[]>`coalesce((
        select jsonb_agg(jsonb_build_object(
          'attempt', tried.attempt,
          'at', to_char(tried.at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
          'latencyMs', tried.latency_ms, 'status', tried.status, 'error', tried.error
        ) order by tried.attempt desc) from (
          select * from webhook_attempts as attempts
           where attempts.endpoint_id = webhook_deliveries.endpoint_id
             and attempts.event_id = webhook_deliveries.event_id
           order by attempts.attempt desc limit ${ATTEMPTS_SHOWN}
        ) as tried), '[]')`.as("log"),
    )
    .where("endpoint_id", "=", endpointId)
    .orderBy("event_at", "desc")
    .orderBy("event_id", "desc");
}

function toDelivery(row: DeliveryRow): DeliveryFacts {
  // CAST: the column's check constraint allows only these values.
  const state = row.state as DeliveryState;
  return {
    eventId: row.event_id,
    type: row.type,
    timestamp: row.event_at,
    test: row.is_test,
    state,
    nextAttemptAt: state === "pending" ? row.next_check_at : null,
    attemptCount: row.attempts,
    attempts: row.log,
  };
}

function assertEnabled({ state }: EndpointFacts): void {
  if (state === "enabled") return;
  throw invalid("id", "an enabled endpoint; enable this one first");
}

function noDelivery(): OperatingError {
  return new OperatingError(
    "NOT_FOUND",
    "This event was not queued for the endpoint. Send it by its time instead: since and until.",
  );
}
