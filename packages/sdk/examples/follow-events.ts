/** Books every event once, over restarts of the service and of this process. */
import {
  createSluiceClient,
  type EventItem,
  followEvents,
  type SluiceClientOptions,
} from "@sluice/sdk";

/** Your own database: what was booked, and how far. */
export interface Books {
  /** `timestamp` of the last booked event, or undefined at the beginning. */
  readLast(): Promise<string | undefined>;
  /** Books an event and remembers its timestamp in one transaction. */
  book(event: EventItem): Promise<void>;
}

export async function bookEvents(
  service: SluiceClientOptions,
  books: Books,
  signal: AbortSignal,
): Promise<void> {
  const since = await books.readLast();
  const events = followEvents({
    client: createSluiceClient(service),
    baseUrl: service.baseUrl,
    apiKey: service.apiKey,
    signal,
    ...(since === undefined ? {} : { since }),
  });
  for await (const event of events) await books.book(event);
}
