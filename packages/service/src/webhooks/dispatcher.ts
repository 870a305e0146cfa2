/**
 * Sends the webhooks of all integrators from one process; other processes may do the same.
 *
 * A poll inserts deliveries of new events, leases those that are due and starts to send them. It does not wait for answers:
 * each endpoint has its own places, so that one that does not answer holds up no other. Outcomes are recorded in batches. A
 * process that dies between an answer and its record sends again after the lease: at least once.
 */
import type { EventItem, ExtendedEventItem } from "@sluice/sdk/wire";
import type { Clock, CrashPoint, Random } from "../core/ports.ts";
import type { Secret } from "../core/secret.ts";
import type { Db } from "../db/schema.ts";
import { listEventsAt, withoutDetails } from "../events/index.ts";
import type { Log } from "../telemetry/log.ts";
import { type LeasedDelivery, leaseDeliveries, leaseTests, releaseDeliveries } from "./due.ts";
import { type FannedOut, fanOut, listCursorsBehind } from "./fan-out.ts";
import { parseRetryAfter, type PostAnswer, type WebhookPost } from "./post.ts";
import {
  type Attempt,
  type FailedAttempt,
  recordDelivered,
  recordExpired,
  recordFailed,
} from "./record.ts";
import { createSignerMemory, readTargets, type Target } from "./targets.ts";
import type { DisabledReason } from "./types.ts";
import { createPlaces } from "./places.ts";

/** Timeout of an attempt. Published. */
export const ATTEMPT_TIMEOUT_MS = 20_000;
/** Interval at which all endpoints are looked through for due deliveries: retries, and work that a wake-up missed. */
const LOOK_THROUGH_MS = 1_000;
/** Time that a stopping process waits for answers. */
const STOP_GRACE_MS = 5_000;
const TESTS_MAX = 50;
/** Successes of this time are recorded by one statement, unless the next delivery of an order waits for one. */
const RECORD_PAUSE_MS = 20;

export interface DispatcherDeps {
  readonly db: Db;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly pepper: Secret;
  readonly post: WebhookPost;
  readonly crashPoint: CrashPoint;
  /** Name and version in `user-agent`. */
  readonly userAgent: string;
  /** Called after an attempt, for metrics. */
  readonly onAttempt: (attempt: {
    readonly outcome: string;
    readonly latencyMs: number;
    /** From the event's stamp to the request, of a first attempt. */
    readonly lagMs: number | null;
  }) => void;
  readonly onDisabled: (reason: DisabledReason, integratorId: string) => void;
  /** Starts the next poll at once. */
  readonly wake: () => void;
}

export interface Dispatcher {
  /** Makes the next poll read an integrator's events first. */
  prefer(integratorId: string): void;
  /** Makes the next poll look through all integrators and endpoints. */
  lookThrough(): void;
  /** Inserts deliveries, leases due ones and starts to send them. Returns true if there may be more at once. */
  poll(): Promise<boolean>;
  /** Resolves when no request is under way and every outcome is recorded. */
  idle(): Promise<void>;
  /** Waits for answers for a short time, then ends the requests under way and their leases. */
  stop(): Promise<void>;
}

