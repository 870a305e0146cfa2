/**
 * Events, in the replay and on the stream.
 *
 * The replay's items carry an `id`, the stream's do not. Both carry the same `timestamp`, which is unique and strictly
 * increasing per integrator.
 */
import { Type, type Static } from "typebox";
import { address, bridgeChainId, nextCursor, nullable, oneOf, timestamp, uuid } from "./fields.ts";
import { SETTLEMENT_STATUS_NAMES } from "./statuses.ts";
import { statusFields } from "./status-fields.ts";

/** Why a deposit that was seen is not settled. */
export const IGNORED_REASONS = [
  "below_token_min",
  "below_min",
  "no_adapter",
  "enqueue_error",
] as const;
/** Why a deposit that was seen is not settled. */
export type IgnoredReason = (typeof IGNORED_REASONS)[number];

const depositFields = {
  walletAddress: address("The deposit address"),
  chainId: bridgeChainId("Chain the deposit arrived on"),
  tokenAddress: address("The token that arrived"),
};

/** Data of `deposit_detected`: `ignoredReason` is there exactly when the deposit was not queued. */
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
  { $id: "DepositDetectedData", description: "A deposit was seen on chain" },
);
/** Data of `deposit_detected`. */
export type DepositDetectedData = Static<typeof DepositDetectedData>;

/** Data of `status_changed`: one per transition, each retry and each deferral included. */
export const StatusChangedData = Type.Object(
  {
    queueItemId: uuid("Id of the settlement, the swap's `id`"),
    ...statusFields,
    prevStatus: oneOf(SETTLEMENT_STATUS_NAMES, "Status before"),
    txHash: nullable(
      Type.String({ description: "Transaction hash or signature" }),
      "Deployment on the way into `pending_swap`, settlement on the way into `completed`, else null",
    ),
  },
  { $id: "StatusChangedData", description: "A settlement moved" },
);
/** Data of `status_changed`. */
export type StatusChangedData = Static<typeof StatusChangedData>;

const depositDetected = {
  type: Type.Literal("deposit_detected", { description: "A deposit was seen" }),
  data: DepositDetectedData,
  timestamp: timestamp("When it happened"),
};

const statusChanged = {
  type: Type.Literal("status_changed", { description: "A settlement moved" }),
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

/** Answer of `GET /events`, oldest first. */
export const EventPage = Type.Object(
  {
    items: Type.Array(EventItem, { description: "Events, oldest first" }),
    nextCursor: nextCursor("since"),
  },
  { $id: "EventPage", description: "A page of the replay" },
);
/** A page of the replay. */
export type EventPage = Static<typeof EventPage>;

/** Name of the stream's channel that carries every event. */
export const STREAM_EVENT_CHANNEL = "event";
/** Name of the stream's greeting. */
export const STREAM_CONNECTED_CHANNEL = "connected";

/** Payload of the channel `event`. */
export const StreamEvent = Type.Union(
  [Type.Object({ ...depositDetected }), Type.Object({ ...statusChanged })],
  { $id: "StreamEvent", description: "An event as it is pushed" },
);
/** An event as it is pushed. */
export type StreamEvent = Static<typeof StreamEvent>;

/** Payload of the greeting after a successful handshake. */
export const ConnectedPayload = Type.Object(
  { integratorName: Type.String({ description: "Name of the integrator that owns the key" }) },
  { $id: "ConnectedPayload", description: "The stream is open" },
);
/** Payload of the stream's greeting. */
export type ConnectedPayload = Static<typeof ConnectedPayload>;
