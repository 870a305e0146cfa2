/**
 * Back-off of one node: after a refusal for the rate of requests nothing is sent for a while, which doubles each time that all
 * requests after it are refused, and ends with a request that is answered.
 */
import type { Clock, Random } from "../../core/ports.ts";

const DELAY_MIN_MS = 500;
const DELAY_MAX_MS = 60_000;
/** The first delay of a node that refuses requests at any rate: fewer requests would be refused as often. */
const DELAY_AT_ANY_RATE_MS = 100;
/** A daily quota can ask for hours. The node is tried again meanwhile, as plans are upgraded. */
const RETRY_AFTER_MAX_MS = 15 * 60_000;

export interface BackOff {
  /** No request may be sent before this time. */
  readonly untilMs: number;
  /** Reports a refusal of a request. Returns whether it is the first of its kind. */
  refused(refusal: {
    readonly retryAfter: string | null;
    readonly sentMs: number;
    /** Whether the node refuses requests at any rate. */
    readonly isAtAnyRate: boolean;
  }): boolean;
  answered(sentMs: number): void;
}

export function createBackOff({ clock, random }: { clock: Clock; random: Random }): BackOff {
  let untilMs = 0;
  /** Requests since then were sent after the back-off before the current one. */
  let sinceMs = 0;
  /** Back-offs in a row during which nothing was answered. */
  let refusals = 0;
  return {
    get untilMs() {
      return untilMs;
    },
    refused({ retryAfter, sentMs, isAtAnyRate }) {
      const nowMs = clock.now();
      // Requests that were open together are refused together, which is one refusal.
      const isFirst = sentMs >= untilMs;
      if (isFirst) {
        refusals += 1;
        sinceMs = untilMs;
        const firstMs = isAtAnyRate && refusals === 1 ? DELAY_AT_ANY_RATE_MS : DELAY_MIN_MS;
        const delayMs = Math.min(firstMs * 2 ** (refusals - 1), DELAY_MAX_MS);
        untilMs = Math.max(untilMs, nowMs + delayMs * (0.5 + fractionOf(random) / 2));
      }
      const askedMs = parseRetryAfter(retryAfter, nowMs);
      // A little later than asked, since other processes of this account were asked the same.
      if (askedMs > 0) untilMs = Math.max(untilMs, nowMs + askedMs + 250 * fractionOf(random));
      return isFirst;
    },
    answered(sentMs) {
      // Requests that are sent together after a back-off are answered in any order, and some of them may be refused.
      if (sentMs >= sinceMs) refusals = 0;
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
