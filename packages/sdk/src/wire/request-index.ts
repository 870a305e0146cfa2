/** Queueing a settlement by hand: `POST /request-index`. */
import { Type, type Static } from "typebox";
import { bridgeChainId, oneOf, uuid } from "./fields.ts";

/** Why a request did not queue a settlement. */
export const NOT_QUEUED_REASONS = ["already_queued", "below_token_min", "below_min"] as const;
/** Why a request did not queue a settlement. */
export type NotQueuedReason = (typeof NOT_QUEUED_REASONS)[number];

/** Body of `POST /request-index`. An unknown `chain` passes here and is answered with `UNSUPPORTED_CHAIN`. */
export const RequestIndexBody = Type.Object(
  {
    walletAddress: Type.String({
      minLength: 1,
      description: "One of the integrator's deposit addresses",
    }),
    tokenAddress: Type.String({
      minLength: 1,
      description: "Contract or mint, or `native` for the gas token",
    }),
    chain: Type.Integer({ description: "Chain that holds the token, a bridge chain id" }),
  },
  { $id: "RequestIndexBody", description: "What to settle" },
);
/** Body of `POST /request-index`. */
export type RequestIndexBody = Static<typeof RequestIndexBody>;

const echo = {
  chainId: bridgeChainId("The chain asked for"),
  walletAddress: Type.String({ description: "The wallet, as it was sent" }),
  tokenAddress: Type.String({ description: "The token, as it was sent" }),
};

/** Answer of `POST /request-index`: either a settlement id or a reason, and null for the other. */
export const RequestIndexResponse = Type.Union(
  [
    Type.Object({
      ...echo,
      queued: Type.Literal(true, { description: "A settlement was queued" }),
      queueItemId: uuid("Id of the settlement"),
      reason: Type.Null({ description: "Null when queued" }),
    }),
    Type.Object({
      ...echo,
      queued: Type.Literal(false, { description: "No settlement was queued" }),
      queueItemId: Type.Null({ description: "Null when not queued" }),
      reason: oneOf(NOT_QUEUED_REASONS, "Why nothing was queued"),
    }),
  ],
  { $id: "RequestIndexResponse", description: "Whether a settlement was queued" },
);
/** Answer of `POST /request-index`. */
export type RequestIndexResponse = Static<typeof RequestIndexResponse>;
