/** Processes every event exactly once, across restarts of the service and of this process. */
import {
  createSluiceClient,
  type EventItem,
  followEvents,
  type SluiceClientOptions,
} from "@sluice/sdk";

/** Your own database. */
export interface EventStore {
  /** Returns the `timestamp` of the last processed event; undefined before the first. */
  readCursor(): Promise<string | undefined>;
  /** Processes an event and stores its timestamp in one transaction. */
  process(event: EventItem): Promise<void>;
}

/** Processes every event until the signal aborts. */
export async function processEvents(
  service: SluiceClientOptions,
  store: EventStore,
  signal: AbortSignal,
): Promise<void> {
  const since = await store.readCursor();
  const events = followEvents({
    client: createSluiceClient(service),
    baseUrl: service.baseUrl,
    apiKey: service.apiKey,
    signal,
    ...(since === undefined ? {} : { since }),
  });
  for await (const event of events) await store.process(event);
}
