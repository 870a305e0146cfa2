/**
 * Back-off of one node: after a refusal for the rate of requests nothing is sent for a while, which doubles with each further
 * refusal and ends with a request that is answered.
 */
import type { Clock, Random } from "../../core/ports.ts";

const DELAY_MIN_MS = 500;
const DELAY_MAX_MS = 60_000;
/** A daily quota can ask for hours. The node is tried again meanwhile, as plans are upgraded. */
const RETRY_AFTER_MAX_MS = 15 * 60_000;

export interface BackOff {
  /** No request may be sent before this time. */
  readonly untilMs: number;
  /** Reports a refusal of a request that was sent at `sentMs`. Returns whether it is the first of its kind. */
  refused(retryAfter: string | null, sentMs: number): boolean;
  answered(sentMs: number): void;
}

export function createBackOff({ clock, random }: { clock: Clock; random: Random }): BackOff {
  let untilMs = 0;
  let refusals = 0;
  return {
    get untilMs() {
      return untilMs;
    },
    refused(retryAfter, sentMs) {
      const nowMs = clock.now();
      // Requests that were open together are refused together, which is one refusal.
      const isFirst = sentMs >= untilMs;
      if (isFirst) {
        refusals += 1;
        const delayMs = Math.min(DELAY_MIN_MS * 2 ** (refusals - 1), DELAY_MAX_MS);
        untilMs = Math.max(untilMs, nowMs + delayMs * (0.5 + fractionOf(random) / 2));
      }
      const askedMs = parseRetryAfter(retryAfter, nowMs);
      // A little later than asked, since other processes of this account were asked the same.
      if (askedMs > 0) untilMs = Math.max(untilMs, nowMs + askedMs + 250 * fractionOf(random));
      return isFirst;
    },
    answered(sentMs) {
      if (sentMs >= untilMs) refusals = 0;
    },
  };
}

/** Parses `Retry-After`, seconds or a date, into milliseconds from now; 0 if there is none. */
function parseRetryAfter(value: string | null, nowMs: number): number {
  if (value === null) return 0;
  const ms = /^\d{1,9}$/.test(value) ? Number(value) * 1_000 : Date.parse(value) - nowMs;
  return Number.isNaN(ms) ? 0 : Math.min(Math.max(ms, 0), RETRY_AFTER_MAX_MS);
}

/** Returns a random number from 0 to 1. */
function fractionOf(random: Random): number {
  return Number.parseInt(random.uuid().slice(0, 8), 16) / 2 ** 32;
}
