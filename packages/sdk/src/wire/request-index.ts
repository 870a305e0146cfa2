/** Queues a settlement on request: `POST /request-index`. */
import { Type, type Static } from "typebox";
import { bridgeChainId, oneOf, uuid } from "./fields.ts";

/** Reasons why a request did not queue a settlement. */
export const NOT_QUEUED_REASONS = ["already_queued", "below_token_min", "below_min"] as const;
/** The reason why a request did not queue a settlement. */
export type NotQueuedReason = (typeof NOT_QUEUED_REASONS)[number];

/** Body of `POST /request-index`. Any integer passes as `chain`: an unknown one gets `UNSUPPORTED_CHAIN`. */
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
  { $id: "RequestIndexBody", description: "Token and wallet to settle" },
);
/** Body of `POST /request-index`. */
export type RequestIndexBody = Static<typeof RequestIndexBody>;

const echo = {
  chainId: bridgeChainId("The requested chain"),
  walletAddress: Type.String({ description: "The wallet, as it was sent" }),
  tokenAddress: Type.String({ description: "The token, as it was sent" }),
};

/** Response of `POST /request-index`: either a settlement id or a reason; the other is null. */
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
/** Response of `POST /request-index`. */
export type RequestIndexResponse = Static<typeof RequestIndexResponse>;