export function createDispatcher(deps: DispatcherDeps): Dispatcher {
  const { db, clock, random, log, post, crashPoint } = deps;
  const preferred = new Set<string>();
  /** Endpoints that may have due deliveries. */
  const touched = new Set<string>();
  const places = createPlaces();
  const signers = createSignerMemory(deps.pepper);
  const sending = new Map<Promise<void>, LeasedDelivery>();
  let delivered: Attempt[] = [];
  let recording: Promise<void> | null = null;
  let lookedThroughMs = Number.NEGATIVE_INFINITY;
  let isStopping = false;

  /** Records successes, all that arrived during the previous record at once. */
  function recordSuccess(attempt: Attempt): Promise<void> {
    delivered.push(attempt);
    recording ??= (async () => {
      try {
        while (delivered.length > 0) {
          if (delivered.every(({ delivery }) => delivery.orderKey === null)) {
            await clock.sleep(RECORD_PAUSE_MS);
          }
          const batch = delivered;
          delivered = [];
          await recordDelivered(db, batch);
        }
      } finally {
        recording = null;
      }
    })();
    return recording;
  }

  async function sendOne(delivery: LeasedDelivery, target: Target, event: SentEvent | null) {
    const atMs = clock.now();
    const body = event === null ? describeTest(delivery) : describeEvent(event);
    const timestamp = Math.floor(atMs / 1_000);
    const message = { id: delivery.eventId, timestamp, body };
    crashPoint("webhook.leased");
    const answer = await post.send({
      url: target.url,
      headers: {
        "content-type": "application/json",
        "user-agent": deps.userAgent,
        "webhook-id": message.id,
        "webhook-timestamp": String(timestamp),
        "webhook-signature": target.signers.map((signer) => signer.sign(message)).join(" "),
      },
      body,
      timeoutMs: ATTEMPT_TIMEOUT_MS,
    });
    // A request that this process itself ended says nothing about the endpoint.
    if (isStopping && answer.kind === "failed")
      return releaseDeliveries(db, [delivery], clock.now());
    crashPoint("webhook.sent");
    const latencyMs = Math.max(0, clock.now() - atMs);
    const status = answer.kind === "answered" ? answer.status : null;
    const isDelivered = status !== null && status >= 200 && status < 300;
    places.ended(delivery.endpointId, { isDelivered, latencyMs });
    const isFirst = delivery.tries === 0 && !delivery.isTest;
    deps.onAttempt({
      outcome: isDelivered ? "delivered" : errorOf(answer),
      latencyMs,
      lagMs: isFirst ? Math.max(0, atMs - Date.parse(delivery.eventAt)) : null,
    });
    const attempt = { delivery, atMs, latencyMs, status };
    if (isDelivered) await recordSuccess(attempt);
    else await fail({ ...attempt, error: errorOf(answer), retryAfterMs: retryAfterOf(answer) });
    crashPoint("webhook.recorded");
    return undefined;
  }

  function retryAfterOf(answer: PostAnswer): number | undefined {
    return answer.kind === "answered" ? parseRetryAfter(answer.retryAfter, clock.now()) : undefined;
  }

  async function fail(attempt: FailedAttempt): Promise<void> {
    const { endpointId, integratorId } = attempt.delivery;
    const reason = await recordFailed({ db, random }, attempt);
    if (reason === null) return;
    log.warn({ endpointId, integratorId, reason }, "webhook endpoint disabled");
    deps.onDisabled(reason, integratorId);
  }

  function start(delivery: LeasedDelivery, target: Target, event: SentEvent | null): void {
    places.started(delivery);
    const work = sendOne(delivery, target, event)
      .catch((error: unknown) => {
        // The lease ends by itself, and the delivery is due again.
        log.error(
          { err: error, endpointId: delivery.endpointId },
          "webhook not recorded, retrying",
        );
      })
      .finally(() => {
        sending.delete(work);
        const waiting = places.free(delivery);
        if (waiting === "none" && delivery.orderKey === null) return;
        touched.add(delivery.endpointId);
        if (waiting === "all") lookedThroughMs = Number.NEGATIVE_INFINITY;
        deps.wake();
      });
    sending.set(work, delivery);
  }

  /** Starts to send leased deliveries. Those of `known` events are not read again. */
  async function startAll(
    leased: readonly LeasedDelivery[],
    known: FannedOut["events"] = [],
  ): Promise<void> {
    if (leased.length === 0) return;
    const targets = await readTargets(db, signers, {
      endpointIds: [...new Set(leased.map(({ endpointId }) => endpointId))],
      nowMs: clock.now(),
    });
    const events = await readEvents(db, leased, { targets, known });
    for (const delivery of leased) {
      const target = targets.get(delivery.endpointId);
      // Deleted since the lease: its deliveries were deleted with it.
      if (!target) continue;
      // Not a failure of the endpoint: the delivery is due again after its lease.
      if (target.signers.length === 0) {
        log.error(
          { endpointId: delivery.endpointId },
          "webhook not signed: no secret could be decrypted, was apiKeyPepper changed?",
        );
        continue;
      }
      const event = events.get(keyOf(delivery, target.extended)) ?? null;
      if (event || delivery.isTest) start(delivery, target, event);
      else await recordExpired(db, delivery, clock.now());
    }
  }

  return {
    prefer: (integratorId) => void preferred.add(integratorId),
    lookThrough() {
      lookedThroughMs = Number.NEGATIVE_INFINITY;
    },
    async poll() {
      const nowMs = clock.now();
      const isLookThrough = nowMs - lookedThroughMs >= LOOK_THROUGH_MS;
      const first = [...preferred];
      preferred.clear();
      const behind = isLookThrough ? await listCursorsBehind(db) : [];
      const found = await fanOut(db, [...new Set([...first, ...behind])], {
        nowMs,
        places: places.read(),
      });
      const { endpointIds, more } = found;
      crashPoint("webhook.inserted");
      await startAll(found.leased, found.events);
      for (const id of more) preferred.add(id);
      for (const id of endpointIds) touched.add(id);
      const wanted = isLookThrough ? null : [...touched];
      touched.clear();
      if (isLookThrough) lookedThroughMs = nowMs;
      const tests = isLookThrough ? await leaseTests(db, { nowMs, limit: TESTS_MAX }) : [];
      const due = await leaseDeliveries(db, {
        nowMs,
        places: places.read(),
        endpointIds: wanted,
      });
      // Behind the maximum the other endpoints stay due: the next poll reads them again.
      if (due.more && wanted) for (const id of wanted) touched.add(id);
      if (due.more && !wanted) lookedThroughMs = Number.NEGATIVE_INFINITY;
      await startAll([...tests, ...due.leased]);
      return more.length > 0 || due.more;
    },
    async idle() {
      while (sending.size > 0) await Promise.all(sending.keys());
    },
    async stop() {
      const answered = new AbortController();
      const ended = this.idle().finally(() => answered.abort());
      await clock.sleep(STOP_GRACE_MS, answered.signal);
      isStopping = true;
      post.close();
      await ended;
    },
  };
}

