/** Queries of the lists. Unknown parameters are ignored. */
import { Type, type Static } from "typebox";
import { oneOf, timestampInput } from "./fields.ts";
import { SETTLEMENT_STATUS_NAMES } from "./statuses.ts";

/** Page size of the lists where none is asked for. */
export const LIST_LIMIT_DEFAULT = 20;
/** The largest page of the lists. */
export const LIST_LIMIT_MAX = 100;
/** Page size of the replay where none is asked for. */
export const EVENTS_LIMIT_DEFAULT = 50;
/** The largest page of the replay. */
export const EVENTS_LIMIT_MAX = 200;

/** The two types of events. */
export const EVENT_TYPES = ["deposit_detected", "status_changed"] as const;
/** A type of event. */
export type EventType = (typeof EVENT_TYPES)[number];

/** Query of `GET /deposit-addresses` and `GET /swaps`. Newest first; a page holds what is strictly older than `cursor`. */
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
  { $id: "ListQuery", description: "Which page of a list" },
);
/** Query of a list. */
export type ListQuery = Static<typeof ListQuery>;

/** Query of `GET /swaps`. Filters are beside the published interface; all that are given must hold. */
export const SwapsQuery = Type.Object(
  {
    ...ListQuery.properties,
    status: Type.Optional(oneOf(SETTLEMENT_STATUS_NAMES, "In this status only")),
    walletAddress: Type.Optional(Type.String({ description: "Of this deposit address only" })),
    userId: Type.Optional(
      Type.String({
        description:
          "Of this user only: 0x and hex digits whose value fits 20 bytes, as in a quote",
      }),
    ),
    chainId: Type.Optional(
      Type.Integer({ minimum: 1, maximum: 65535, description: "On this chain only" }),
    ),
  },
  { $id: "SwapsQuery", description: "Which settlements, and which page of them" },
);
/** Query of the settlements. */
export type SwapsQuery = Static<typeof SwapsQuery>;

/** Query of `GET /deposits`. Beside the published interface. */
export const DepositsQuery = Type.Object(
  {
    limit: ListQuery.properties.limit,
    cursor: Type.Optional(Type.String({ description: "`nextCursor` of the previous page" })),
    walletAddress: SwapsQuery.properties.walletAddress,
    chainId: SwapsQuery.properties.chainId,
    txHash: Type.Optional(
      Type.String({ description: "Brought by this transaction only, 0x and 64 hex digits" }),
    ),
  },
  { $id: "DepositsQuery", description: "Which deposits, and which page of them" },
);
/** Query of the deposits. */
export type DepositsQuery = Static<typeof DepositsQuery>;

/** Query of `GET /events`. Oldest first; a page holds what is strictly newer than `since`. */
export const EventsQuery = Type.Object(
  {
    since: Type.Optional(
      timestampInput("Return events after this time; absent starts at the oldest kept event"),
    ),
    type: Type.Optional(oneOf(EVENT_TYPES, "Return this type only")),
    walletAddress: Type.Optional(
      Type.String({ description: "Of this deposit address only; beside the published interface" }),
    ),
    limit: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: EVENTS_LIMIT_MAX,
        default: EVENTS_LIMIT_DEFAULT,
        description: "Items per page (1 to 200)",
      }),
    ),
  },
  { $id: "EventsQuery", description: "Which part of the replay" },
);
/** Query of the replay. */
export type EventsQuery = Static<typeof EventsQuery>;
