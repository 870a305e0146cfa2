/** Queries of the list endpoints. Endpoints of the published interface ignore unknown parameters, additions refuse them. */
import { Type, type Static } from "typebox";
import { oneOf, timestampInput, uuid } from "./fields.ts";
import { DEPOSIT_FINALITY_STATES } from "./finality.ts";
import { SETTLEMENT_STATUS_NAMES } from "./statuses.ts";

/** Default page size of the lists. */
export const LIST_LIMIT_DEFAULT = 20;
/** Maximum page size of the lists. */
export const LIST_LIMIT_MAX = 100;
/** Default page size of the replay. */
export const EVENTS_LIMIT_DEFAULT = 50;
/** Maximum page size of the replay. */
export const EVENTS_LIMIT_MAX = 200;

/** The event types. */
export const EVENT_TYPES = ["deposit_detected", "status_changed"] as const;
/** An event type. */
export type EventType = (typeof EVENT_TYPES)[number];

/** The event types that readers see who ask for details; additions to the published interface. */
export const EXTENDED_EVENT_TYPES = [
  ...EVENT_TYPES,
  "refund_detected",
  "refund_final",
  "refund_changed",
  "endpoint.disabled",
] as const;
/** An event type that readers see who ask for details. */
export type ExtendedEventType = (typeof EXTENDED_EVENT_TYPES)[number];

/** Page of the newest-first lists: a page has items strictly older than `cursor`. */
export const ListQuery = Type.Object(
  {
    limit: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: LIST_LIMIT_MAX,
        default: LIST_LIMIT_DEFAULT,
        description: "Items per page (1 to 100)",
      }),
    ),
    cursor: Type.Optional(timestampInput("`nextCursor` of the previous page")),
  },
  { $id: "ListQuery", description: "Page of a list" },
);
/** Query of a list. */
export type ListQuery = Static<typeof ListQuery>;

const userIdFilter = Type.Optional(
  Type.String({
    description:
      "Only of this user: 0x and hex digits whose value fits 20 bytes, as in a quote request",
  }),
);

/** Query of `GET /deposit-addresses`. The filters are additions to the published interface and are combined with AND. */
export const DepositAddressesQuery = Type.Object(
  {
    ...ListQuery.properties,
    walletAddress: Type.Optional(Type.String({ description: "Only this deposit address" })),
    userId: userIdFilter,
    destChain: Type.Optional(
      Type.Integer({ minimum: 1, maximum: 65535, description: "Only with this destination chain" }),
    ),
    destToken: Type.Optional(Type.String({ description: "Only with this destination token" })),
    from: Type.Optional(timestampInput("Only issued at or after this time")),
    to: Type.Optional(timestampInput("Only issued before this time")),
  },
  { $id: "DepositAddressesQuery", description: "Filters and page of the deposit addresses" },
);
/** Query of the deposit addresses. */
export type DepositAddressesQuery = Static<typeof DepositAddressesQuery>;

/** Query of `GET /swaps`. The filters are additions to the published interface and are combined with AND. */
export const SwapsQuery = Type.Object(
  {
    ...ListQuery.properties,
    status: Type.Optional(oneOf(SETTLEMENT_STATUS_NAMES, "Only settlements in this status")),
    walletAddress: Type.Optional(Type.String({ description: "Only of this deposit address" })),
    userId: userIdFilter,
    chainId: Type.Optional(
      Type.Integer({ minimum: 1, maximum: 65535, description: "Only on this chain" }),
    ),
    tokenAddress: Type.Optional(
      Type.String({ description: "Only of this token of the source chain" }),
    ),
    txHash: Type.Optional(
      Type.String({
        description: "Only of this sweep or delivery: its transaction hash or signature",
      }),
    ),
    from: Type.Optional(timestampInput("Only created at or after this time")),
    to: Type.Optional(timestampInput("Only created before this time")),
  },
  { $id: "SwapsQuery", description: "Filters and page of the settlements" },
);
/** Query of the settlements. */
export type SwapsQuery = Static<typeof SwapsQuery>;

/** Query of `GET /deposits`. Addition to the published interface. */
export const DepositsQuery = Type.Object(
  {
    limit: ListQuery.properties.limit,
    cursor: Type.Optional(Type.String({ description: "`nextCursor` of the previous page" })),
    walletAddress: SwapsQuery.properties.walletAddress,
    chainId: SwapsQuery.properties.chainId,
    txHash: Type.Optional(
      Type.String({ description: "Only of this transaction, 0x and 64 hex digits" }),
    ),
    userId: SwapsQuery.properties.userId,
    tokenAddress: Type.Optional(Type.String({ description: "Only of this token" })),
    settlementId: Type.Optional(uuid("Only of this settlement")),
    queued: Type.Optional(
      Type.Boolean({
        description: "Only deposits that entered the queue, or only those that did not",
      }),
    ),
    finality: Type.Optional(
      oneOf(
        DEPOSIT_FINALITY_STATES,
        "Only deposits whose block is in this state: `confirming`, `final` or `orphaned`",
      ),
    ),
    from: Type.Optional(timestampInput("Only detected at or after this time")),
    to: Type.Optional(timestampInput("Only detected before this time")),
  },
  { $id: "DepositsQuery", description: "Filters and page of the deposits" },
);
/** Query of the deposits. */
export type DepositsQuery = Static<typeof DepositsQuery>;

/** Query of `GET /events`. Oldest first; a page has events strictly newer than `since`. */
export const EventsQuery = Type.Object(
  {
    since: Type.Optional(
      timestampInput("Return events after this time; absent starts at the oldest retained event"),
    ),
    type: Type.Optional(
      oneOf(
        EXTENDED_EVENT_TYPES,
        "Return only this type; types other than `deposit_detected` and `status_changed` only with `extended`",
      ),
    ),
    walletAddress: Type.Optional(
      Type.String({
        description: "Only of this deposit address; addition to the published interface",
      }),
    ),
    userId: Type.Optional(
      Type.String({
        description:
          "Only of this user, as in the details of events; addition to the published interface",
      }),
    ),
    tokenAddress: Type.Optional(
      Type.String({
        description: "Only of this token of the source chain; addition to the published interface",
      }),
    ),
    until: Type.Optional(
      timestampInput("Return events up to this time; addition to the published interface"),
    ),
    limit: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: EVENTS_LIMIT_MAX,
        default: EVENTS_LIMIT_DEFAULT,
        description: "Items per page (1 to 200)",
      }),
    ),
    extended: Type.Optional(
      Type.Boolean({
        default: false,
        description:
          "Whether each event has `details`, and events of further types are returned; addition to the published interface",
      }),
    ),
  },
  { $id: "EventsQuery", description: "Filters and page of the replay" },
);
/** Query of the replay. */
export type EventsQuery = Static<typeof EventsQuery>;
