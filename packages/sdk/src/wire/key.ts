/** API keys: their scopes, and what a key may know about itself. */
import { Type, type Static } from "typebox";
import { nullable, oneOf, timestamp, uuid } from "./fields.ts";

/** Scopes of API keys. Each endpoint needs one; a key without restrictions has all of them, later ones included. */
export const KEY_SCOPES = ["read", "quote", "settle", "webhooks", "refunds", "pay"] as const;
/** A scope of an API key. */
export type KeyScope = (typeof KEY_SCOPES)[number];

/** The limits that are counted per key and minute. */
export const KEY_LIMITS = [
  "perKey",
  "requestIndexPerKey",
  "newAddressesPerKey",
  "nodeRequestsPerKey",
] as const;

const count = (description: string) => Type.Integer({ minimum: 0, description });

const Limit = Type.Object({
  name: oneOf(KEY_LIMITS, "The limit"),
  limit: count("The most per minute"),
  remaining: count("What is left of it in this minute, as this server counts"),
  resetSeconds: count("Seconds until the minute ends"),
});

const Day = Type.Object({
  day: Type.String({ pattern: "^\\d{4}-\\d{2}-\\d{2}$", description: "Calendar day in UTC" }),
  requests: count("Requests that were admitted"),
  nodeRequests: count("Requests to nodes that they caused"),
});

/** The API key of a request: its rights, limits and use. */
export const KeySelf = Type.Object(
  {
    id: uuid("Id of the key, as `sluice key list` shows it"),
    integratorId: uuid("The integrator"),
    integratorName: Type.String({ description: "Name of the integrator" }),
    label: Type.Optional(Type.String({ description: "Label of the key; absent without one" })),
    scopes: Type.Array(oneOf(KEY_SCOPES, "A scope"), { description: "What the key may do" }),
    depositAddresses: Type.Boolean({ description: "Whether its quotes carry deposit addresses" }),
    allowedNetworks: nullable(
      Type.Array(Type.String(), { description: "Addresses, and networks in CIDR notation" }),
      "Where the key may be used from; null: from every address",
    ),
    address: Type.String({ description: "The address that this request came from" }),
    createdAt: timestamp("Time of creation"),
    expiresAt: nullable(timestamp("Time from which the key is refused"), "Null: never"),
    lastUsedAt: nullable(
      timestamp("Time of an earlier request, updated about once a minute"),
      "Null: not used yet",
    ),
    limits: Type.Array(Limit, { description: "What is left of the limits of this minute" }),
    usage: Type.Array(Day, {
      description:
        "Requests of the last 30 days, newest first, without days of no request; the last minute may be missing",
    }),
  },
  { $id: "KeySelf", description: "The API key of the request: its rights, limits and use" },
);
/** The API key of a request: its rights, limits and use. */
export type KeySelf = Static<typeof KeySelf>;
