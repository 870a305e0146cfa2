/** How far a block is from final, in every addition that names one. */
import { Type } from "typebox";
import { nullable, oneOf } from "./fields.ts";

/** States of a transaction's block. */
export const FINALITY_STATES = ["seen", "confirming", "final", "orphaned"] as const;
/** State of a transaction's block. */
export type FinalityState = (typeof FINALITY_STATES)[number];

/** States of a deposit's block, which the service has always read. */
export const DEPOSIT_FINALITY_STATES = ["confirming", "final", "orphaned"] as const;
/** State of a deposit's block. */
export type DepositFinalityState = (typeof DEPOSIT_FINALITY_STATES)[number];

/** Fields about a block. */
export const finality = {
  finality: oneOf(
    FINALITY_STATES,
    "`seen`: not in a block that the service has read. `confirming`: in a block that may still be orphaned. `final`: in a " +
      "block that cannot be. `orphaned`: its block left the chain",
  ),
  confirmations: nullable(
    Type.Integer({ minimum: 0, description: "Blocks" }),
    "Blocks from its own to the newest read, both included; 0 while it is orphaned, null while it is only seen",
  ),
  confirmationsRequired: nullable(
    Type.Integer({ minimum: 1, description: "Blocks" }),
    "Confirmations with which blocks of the chain become final at present; null while unknown",
  ),
};
