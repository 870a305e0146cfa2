/** Client of the service: requests, stream, waiting, payment URIs and errors. */
export {
  SluiceApiError,
  SluiceGapError,
  SluiceResponseError,
  SluiceTimeoutError,
  SluiceWebhookError,
} from "./errors.ts";
export { type FollowOptions, followEvents } from "./follow.ts";
export {
  type EvmPayment,
  type SolanaPayment,
  toEvmPaymentUri,
  toSolanaPaymentUri,
} from "./payment-uri.ts";
export {
  createSluiceClient,
  type PlainEventsQuery,
  type SluiceClient,
  type SluiceClientOptions,
} from "./rest-client.ts";
export type { CallOptions, PostOptions } from "./options.ts";
export {
  type IssuedVerification,
  type TrustedAccounts,
  verifyIssuedAddresses,
  type VerifyIssuedRequest,
} from "./verify-issued.ts";
export { type ReceivedWebhook, type VerifiedWebhook, verifyWebhook } from "./verify-webhook.ts";
export type { WebhookCalls } from "./webhooks.ts";
export { waitForSettlement, type WaitOptions } from "./settlement.ts";
export {
  type ConnectionOptions,
  connectStream,
  type ExtendedStreamOptions,
  type Stream,
  type StreamOptions,
} from "./stream-client.ts";
