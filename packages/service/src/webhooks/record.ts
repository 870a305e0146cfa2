/** Records the outcomes of attempts, and disables endpoints. */
import { sql } from "kysely";
import type { EndpointDisabledData } from "@sluice/sdk/wire";
import type { Random } from "../core/ports.ts";
import { formatStamp } from "../core/stamp.ts";
import type { Db, Tx } from "../db/schema.ts";
import { appendEvent } from "../events/index.ts";
import type { LeasedDelivery } from "./due.ts";
import { countFailure, nextDelayMs } from "./schedule.ts";
import type { DisabledReason } from "./types.ts";

/** An attempt that ended. */
export interface Attempt {
  readonly delivery: LeasedDelivery;
  readonly atMs: number;
  readonly latencyMs: number;
  /** Null without an answer. */
  readonly status: number | null;
}

/** An attempt that failed. */
export interface FailedAttempt extends Attempt {
  /** A short code; null where the status says it. */
  readonly error: string;
  readonly retryAfterMs?: number | undefined;
}

/** The longest pause of an endpoint that a `Retry-After` causes; its other deliveries wait meanwhile. */
const PAUSE_MAX_MS = 3_600_000;
const GONE = 410;

/** Records successes in one statement, and ends the failures of their endpoints. */
export async function recordDelivered(db: Db, attempts: readonly Attempt[]): Promise<void> {
  if (attempts.length === 0) return;
  const column = (read: (attempt: Attempt) => string | number | null) => attempts.map(read);
  const ordered = attempts.filter(({ delivery }) => delivery.orderKey !== null);
  const record = async (tx: Db | Tx) => {
    await sql`
      with ended as(
        select * from unnest(
          ${column(({ delivery }) => delivery.endpointId)}::uuid[],
          ${column(({ delivery }) => delivery.eventId)}::uuid[],
          ${column(({ atMs }) => formatStamp(atMs))}::timestamptz[],
          ${column(({ latencyMs }) => latencyMs)}::integer[],
          ${column(({ status }) => status)}::integer[]
        ) as ended (endpoint_id, event_id, at, latency_ms, status)
      ), delivered as(
        update webhook_deliveries as deliveries
           set state = 'delivered', attempts = attempts + 1, tries = tries + 1
          from ended
         where deliveries.endpoint_id = ended.endpoint_id and deliveries.event_id = ended.event_id
        returning ended.*, deliveries.attempts
      ), recovered as(
        update webhook_endpoints set failing_since = null, still_failing_at = null
         where id in (select endpoint_id from delivered) and failing_since is not null
      )
      insert into webhook_attempts (endpoint_id, event_id, attempt, at, latency_ms, status)
      select endpoint_id, event_id, attempts, at, latency_ms, status from delivered`.execute(tx);
  };
  // One statement is a transaction of its own.
  if (ordered.length === 0) return record(db);
  await db.transaction().execute(async (tx) => {
    await record(tx);
    for (const { delivery, atMs } of ordered) await makeNextDue(tx, delivery, atMs);
  });
}

/** Records a failure: a retry by the schedule, or the end of it. Returns why the endpoint was disabled, if it was. */
export async function recordFailed(
  { db, random }: { readonly db: Db; readonly random: Random },
  attempt: FailedAttempt,
): Promise<DisabledReason | null> {
  const { delivery, atMs, latencyMs, status, error, retryAfterMs } = attempt;
  const { endpointId, eventId, isTest, tries } = delivery;
  const endedMs = atMs + latencyMs;
  const isGone = status === GONE;
  const delayMs =
    isTest || isGone ? null : nextDelayMs(tries + 1, { random: fractionOf(random), retryAfterMs });
  return db.transaction().execute(async (tx) => {
    const counted = await tx
      .updateTable("webhook_deliveries")
      .set({
        state: delayMs === null ? "failed" : "pending",
        attempts: sql<number>`attempts + 1`,
        tries: tries + 1,
        next_check_at: formatStamp(endedMs + (delayMs ?? 0)),
      })
      .where("endpoint_id", "=", endpointId)
      .where("event_id", "=", eventId)
      // Another process may have delivered it after this one's lease ended.
      .where("state", "=", "pending")
      .returning("attempts")
      .executeTakeFirst();
    if (!counted) return null;
    await tx
      .insertInto("webhook_attempts")
      .values({
        endpoint_id: endpointId,
        event_id: eventId,
        attempt: counted.attempts,
        at: formatStamp(atMs),
        latency_ms: latencyMs,
        status,
        error,
      })
      .execute();
    if (delayMs === null) await makeNextDue(tx, delivery, endedMs);
    return isTest ? null : failEndpoint(tx, random, { delivery, isGone, endedMs, retryAfterMs });
  });
}

