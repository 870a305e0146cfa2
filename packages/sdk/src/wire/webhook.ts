/** Webhooks: endpoints, deliveries and requests. Additions to the published interface. */
import { Type, type Static } from "typebox";
import { DEPOSIT_CURSOR_PATTERN } from "./deposit.ts";
import { nullable, oneOf, timestamp, timestampInput, uuid } from "./fields.ts";
import { ListQuery } from "./pages.ts";

/** Schemes of signatures, by the Standard Webhooks specification: Ed25519 and HMAC-SHA256. */
export const WEBHOOK_SCHEME_NAMES = ["v1a", "v1"] as const;
/** Reasons why an endpoint is disabled. */
export const WEBHOOK_DISABLED_REASONS = ["requested", "gone", "failing"] as const;
/** States of a delivery. */
export const WEBHOOK_DELIVERY_STATES = ["pending", "delivered", "failed"] as const;
/** Why an attempt failed. */
export const WEBHOOK_ATTEMPT_ERRORS = [
  "not_accepted",
  "redirected",
  "timed_out",
  "address_refused",
  "name_not_resolved",
  "connection_failed",
  "tls_failed",
] as const;
/** The longest time that the secret before a rotation stays valid, in seconds. */
export const WEBHOOK_OVERLAP_MAX_S = 604_800;
/** The time that it stays valid by default, in seconds. */
export const WEBHOOK_OVERLAP_S = 86_400;

const strict = { additionalProperties: false };
const scheme = (description: string) => oneOf(WEBHOOK_SCHEME_NAMES, description);

const settings = {
  url: Type.String({
    minLength: 1,
    maxLength: 2_048,
    description: "Where events are sent by POST: an https URL without user, password and fragment",
  }),
  description: nullable(
    Type.String({ maxLength: 200, description: "Text of your own" }),
    "Text of your own; null without one",
  ),
  types: nullable(
    Type.Array(Type.String({ pattern: "^[a-z]+([._][a-z]+)*$", maxLength: 60 }), {
      minItems: 1,
      maxItems: 20,
      description: "Event types, such as status_changed",
    }),
    "Event types that are sent; null for all",
  ),
  extended: Type.Boolean({
    description: "Whether events carry `details`, and types beyond the published two are sent",
  }),
  ordered: Type.Boolean({
    description:
      "Whether the events of a wallet and token are sent one after the other: each waits until the one before it was accepted or failed for good",
  }),
};

/** A secret of an endpoint, without the secret itself. */
export const WebhookSecret = Type.Object(
  {
    id: uuid("Id of the secret"),
    scheme: scheme("Scheme of its signatures: v1a is Ed25519, v1 HMAC-SHA256"),
    publicKey: nullable(
      Type.String({ pattern: "^whpk_", description: "The public key" }),
      "The key that verifies its signatures; null for v1",
    ),
    createdAt: timestamp("When it was created"),
    expiresAt: nullable(timestamp("When it stops signing"), "Null for the newest one"),
  },
  {
    $id: "WebhookSecret",
    description: "A secret of a webhook endpoint, without the secret itself",
  },
);

const endpointFields = {
  id: uuid("Id of the endpoint"),
  ...settings,
  state: oneOf(["enabled", "disabled"], "Whether events are sent"),
  disabledReason: nullable(
    oneOf(WEBHOOK_DISABLED_REASONS, "Why it is disabled"),
    "requested by you, gone (it answered 410) or failing (for five days); null while it is enabled",
  ),
  disabledAt: nullable(timestamp("When it was disabled"), "Null while it is enabled"),
  failingSince: nullable(
    timestamp("The first failure since the last success"),
    "Null while there is none",
  ),
  secrets: Type.Array(WebhookSecret, { description: "Valid secrets, the newest first" }),
  createdAt: timestamp("When it was created"),
};

/** An endpoint of webhooks. */
export const WebhookEndpoint = Type.Object(endpointFields, {
  $id: "WebhookEndpoint",
  description: "An endpoint that events are sent to",
});
/** An endpoint of webhooks. */
export type WebhookEndpoint = Static<typeof WebhookEndpoint>;

