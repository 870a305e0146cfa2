/** Deposits as `GET /deposits` lists them. Addition to the published interface. */
import { Type, type Static } from "typebox";
import { noteFields } from "./details.ts";
import { IGNORED_REASONS } from "./event.ts";
import { finality } from "./finality.ts";
import {
  address,
  baseUnits,
  bridgeChainId,
  nullable,
  oneOf,
  timestamp,
  userId,
  uuid,
} from "./fields.ts";

/** Outcomes of a deposit. */
export const DEPOSIT_OUTCOMES = [
  "queued",
  "settling",
  "held",
  "settled",
  "dead",
  "refunded",
  "below_minimum",
  "no_route",
  "orphaned",
] as const;
/** What became of a deposit. */
export type DepositOutcome = (typeof DEPOSIT_OUTCOMES)[number];

/** Item of `GET /deposits`: one transfer to a deposit address, or an amount found by comparing balances. */
export const Deposit = Type.Object(
  {
    id: uuid("Id of the record"),
    chainId: bridgeChainId("Chain the deposit arrived on"),
    walletAddress: address("The deposit address"),
    userId: userId("The user of the address"),
    tokenAddress: address("The token that arrived"),
    amount: baseUnits("Amount that arrived"),
    txHash: nullable(
      Type.String({ description: "Transaction hash or signature" }),
      "Transaction of the deposit; null if it was found by balance",
    ),
    sender: nullable(address("Sender"), "Sender; null if the deposit was found by balance"),
    blockNumber: Type.Integer({ minimum: 0, description: "Block of the deposit" }),
    confirmations: Type.Integer({
      minimum: 0,
      description:
        "Blocks from the deposit's own to the newest scanned, both included; 0 while it is orphaned",
    }),
    finality: finality.finality,
    confirmationsRequired: finality.confirmationsRequired,
    queued: Type.Boolean({ description: "Whether the deposit entered the queue" }),
    ignoredReason: nullable(
      oneOf(IGNORED_REASONS, "Why it was not queued"),
      "Why it was not queued; null if it was",
    ),
    outcome: oneOf(
      DEPOSIT_OUTCOMES,
      "What became of it. `queued`: a settlement follows. `settling`: its settlement proceeds. `held`: its settlement failed or waits, and " +
        "is retried; `GET /settlements/{id}` says why. `settled`: delivered. `dead`: its settlement ended, and it is still in its address. " +
        "`refunded`: the refund authority took it. `below_minimum`: it waits in its address for more. `no_route`: no route takes the token " +
        "to the destination. `orphaned`: its block left the chain",
    ),
    queueItemId: nullable(
      uuid("Its settlement"),
      "Settlement of the deposit; null while it has none",
    ),
    depositAddressId: uuid("Id of the deposit address"),
    ...noteFields,
    detectedAt: timestamp("When the deposit was detected"),
  },
  { $id: "Deposit", description: "Value that arrived at a deposit address" },
);
/** Value that arrived at a deposit address. */
export type Deposit = Static<typeof Deposit>;

/** Pattern of the cursor of `GET /deposits`: many deposits can have the same timestamp, so it includes the id. */
export const DEPOSIT_CURSOR_PATTERN =
  "^\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}:\\d{2}\\.\\d{3}Z_[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$";

/** Response of `GET /deposits`, newest first. */
export const DepositPage = Type.Object(
  {
    items: Type.Array(Deposit, { description: "Deposits, newest first" }),
    nextCursor: nullable(
      Type.String({ pattern: DEPOSIT_CURSOR_PATTERN, description: "Cursor of the last item" }),
      "Pass it back as `cursor`; null when there are no more items",
    ),
  },
  { $id: "DepositPage", description: "A page of deposits" },
);
/** A page of deposits. */
export type DepositPage = Static<typeof DepositPage>;
