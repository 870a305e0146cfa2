/** Everything recorded about one settlement, as `GET /settlements/{id}` returns it. Addition to the published interface. */
import { Type, type Static } from "typebox";
import { SettlementFees, StatusChangedDetails } from "./details.ts";
import { finality } from "./finality.ts";
import { baseUnits, bridgeChainId, nullable, oneOf, timestamp } from "./fields.ts";
import { Swap } from "./swap.ts";

/** Purposes of the transactions of a settlement. */
export const TRANSACTION_PURPOSES = [
  "deposit",
  "deployment",
  "sweep",
  "bridge_message",
  "delivery",
  "claim",
  "return",
  "refund",
] as const;
/** Purpose of a transaction. */
export type TransactionPurpose = (typeof TRANSACTION_PURPOSES)[number];

/** States of a transaction. */
export const TRANSACTION_STATES = ["queued", "sent", "mined", "abandoned"] as const;

/** Reasons why a settlement waits. */
export const WAIT_REASONS = [
  "worker",
  "confirmations",
  "transaction",
  "bridge",
  "bridge_allowance",
  "delivery",
  "exposure",
  "gas_price",
  "inventory",
  "inventory_share",
  "daily_cap",
  "operator_funds",
  "pause",
  "screening",
  "quarantine",
  "price",
  "node",
  "route",
  "amount_too_small",
  "configuration",
  "recipient",
  "refund",
  "reorg",
  "retry",
] as const;
/** Reason why a settlement waits. */
export type WaitReason = (typeof WAIT_REASONS)[number];

const REASON_TEXT =
  "`worker`: its turn. `confirmations`: a mined transaction to be final (n of m). `transaction`: a transaction to be mined. " +
  "`bridge`: the bridge's attestation or message. `bridge_allowance`: the bridge's fast allowance is used up. `delivery`: the " +
  "payment from inventory. `exposure`: payments before finality have no room, or are closed. `gas_price`: gas costs more than the fee cap allows. `inventory`, `inventory_share`, `daily_cap`: " +
  "the limit of payments from inventory, or of a swap, that is used up. `operator_funds`: coin for gas. `pause`, `screening`, " +
  "`quarantine`: held by the operator. `price`, `node`, `route`, `configuration`: a part that is not available now. " +
  "`amount_too_small`: more value. `recipient`: the recipient to accept. `refund`: a refund under way. `reorg`: an orphaned " +
  "deposit to return. `retry`: the next try after a failed one";

/** Why a settlement waits. */
export const SettlementWait = Type.Object(
  {
    reason: oneOf(WAIT_REASONS, REASON_TEXT),
    message: Type.String({ description: "The reason in words; may be reworded" }),
    chainId: nullable(
      bridgeChainId("Chain"),
      "Chain of the transaction or part that is waited for; null where it is none",
    ),
    confirmations: nullable(
      Type.Integer({ minimum: 0, description: "Confirmations so far" }),
      "Confirmations of the transaction that is waited for; null where it is none",
    ),
    required: nullable(
      Type.Integer({ minimum: 1, description: "Confirmations that finality takes at present" }),
      "Confirmations that finality takes on that chain at present; null while unknown",
    ),
    delayReason: nullable(
      Type.String({ description: "As the bridge's service names it" }),
      "The bridge's own reason for a late attestation; null without one",
    ),
    retryAt: nullable(
      timestamp("Time of the next try"),
      "Time of the next try; null where it is due",
    ),
  },
  { $id: "SettlementWait", description: "Why a settlement waits" },
);
/** Why a settlement waits. */
export type SettlementWait = Static<typeof SettlementWait>;

/** One transaction of a settlement. */
export const SettlementTransaction = Type.Object(
  {
    purpose: oneOf(TRANSACTION_PURPOSES, "What the transaction is for"),
    chainId: bridgeChainId("Chain of the transaction"),
    txHash: nullable(
      Type.String({ description: "Transaction hash or signature" }),
      "Hash of the mined transaction, or of the newest signed one; null before it is signed",
    ),
    state: oneOf(TRANSACTION_STATES, "State of the transaction"),
    succeeded: nullable(
      Type.Boolean({ description: "Whether it succeeded" }),
      "Whether it succeeded; null until it is mined",
    ),
    ...finality,
  },
  { $id: "SettlementTransaction", description: "One transaction of a settlement" },
);
/** One transaction of a settlement. */
export type SettlementTransaction = Static<typeof SettlementTransaction>;

/** Bases of a time estimate. */
export const ESTIMATE_BASES = ["recent_settlements"] as const;

const { properties: details } = StatusChangedDetails;

/** Response of `GET /settlements/{id}`: a swap and everything recorded about it. */
export const Settlement = Type.Object(
  {
    ...Swap.properties,
    depositAddressId: details.depositAddressId,
    label: details.label,
    metadata: details.metadata,
    deposits: details.deposits,
    moreDeposits: details.moreDeposits,
    route: details.route,
    tier: nullable(
      Type.String({ description: "A number of blocks, `safe` or `finalized`" }),
      "How deep the deposit's lock was when inventory paid: a number of blocks, its own included, `safe` or `finalized`; null until then, and on routes without inventory",
    ),
    sweptAmount: nullable(
      baseUnits("Amount of the source token"),
      "Amount that was swept; null until the sweep is recorded",
    ),
    promisedAmount: details.promisedAmount,
    deliveredAmount: details.deliveredAmount,
    deliveryTxHash: details.deliveryTxHash,
    plannedFees: nullable(
      Type.Object({
        service: baseUnits("The service's share"),
        gas: baseUnits("Gas"),
        bridge: baseUnits("The most that a bridge may keep"),
      }),
      "Fees by the terms of the sweep, all in base units of the source token; null before one is planned",
    ),
    fees: nullable(SettlementFees, "Fees that were taken; null until the settlement is completed"),
    transactions: Type.Array(SettlementTransaction, {
      description:
        "Its transactions on all chains, deposits first, then in the order of their making",
    }),
    waiting: nullable(
      SettlementWait,
      "Why it waits; null when it is terminal and no refund is open",
    ),
    estimate: nullable(
      Type.Object({
        seconds: Type.Integer({
          minimum: 0,
          description: "Expected seconds from queued to completed",
        }),
        basis: oneOf(ESTIMATE_BASES, "What the estimate is based on"),
        sample: Type.Integer({ minimum: 1, description: "Number of settlements it is based on" }),
      }),
      "Median duration of the integrator's newest settlements from this chain by this route; null without any, or once it is terminal",
    ),
  },
  { $id: "Settlement", description: "A settlement with everything recorded about it" },
);
/** A settlement with everything recorded about it. */
export type Settlement = Static<typeof Settlement>;