/** An endpoint with its new secret. */
export const WebhookEndpointWithSecret = Type.Object(
  {
    ...endpointFields,
    secret: nullable(
      Type.String({ pattern: "^whsec_", description: "The secret" }),
      "The secret that verifies signatures, shown only here; null for v1a, whose public key is in `secrets`",
    ),
  },
  {
    $id: "WebhookEndpointWithSecret",
    description: "An endpoint with its new secret, which is shown once",
  },
);
/** An endpoint with its new secret. */
export type WebhookEndpointWithSecret = Static<typeof WebhookEndpointWithSecret>;

const cursor = Type.String({
  pattern: DEPOSIT_CURSOR_PATTERN,
  description: "Cursor of the last item",
});
const nextCursor = nullable(cursor, "Pass it back as `cursor`; null when there are no more items");

/** Response of `GET /webhooks`, newest first. */
export const WebhookEndpointPage = Type.Object(
  { items: Type.Array(WebhookEndpoint, { description: "Endpoints, newest first" }), nextCursor },
  { $id: "WebhookEndpointPage", description: "A page of webhook endpoints" },
);
/** A page of endpoints. */
export type WebhookEndpointPage = Static<typeof WebhookEndpointPage>;

/** Body of `POST /webhooks`. */
export const WebhookEndpointBody = Type.Object(
  {
    url: settings.url,
    description: Type.Optional(settings.description),
    types: Type.Optional(settings.types),
    extended: Type.Optional(settings.extended),
    ordered: Type.Optional(settings.ordered),
    scheme: Type.Optional(scheme("Scheme of signatures; v1a by default")),
  },
  { ...strict, $id: "WebhookEndpointBody", description: "A new webhook endpoint" },
);
/** Body of `POST /webhooks`. */
export type WebhookEndpointBody = Static<typeof WebhookEndpointBody>;

/** Body of `POST /webhooks/{id}`: settings to change. */
export const WebhookEndpointChange = Type.Object(
  {
    url: Type.Optional(settings.url),
    description: Type.Optional(settings.description),
    types: Type.Optional(settings.types),
    extended: Type.Optional(settings.extended),
    ordered: Type.Optional(settings.ordered),
    enabled: Type.Optional(
      Type.Boolean({ description: "Enables or disables the endpoint; enabling ends its failures" }),
    ),
  },
  {
    ...strict,
    $id: "WebhookEndpointChange",
    description: "Settings of a webhook endpoint to change; absent ones stay",
  },
);
/** Body of `POST /webhooks/{id}`. */
export type WebhookEndpointChange = Static<typeof WebhookEndpointChange>;

/** Response of `DELETE /webhooks/{id}`. */
export const WebhookDeleted = Type.Object(
  { deleted: uuid("Id of the deleted endpoint") },
  { $id: "WebhookDeleted", description: "The endpoint was deleted" },
);
/** Response of `DELETE /webhooks/{id}`. */
export type WebhookDeleted = Static<typeof WebhookDeleted>;

/** Body of `POST /webhooks/{id}/rotate`. */
export const WebhookRotation = Type.Object(
  {
    scheme: Type.Optional(scheme("Scheme of the new secret; by default that of the one before")),
    overlapSeconds: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: WEBHOOK_OVERLAP_MAX_S,
        default: WEBHOOK_OVERLAP_S,
        description:
          "Seconds for which the secret before signs as well (a day by default); older secrets end at once",
      }),
    ),
  },
  { ...strict, $id: "WebhookRotation", description: "A rotation of an endpoint's secret" },
);
/** Body of `POST /webhooks/{id}/rotate`. */
export type WebhookRotation = Static<typeof WebhookRotation>;

/** Body of `POST /webhooks/{id}/test`. */
export const WebhookTestBody = Type.Object(
  {},
  { ...strict, $id: "WebhookTestBody", description: "A test; it has no fields" },
);
/** Body of `POST /webhooks/{id}/test`. */
export type WebhookTestBody = Static<typeof WebhookTestBody>;

