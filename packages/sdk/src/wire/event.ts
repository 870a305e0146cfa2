/**
 * Events, in the replay and on the stream.
 *
 * Items of the replay have an `id`, those of the stream do not. Both have the same `timestamp`, which is unique and
 * strictly increasing per integrator.
 */
import { Type, type Static } from "typebox";
import {
  DepositDetectedDetails,
  RefundChangedDetails,
  RefundDetectedDetails,
  StatusChangedDetails,
} from "./details.ts";
import {
  address,
  baseUnits,
  bridgeChainId,
  nextCursor,
  nullable,
  oneOf,
  timestamp,
  uuid,
} from "./fields.ts";
import { REFUND_STATES } from "./refund-states.ts";
import { SETTLEMENT_STATUS_NAMES } from "./statuses.ts";
import { statusFields } from "./status-fields.ts";

/** Reasons why a detected deposit is not settled. */
export const IGNORED_REASONS = [
  "below_token_min",
  "below_min",
  "no_adapter",
  "enqueue_error",
] as const;
/** The reason why a detected deposit is not settled. */
export type IgnoredReason = (typeof IGNORED_REASONS)[number];

const depositFields = {
  walletAddress: address("The deposit address"),
  chainId: bridgeChainId("Chain the deposit arrived on"),
  tokenAddress: address("The token that arrived"),
};

/** Data of `deposit_detected`: `ignoredReason` is present exactly when the deposit was not queued. */
export const DepositDetectedData = Type.Union(
  [
    Type.Object(
      {
        ...depositFields,
        queued: Type.Literal(true, { description: "The deposit entered the queue" }),
      },
      { additionalProperties: false },
    ),
    Type.Object(
      {
        ...depositFields,
        queued: Type.Literal(false, { description: "The deposit did not enter the queue" }),
        ignoredReason: oneOf(IGNORED_REASONS, "Why it was not queued"),
      },
      { additionalProperties: false },
    ),
  ],
  { $id: "DepositDetectedData", description: "A deposit was detected on chain" },
);
/** Data of `deposit_detected`. */
export type DepositDetectedData = Static<typeof DepositDetectedData>;

/** Data of `status_changed`: one event per transition, including each retry and each deferral. */
export const StatusChangedData = Type.Object(
  {
    queueItemId: uuid("Id of the settlement, the swap's `id`"),
    ...statusFields,
    prevStatus: oneOf(SETTLEMENT_STATUS_NAMES, "Status before"),
    txHash: nullable(
      Type.String({ description: "Transaction hash or signature" }),
      "Deployment on the transition into `pending_swap`, settlement on the one into `completed`, otherwise null",
    ),
  },
  { $id: "StatusChangedData", description: "A settlement changed its status" },
);
/** Data of `status_changed`. */
export type StatusChangedData = Static<typeof StatusChangedData>;

const depositDetected = {
  type: Type.Literal("deposit_detected", { description: "A deposit was detected" }),
  data: DepositDetectedData,
  timestamp: timestamp("When it happened"),
};

const statusChanged = {
  type: Type.Literal("status_changed", { description: "A settlement changed its status" }),
  data: StatusChangedData,
  timestamp: timestamp("When it happened"),
};

/** Item of `GET /events`. */
export const EventItem = Type.Union(
  [
    Type.Object({ id: uuid("Id of the event"), ...depositDetected }),
    Type.Object({ id: uuid("Id of the event"), ...statusChanged }),
  ],
  { $id: "EventItem", description: "A stored event" },
);
/** A stored event. */
export type EventItem = Static<typeof EventItem>;

/** Response of `GET /events`, oldest first. */
export const EventPage = Type.Object(
  {
    items: Type.Array(EventItem, { description: "Events, oldest first" }),
    nextCursor: nextCursor("since"),
  },
  { $id: "EventPage", description: "A page of the replay" },
);
/** A page of the replay. */
export type EventPage = Static<typeof EventPage>;

/** Data of `refund_detected` and `refund_final`: value of a deposit address was paid to its refund authority. */
export const RefundDetectedData = Type.Object(
  {
    walletAddress: address("The deposit address"),
    chainId: bridgeChainId("Chain of the refund"),
    tokenAddress: address("The token that was refunded"),
    amount: baseUnits("Amount that was refunded"),
    txHash: Type.String({ description: "Transaction hash or signature" }),
    blockNumber: Type.Integer({ minimum: 0, description: "Block of the refund" }),
  },
  {
    $id: "RefundDetectedData",
    description:
      "A refund in a block. While the block is not final it may be orphaned; a refund that is mined again is detected again: dedupe by `txHash`, wallet and token",
  },
);
/** Data of `refund_detected` and `refund_final`. */
export type RefundDetectedData = Static<typeof RefundDetectedData>;

// One schema for both types: serializers reject a name twice.
const refundDetected = {
  type: oneOf(
    ["refund_detected", "refund_final"],
    "`refund_detected`: a refund is in a block, which may still be orphaned. `refund_final`: the block is final, and the refund authority has the value",
  ),
  data: RefundDetectedData,
  timestamp: timestamp("When it happened"),
  details: RefundDetectedDetails,
};