/** An event as its endpoint sees it. */
type SentEvent = EventItem | ExtendedEventItem;

const keyOf = (delivery: Pick<LeasedDelivery, "integratorId" | "eventAt">, extended: boolean) =>
  `${delivery.integratorId} ${delivery.eventAt} ${extended}`;

/** Reads the events of deliveries, as their endpoints see them. */
async function readEvents(
  db: Db,
  leased: readonly LeasedDelivery[],
  {
    targets,
    known,
  }: { readonly targets: ReadonlyMap<string, Target>; readonly known: FannedOut["events"] },
): Promise<ReadonlyMap<string, SentEvent>> {
  const events = new Map<string, SentEvent>();
  const add = (integratorId: string, extended: boolean, event: ExtendedEventItem) => {
    const sent = extended ? event : withoutDetails(event);
    if (sent) events.set(keyOf({ integratorId, eventAt: event.timestamp }, extended), sent);
  };
  for (const { integratorId, ...event } of known) {
    add(integratorId, true, event);
    add(integratorId, false, event);
  }
  const wanted = new Map<
    string,
    { integratorId: string; extended: boolean; stamps: Set<string> }
  >();
  for (const delivery of leased) {
    const target = targets.get(delivery.endpointId);
    if (!target || delivery.isTest) continue;
    const { integratorId, eventAt } = delivery;
    const { extended } = target;
    if (events.has(keyOf(delivery, extended))) continue;
    const key = `${integratorId} ${extended}`;
    const group = wanted.get(key) ?? { integratorId, extended, stamps: new Set<string>() };
    group.stamps.add(eventAt);
    wanted.set(key, group);
  }
  await Promise.all(
    [...wanted.values()].map(async ({ integratorId, extended, stamps }) => {
      const found = await listEventsAt(db, integratorId, [...stamps]);
      for (const event of found) add(integratorId, extended, event);
    }),
  );
  return events;
}

/** Returns the payload of an event: that of the stream. */
function describeEvent({ id: _id, ...event }: SentEvent): string {
  return JSON.stringify(event);
}

/** Returns the payload of a test. */
function describeTest({ type, eventAt, endpointId }: LeasedDelivery): string {
  return JSON.stringify({ type, data: { endpointId }, timestamp: eventAt });
}

function errorOf(answer: PostAnswer): string {
  if (answer.kind === "failed") return answer.error;
  return answer.status >= 300 && answer.status < 400 ? "redirected" : "not_accepted";
}
