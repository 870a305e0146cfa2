/** A client of the service: requests, stream, and what they throw. */
export { SluiceApiError, SluiceResponseError } from "./errors.ts";
export { createSluiceClient, type SluiceClient, type SluiceClientOptions } from "./rest-client.ts";
export { connectStream, type Stream, type StreamOptions } from "./stream-client.ts";