/** Data of `refund_changed`: a refund that the service makes reached a state. */
export const RefundChangedData = Type.Object(
  {
    refundId: uuid("Id of the refund, as in `GET /refunds`"),
    walletAddress: address("The deposit address"),
    chainId: bridgeChainId("Chain of the refund"),
    tokenAddress: address("The token"),
    amount: baseUnits("The most that is refunded"),
    state: oneOf(REFUND_STATES, "The new state, as in `GET /refunds`"),
    prevState: nullable(oneOf(REFUND_STATES, "State before"), "State before; null for the first"),
    terminal: Type.Boolean({
      description: "Whether the state is the last: `refunded`, `failed`, `refused` or `lapsed`",
    }),
    txHash: nullable(
      Type.String({ description: "Transaction hash or signature" }),
      "Newest transaction; null before the first. Until it is final another may replace it",
    ),
    refusal: nullable(
      Type.String({ description: "Text of an attestor" }),
      "Why the attestors refused; null unless they did",
    ),
  },
  { $id: "RefundChangedData", description: "A refund of the service changed its state" },
);
/** Data of `refund_changed`. */
export type RefundChangedData = Static<typeof RefundChangedData>;

const refundChanged = {
  type: Type.Literal("refund_changed", {
    description: "A refund that the service makes changed its state",
  }),
  data: RefundChangedData,
  timestamp: timestamp("When it happened"),
  details: RefundChangedDetails,
};

/** Data of `endpoint.disabled`: the service no longer sends webhooks to an endpoint. */
export const EndpointDisabledData = Type.Object(
  {
    endpointId: uuid("Id of the webhook endpoint"),
    reason: oneOf(["gone", "failing"], "gone: it answered 410; failing: for five days"),
    failingSince: timestamp("The first failure since the last success"),
  },
  {
    $id: "EndpointDisabledData",
    description:
      "The service disabled a webhook endpoint. Events from then on are not queued for it: enable it, and request them by their time",
  },
);
/** Data of `endpoint.disabled`. */
export type EndpointDisabledData = Static<typeof EndpointDisabledData>;

const endpointDisabled = {
  type: Type.Literal("endpoint.disabled", { description: "A webhook endpoint was disabled" }),
  data: EndpointDisabledData,
  timestamp: timestamp("When it happened"),
  details: Type.Null({ description: "This type has no details" }),
};

const details = {
  deposit_detected: nullable(
    DepositDetectedDetails,
    "Facts about the deposits; null for an event from before the service recorded details",
  ),
  status_changed: nullable(
    StatusChangedDetails,
    "Facts about the settlement; null for an event from before the service recorded details",
  ),
};

/** Item of `GET /events?extended=true`, and of a webhook that asked for details: an event with one more object. */
export const ExtendedEventItem = Type.Union(
  [
    Type.Object({
      id: uuid("Id of the event"),
      ...depositDetected,
      details: details.deposit_detected,
    }),
    Type.Object({ id: uuid("Id of the event"), ...statusChanged, details: details.status_changed }),
    Type.Object({ id: uuid("Id of the event"), ...refundDetected }),
    Type.Object({ id: uuid("Id of the event"), ...refundChanged }),
    Type.Object({ id: uuid("Id of the event"), ...endpointDisabled }),
  ],
  { $id: "ExtendedEventItem", description: "A stored event with details" },
);
/** A stored event with details. */
export type ExtendedEventItem = Static<typeof ExtendedEventItem>;

/** Response of `GET /events?extended=true`, oldest first. Addition to the published interface. */
export const ExtendedEventPage = Type.Object(
  {
    items: Type.Array(ExtendedEventItem, { description: "Events, oldest first" }),
    nextCursor: nextCursor("since"),
  },
  { $id: "ExtendedEventPage", description: "A page of the replay with details" },
);
/** A page of the replay with details. */
export type ExtendedEventPage = Static<typeof ExtendedEventPage>;

/** Name of the stream's channel for all events. */
export const STREAM_EVENT_CHANNEL = "event";
/** Name of the stream's first message. */
export const STREAM_CONNECTED_CHANNEL = "connected";

/** Payload of the channel `event`. */
export const StreamEvent = Type.Union(
  [Type.Object({ ...depositDetected }), Type.Object({ ...statusChanged })],
  { $id: "StreamEvent", description: "An event on the stream" },
);
/** An event on the stream. */
export type StreamEvent = Static<typeof StreamEvent>;

/** Payload of the channel `event` for a socket whose handshake asked for `extended`. */
export const ExtendedStreamEvent = Type.Union(
  [
    Type.Object({ ...depositDetected, details: details.deposit_detected }),
    Type.Object({ ...statusChanged, details: details.status_changed }),
    Type.Object({ ...refundDetected }),
    Type.Object({ ...refundChanged }),
    Type.Object({ ...endpointDisabled }),
  ],
  { $id: "ExtendedStreamEvent", description: "An event on the stream, with details" },
);
/** An event on the stream, with details. */
export type ExtendedStreamEvent = Static<typeof ExtendedStreamEvent>;

/** Payload of `connected`, sent after a successful handshake. */
export const ConnectedPayload = Type.Object(
  { integratorName: Type.String({ description: "Name of the integrator that owns the key" }) },
  { $id: "ConnectedPayload", description: "The stream is open" },
);
/** Payload of `connected`. */
export type ConnectedPayload = Static<typeof ConnectedPayload>;