/** Ends a delivery whose event is no longer stored. */
export async function recordExpired(
  db: Db,
  delivery: LeasedDelivery,
  nowMs: number,
): Promise<void> {
  await db.transaction().execute(async (tx) => {
    await tx
      .updateTable("webhook_deliveries")
      .set({ state: "failed" })
      .where("endpoint_id", "=", delivery.endpointId)
      .where("event_id", "=", delivery.eventId)
      .where("state", "=", "pending")
      .execute();
    await makeNextDue(tx, delivery, nowMs);
  });
}

/** Counts a failure of an endpoint, and disables it, with an event, when the rules say so. Last in its transaction. */
async function failEndpoint(
  tx: Tx,
  random: Random,
  {
    delivery: { endpointId, integratorId },
    isGone,
    endedMs,
    retryAfterMs,
  }: {
    readonly delivery: LeasedDelivery;
    readonly isGone: boolean;
    readonly endedMs: number;
    readonly retryAfterMs: number | undefined;
  },
): Promise<DisabledReason | null> {
  const row = await tx
    .selectFrom("webhook_endpoints")
    .select(["failing_since", "still_failing_at"])
    .where("id", "=", endpointId)
    .where("state", "=", "enabled")
    .forUpdate()
    .executeTakeFirst();
  if (!row) return null;
  const toMs = (stamp: string | null) => (stamp === null ? null : Date.parse(stamp));
  const counted = countFailure(
    { firstMs: toMs(row.failing_since), stillMs: toMs(row.still_failing_at) },
    endedMs,
  );
  const reason = isGone ? "gone" : counted.isDisabled ? "failing" : null;
  const pauseMs = Math.min(retryAfterMs ?? 0, PAUSE_MAX_MS);
  await tx
    .updateTable("webhook_endpoints")
    .set({
      failing_since: formatStamp(counted.firstMs ?? endedMs),
      still_failing_at: counted.stillMs === null ? null : formatStamp(counted.stillMs),
      ...(pauseMs > 0 && { not_before: formatStamp(endedMs + pauseMs) }),
      ...(reason !== null && {
        state: "disabled",
        disabled_reason: reason,
        disabled_at: formatStamp(endedMs),
      }),
    })
    .where("id", "=", endpointId)
    .execute();
  if (reason !== null) {
    // Without the URL, which may hold a secret and is for keys with the scope `webhooks` only.
    const data: EndpointDisabledData = {
      endpointId,
      reason,
      failingSince: formatStamp(counted.firstMs ?? endedMs),
    };
    await appendEvent(tx, random, { integratorId, type: "endpoint.disabled", data });
  }
  return reason;
}

/** Makes the delivery behind one that ended due, of the same wallet and token. */
async function makeNextDue(tx: Tx, { endpointId, orderKey }: LeasedDelivery, nowMs: number) {
  if (orderKey === null) return;
  await sql`
    update webhook_deliveries set next_check_at = ${formatStamp(nowMs)}
     where (endpoint_id, event_id) in (
       select endpoint_id, event_id from webhook_deliveries
        where endpoint_id = ${endpointId} and order_key = ${orderKey} and state = 'pending'
        order by event_at limit 1)
       and tries = 0`.execute(tx);
}

/** Returns a number from 0 to 1 from the port of randomness. */
function fractionOf(random: Random): number {
  return Number.parseInt(random.uuid().slice(0, 8), 16) / 0xffff_ffff;
}
