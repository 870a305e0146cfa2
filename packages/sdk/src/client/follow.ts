/**
 * Events without a gap and without a repetition, over losses of the connection. The stream only says when to look; what
 * is handed on is read from the replay, which has everything in its one order.
 */
import type { EventItem } from "../wire/index.ts";
import { mayPass, SluiceApiError, SluiceGapError } from "./errors.ts";
import type { SluiceClient } from "./rest-client.ts";
import { connectStream } from "./stream-client.ts";
import { createPause, takeUntilAborted } from "./wait.ts";

/** What to follow, and from where. */
export interface FollowOptions {
  readonly client: Pick<SluiceClient, "iterateEvents">;
  /** Base address of the service, with or without a path. */
  readonly baseUrl: string;
  /** The integrator's key, a UUID. */
  readonly apiKey: string;
  /** `timestamp` of the last event that was handled; from the oldest kept one without it. */
  readonly since?: string;
  /** Ends the iteration: after the event under way, or at once while nothing is. */
  readonly signal?: AbortSignal;
  /** Trouble that passes: it goes on by itself. */
  readonly onError?: (error: unknown) => void;
  /** How long to wait when nothing says that there is something, in milliseconds. Default 30000. */
  readonly pollMs?: number;
}

const POLL_MS = 30_000;
/** Between two reads: events that come close together are read together, and limits of rates are kept. */
const BREATH_MS = 200;
const RETRY_MS = 1_000;
const RETENTION_MS = 30 * 86_400_000;

/**
 * A time with its offset, or a day: without an offset the clock on the wall would decide which instant is meant.
 */
const INSTANT = /^\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:Z|[+-]\d\d:\d\d))?$/;

/**
 * Every event after `since`, each once and in order, for as long as the signal does not abort.
 * @throws SluiceGapError when `since`, or the time up to which everything was read, is longer ago than events are kept:
 *   some may be gone, so read `GET /swaps` and begin without it. SluiceApiError when the key is refused;
 *   SluiceResponseError when something else answers, and not for a while only; TypeError when `since` is no time.
 */
export async function* followEvents(options: FollowOptions): AsyncGenerator<EventItem, void> {
  const { client, baseUrl, apiKey, signal, onError, pollMs = POLL_MS } = options;
  let { since } = options;
  // Nothing is missing up to here, in milliseconds. Undefined while all that was read is older than what is kept for sure.
  let completeMs = since === undefined ? undefined : parseInstant(since);
  const pause = createPause(signal);
  const breath = createPause(signal);
  const refused: { error?: SluiceApiError } = {};
  const stream = connectStream({
    baseUrl,
    apiKey,
    onEvent: () => pause.wake(),
    // Whatever came while it was down is read now.
    onConnected: () => pause.wake(),
    onError(error, willRetry) {
      if (!willRetry && error instanceof SluiceApiError) refused.error = error;
      else onError?.(error);
      pause.wake();
    },
  });
  try {
    while (!signal?.aborted) {
      if (refused.error) throw refused.error;
      const readMs = Date.now();
      if (completeMs !== undefined && !isKept(completeMs, readMs)) {
        throw new SluiceGapError(new Date(completeMs).toISOString());
      }
      try {
        const query = since === undefined ? {} : { since };
        const read = client.iterateEvents(query, signal && { signal });
        for await (const event of takeUntilAborted(read, signal)) {
          since = event.timestamp;
          const eventMs = Date.parse(event.timestamp);
          if (isKept(eventMs, Date.now())) completeMs = eventMs;
          yield event;
        }
        completeMs = readMs;
      } catch (error) {
        if (!mayPass(error)) throw error;
        onError?.(error);
        await pause.wait(RETRY_MS);
        continue;
      }
      await breath.wait(BREATH_MS);
      await pause.wait(pollMs);
    }
  } finally {
    stream.close();
  }
}

/** Whether events of a time are certain to be kept at another. */
function isKept(ms: number, nowMs: number): boolean {
  return nowMs - ms <= RETENTION_MS;
}

function parseInstant(since: string): number {
  const ms = INSTANT.test(since) ? Date.parse(since) : Number.NaN;
  if (Number.isNaN(ms)) {
    throw new TypeError("since: expected a time such as 2026-01-31T12:00:00.000Z");
  }
  return ms;
}