/** An attempt of a delivery. */
export const WebhookAttempt = Type.Object(
  {
    attempt: Type.Integer({ minimum: 1, description: "Number of the attempt, from 1" }),
    at: timestamp("When the request began"),
    latencyMs: Type.Integer({
      minimum: 0,
      description: "Milliseconds until the answer or failure",
    }),
    status: nullable(
      Type.Integer({ minimum: 100, maximum: 999, description: "HTTP status" }),
      "HTTP status of the answer; null without one",
    ),
    error: nullable(
      oneOf(WEBHOOK_ATTEMPT_ERRORS, "Why it failed"),
      "Why it failed; null if it was accepted",
    ),
  },
  { $id: "WebhookAttempt", description: "An attempt to deliver an event" },
);

/** A delivery of an event to an endpoint. */
export const WebhookDelivery = Type.Object(
  {
    eventId: uuid("Id of the event, as in `webhook-id`; of a test an id of its own"),
    type: Type.String({ description: "Type of the event; `endpoint.test` of a test" }),
    timestamp: timestamp("Time of the event"),
    test: Type.Boolean({ description: "Whether it is a test" }),
    state: oneOf(
      WEBHOOK_DELIVERY_STATES,
      "pending while attempts follow, then delivered or failed",
    ),
    nextAttemptAt: nullable(timestamp("When the next attempt is due"), "Null unless pending"),
    attemptCount: Type.Integer({ minimum: 0, description: "Attempts so far" }),
    attempts: Type.Array(WebhookAttempt, {
      description: "The newest 20 attempts, the newest first",
    }),
  },
  { $id: "WebhookDelivery", description: "A delivery of an event to an endpoint" },
);
/** A delivery of an event to an endpoint. */
export type WebhookDelivery = Static<typeof WebhookDelivery>;

/** Response of `GET /webhooks/{id}/deliveries`, newest event first. */
export const WebhookDeliveryPage = Type.Object(
  {
    items: Type.Array(WebhookDelivery, { description: "Deliveries, newest event first" }),
    nextCursor,
  },
  { $id: "WebhookDeliveryPage", description: "A page of deliveries" },
);
/** A page of deliveries. */
export type WebhookDeliveryPage = Static<typeof WebhookDeliveryPage>;

/** Query of `GET /webhooks`. */
export const WebhooksQuery = Type.Object(
  {
    limit: ListQuery.properties.limit,
    cursor: Type.Optional(Type.String({ description: "`nextCursor` of the previous page" })),
  },
  { $id: "WebhooksQuery", description: "Page of the webhook endpoints" },
);
/** Query of the endpoints. */
export type WebhooksQuery = Static<typeof WebhooksQuery>;

/** Query of `GET /webhooks/{id}/deliveries`. */
export const WebhookDeliveriesQuery = Type.Object(
  {
    ...WebhooksQuery.properties,
    state: Type.Optional(oneOf(WEBHOOK_DELIVERY_STATES, "Only deliveries in this state")),
    from: Type.Optional(timestampInput("Only of events at or after this time")),
    to: Type.Optional(timestampInput("Only of events before this time")),
  },
  { $id: "WebhookDeliveriesQuery", description: "Filter and page of the deliveries" },
);
/** Query of the deliveries. */
export type WebhookDeliveriesQuery = Static<typeof WebhookDeliveriesQuery>;

/** Body of `POST /webhooks/{id}/resend`: one event by its id, or a range by its times. */
export const WebhookResend = Type.Object(
  {
    eventId: Type.Optional(uuid("Send only this event, which was queued for the endpoint before")),
    since: Type.Optional(timestampInput("Send the events strictly after this time")),
    until: Type.Optional(timestampInput("Send only events up to this time")),
  },
  {
    ...strict,
    $id: "WebhookResend",
    description: "Events to send again: `eventId`, or `since` with or without `until`",
  },
);
/** Body of `POST /webhooks/{id}/resend`. */
export type WebhookResend = Static<typeof WebhookResend>;

/** Response of `POST /webhooks/{id}/resend`. */
export const WebhookResent = Type.Object(
  {
    queued: Type.Integer({ minimum: 0, description: "Events that are sent again" }),
    nextCursor: nullable(
      timestamp("Time of the last event that was read"),
      "Pass it back as `since` to go on: a request reads 1000 events; null when the range is done",
    ),
  },
  { $id: "WebhookResent", description: "Events that are sent again" },
);
/** Response of `POST /webhooks/{id}/resend`. */
export type WebhookResent = Static<typeof WebhookResent>;
