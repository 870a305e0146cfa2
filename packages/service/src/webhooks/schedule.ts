/** The retry schedule of deliveries, and the rule by which a failing endpoint is disabled. Pure. */

const SECOND_MS = 1_000;
const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;

/**
 * Delays before the attempts of a delivery, each counted from the end of the attempt before it: the schedule of the Standard
 * Webhooks specification. Published: integrators rely on it.
 */
export const ATTEMPT_DELAYS_MS: readonly number[] = [
  0,
  5 * SECOND_MS,
  5 * MINUTE_MS,
  30 * MINUTE_MS,
  2 * HOUR_MS,
  5 * HOUR_MS,
  10 * HOUR_MS,
  14 * HOUR_MS,
  20 * HOUR_MS,
  24 * HOUR_MS,
];

/** Largest addition to a delay, as a share of it, so that the deliveries of an outage do not return at once. */
const JITTER = 0.1;
/** The longest `Retry-After` that is followed. */
const RETRY_AFTER_MAX_MS = 24 * HOUR_MS;

/** An endpoint is disabled after failures of this time without a success. */
export const DISABLE_AFTER_MS = 120 * HOUR_MS;
/** Failures count as lasting only if another one followed the first by this time. */
export const STILL_FAILING_AFTER_MS = 12 * HOUR_MS;

/**
 * Returns the delay before the next attempt after some attempts failed; null when the schedule is over. `random` is from 0
 * to 1. A `Retry-After` of the answer lengthens the delay and never shortens it.
 */
export function nextDelayMs(
  failed: number,
  {
    random,
    retryAfterMs = 0,
  }: { readonly random: number; readonly retryAfterMs?: number | undefined },
): number | null {
  const delay = ATTEMPT_DELAYS_MS[failed];
  if (delay === undefined) return null;
  return Math.max(
    Math.round(delay * (1 + JITTER * random)),
    Math.min(retryAfterMs, RETRY_AFTER_MAX_MS),
  );
}

/** Failures of an endpoint since its last success. Null where there were none. */
export interface Failures {
  readonly firstMs: number | null;
  /** The first failure at least 12 hours after the first. */
  readonly stillMs: number | null;
}

/**
 * Counts a failure. An endpoint is disabled by a failure 120 hours after the first one, if an earlier failure followed the
 * first one by 12 hours: two single failures far apart disable nothing.
 */
export function countFailure(
  before: Failures,
  nowMs: number,
): Failures & { readonly isDisabled: boolean } {
  const firstMs = before.firstMs ?? nowMs;
  const isDisabled = before.stillMs !== null && nowMs - firstMs >= DISABLE_AFTER_MS;
  const isStill = nowMs - firstMs >= STILL_FAILING_AFTER_MS;
  return { firstMs, stillMs: before.stillMs ?? (isStill ? nowMs : null), isDisabled };
}
