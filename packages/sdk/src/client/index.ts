/** Client of the service: requests, stream, waiting, payment URIs and errors. */
export {
  SluiceApiError,
  SluiceGapError,
  SluiceResponseError,
  SluiceTimeoutError,
} from "./errors.ts";
export { type FollowOptions, followEvents } from "./follow.ts";
export {
  type EvmPayment,
  type SolanaPayment,
  toEvmPaymentUri,
  toSolanaPaymentUri,
} from "./payment-uri.ts";
export {
  type CallOptions,
  createSluiceClient,
  type PlainEventsQuery,
  type PostOptions,
  type SluiceClient,
  type SluiceClientOptions,
} from "./rest-client.ts";
export { waitForSettlement, type WaitOptions } from "./settlement.ts";
export {
  type ConnectionOptions,
  connectStream,
  type ExtendedStreamOptions,
  type Stream,
  type StreamOptions,
} from "./stream-client.ts";
