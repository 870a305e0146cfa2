/**
 * Follows events across lost connections, each exactly once and in order. The stream is only a wake-up signal: events
 * are read from the replay (`GET /events`), which is complete and ordered.
 */
import type { EventItem } from "../wire/index.ts";
import { isRetryable, SluiceApiError, SluiceGapError } from "./errors.ts";
import type { SluiceClient } from "./rest-client.ts";
import { connectStream } from "./stream-client.ts";
import { createPause, takeUntilAborted } from "./wait.ts";

/** Input of `followEvents`. */
export interface FollowOptions {
  readonly client: Pick<SluiceClient, "iterateEvents">;
  /** Base address of the service, with or without a path. */
  readonly baseUrl: string;
  /** The integrator's key, a UUID. */
  readonly apiKey: string;
  /** `timestamp` of the last handled event. Default: start at the oldest retained event. */
  readonly since?: string;
  /** Ends the iteration: after the current event, or immediately while waiting for one. */
  readonly signal?: AbortSignal;
  /** Called with each retryable error. Following continues. */
  readonly onError?: (error: unknown) => void;
  /** Time between two reads while the stream signals no event, in milliseconds. Default 30000. */
  readonly pollMs?: number;
}

const POLL_MS = 30_000;
/** Minimum time between two reads. It batches events that arrive together and respects rate limits. */
const READ_INTERVAL_MS = 200;
const RETRY_MS = 1_000;
const RETENTION_MS = 30 * 86_400_000;

/** A time with an offset, or a date. Without an offset the instant would depend on the local time zone. */
const INSTANT = /^\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:Z|[+-]\d\d:\d\d))?$/;

/**
 * Yields every event after `since`, each once and in order, until the signal aborts.
 * @throws SluiceGapError when `since`, or the time up to which everything was read, is older than the retention: some
 *   events may be lost, so read `GET /swaps` and restart without `since`. SluiceApiError when the key is rejected;
 *   SluiceResponseError when a response does not match the interface and is not retryable; TypeError when `since` is
 *   malformed.
 */
export async function* followEvents(options: FollowOptions): AsyncGenerator<EventItem, void> {
  const { client, baseUrl, apiKey, signal, onError, pollMs = POLL_MS } = options;
  let { since } = options;
  // Everything up to this time was read, in milliseconds. Undefined while every read event is older than the retention.
  let completeMs = since === undefined ? undefined : parseInstant(since);
  const pause = createPause(signal);
  const throttle = createPause(signal);
  const rejected: { error?: SluiceApiError } = {};
  const stream = connectStream({
    baseUrl,
    apiKey,
    onEvent: () => pause.wake(),
    // Events may have been missed while the stream was down.
    onConnected: () => pause.wake(),
    onError(error, willRetry) {
      if (!willRetry && error instanceof SluiceApiError) rejected.error = error;
      else onError?.(error);
      pause.wake();
    },
  });
  try {
    while (!signal?.aborted) {
      if (rejected.error) throw rejected.error;
      const readMs = Date.now();
      if (completeMs !== undefined && !isRetained(completeMs, readMs)) {
        throw new SluiceGapError(new Date(completeMs).toISOString());
      }
      try {
        const query = since === undefined ? {} : { since };
        const read = client.iterateEvents(query, signal && { signal });
        for await (const event of takeUntilAborted(read, signal)) {
          since = event.timestamp;
          const eventMs = Date.parse(event.timestamp);
          if (isRetained(eventMs, Date.now())) completeMs = eventMs;
          yield event;
        }
        completeMs = readMs;
      } catch (error) {
        if (!isRetryable(error)) throw error;
        onError?.(error);
        await pause.wait(RETRY_MS);
        continue;
      }
      await throttle.wait(READ_INTERVAL_MS);
      await pause.wait(pollMs);
    }
  } finally {
    stream.close();
  }
}

/** Reports whether events of time `ms` are certain to be retained at `nowMs`. */
function isRetained(ms: number, nowMs: number): boolean {
  return nowMs - ms <= RETENTION_MS;
}

function parseInstant(since: string): number {
  const ms = INSTANT.test(since) ? Date.parse(since) : Number.NaN;
  if (Number.isNaN(ms)) {
    throw new TypeError(`since: expected a time such as 2026-01-31T12:00:00.000Z, got "${since}"`);
  }
  return ms;
}
