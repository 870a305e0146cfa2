/**
 * Events without a gap and without a repetition, over losses of the connection. The stream only says when to look; what
 * is handed on is read from the replay, which has everything in its one order.
 */
import type { EventItem } from "../wire/index.ts";
import { SluiceApiError, SluiceGapError } from "./errors.ts";
import type { SluiceClient } from "./rest-client.ts";
import { connectStream } from "./stream-client.ts";
import { createPause } from "./wait.ts";

/** What to follow, and from where. */
export interface FollowOptions {
  readonly client: Pick<SluiceClient, "iterateEvents">;
  /** Base address of the service. */
  readonly baseUrl: string;
  /** The integrator's key, a UUID. */
  readonly apiKey: string;
  /** `timestamp` of the last event that was handled; from the oldest kept one without it. */
  readonly since?: string;
  /** Ends the iteration after the event under way. */
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
 * Every event after `since`, each once and in order, for as long as the signal does not abort.
 * @throws SluiceGapError when `since` is older than events are kept: some may be gone, so read `GET /swaps` and begin
 *   without it. SluiceApiError when the key is refused.
 */
export async function* followEvents(options: FollowOptions): AsyncGenerator<EventItem, void> {
  const { client, baseUrl, apiKey, signal, onError, pollMs = POLL_MS } = options;
  let { since } = options;
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
      checkHorizon(since);
      try {
        for await (const event of client.iterateEvents(since === undefined ? {} : { since })) {
          since = event.timestamp;
          yield event;
          if (signal?.aborted) return;
        }
      } catch (error) {
        if (error instanceof SluiceApiError && !error.retryable) throw error;
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

function checkHorizon(since: string | undefined): void {
  if (since === undefined || Date.now() - Date.parse(since) <= RETENTION_MS) return;
  throw new SluiceGapError(since);
}
