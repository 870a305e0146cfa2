export { changeByHand, createByHand, type Resent, resendByHand } from "./actions.ts";
export { type AddressRules, createAddressRules } from "./address-rules.ts";
export {
  getDelivery,
  insertTest,
  listDeliveries,
  purgeDeliveries,
  RESEND_LIMIT,
  resendEvent,
  resendRange,
} from "./deliveries.ts";
export { createDispatcher, type Dispatcher } from "./dispatcher.ts";
export {
  createEndpoint,
  deleteEndpoint,
  type EndpointDeps,
  type EndpointRef,
  getEndpoint,
  listEndpoints,
  rotateSecret,
  updateEndpoint,
} from "./endpoints.ts";
export { WEBHOOK_GAUGES } from "./gauges.ts";
export { createWebhookPost, POST_ERRORS } from "./post.ts";
export { WEBHOOK_SCHEMES, type WebhookScheme } from "./secrets.ts";
export {
  type DeliveryFacts,
  type DeliveryState,
  DELIVERY_STATES,
  DISABLED_REASONS,
  type EndpointFacts,
} from "./types.ts";
