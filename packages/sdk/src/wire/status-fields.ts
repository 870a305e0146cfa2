/** Fields shared by a swap and its `status_changed` event. */
import { Type } from "typebox";
import { address, bridgeChainId, nullable, oneOf } from "./fields.ts";
import { ErrorObject } from "./errors.ts";
import { SETTLEMENT_CATEGORIES, SETTLEMENT_PHASES, SETTLEMENT_STATUS_NAMES } from "./statuses.ts";

/** The fields that a swap and its `status_changed` event share. */
export const statusFields = {
  status: oneOf(SETTLEMENT_STATUS_NAMES, "Current status"),
  phase: oneOf(SETTLEMENT_PHASES, "Phase of the settlement that the status belongs to"),
  category: oneOf(SETTLEMENT_CATEGORIES, "What the status means for the payment"),
  terminal: Type.Boolean({
    description: "True if no further transition will happen: `completed` or `dead`",
  }),
  chainId: bridgeChainId("Chain that holds the funds"),
  tokenAddress: address("Token being settled (contract or mint)"),
  walletAddress: address("The deposit address"),
  retryCount: Type.Integer({ minimum: 0, description: "Retries so far, deferrals included" }),
  error: nullable(ErrorObject, "Null unless failing, deferred or dead"),
};
