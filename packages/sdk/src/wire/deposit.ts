/** Deposits as `GET /deposits` lists them. Beside the published interface. */
import { Type, type Static } from "typebox";
import { IGNORED_REASONS } from "./event.ts";
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

/** Item of `GET /deposits`: one transfer to a deposit address, or value that its balance showed. */
export const Deposit = Type.Object(
  {
    id: uuid("Id of the record"),
    chainId: bridgeChainId("Chain the deposit arrived on"),
    walletAddress: address("The deposit address"),
    userId: userId("The user bound to the address"),
    tokenAddress: address("The token that arrived"),
    amount: baseUnits("What arrived"),
    txHash: nullable(
      Type.String({ description: "Transaction hash or signature" }),
      "Transaction that brought it; null where the balance alone shows it",
    ),
    sender: nullable(address("Who sent it"), "Null where the balance alone shows it"),
    blockNumber: Type.Integer({ minimum: 0, description: "Block that holds it" }),
    confirmations: Type.Integer({
      minimum: 0,
      description:
        "Blocks from its own to the newest that was scanned; 0 while it is off the chain",
    }),
    queued: Type.Boolean({ description: "Whether it entered the queue" }),
    ignoredReason: nullable(oneOf(IGNORED_REASONS, "Why it did not"), "Null when it was queued"),
    queueItemId: nullable(uuid("The settlement it went into"), "Null while it is in none"),
    detectedAt: timestamp("When it was seen"),
  },
  { $id: "Deposit", description: "Value that arrived at a deposit address" },
);
/** Value that arrived at a deposit address. */
export type Deposit = Static<typeof Deposit>;

/** Pattern of the cursor of `GET /deposits`: many arrive in one millisecond, so it names a row. */
export const DEPOSIT_CURSOR_PATTERN =
  "^\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}:\\d{2}\\.\\d{3}Z_[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$";

/** Answer of `GET /deposits`, newest first. */
export const DepositPage = Type.Object(
  {
    items: Type.Array(Deposit, { description: "Deposits, newest first" }),
    nextCursor: nullable(
      Type.String({ pattern: DEPOSIT_CURSOR_PATTERN, description: "The last item of this page" }),
      "Pass it back as `cursor`; null when there are no more items",
    ),
  },
  { $id: "DepositPage", description: "A page of deposits" },
);
/** A page of deposits. */
export type DepositPage = Static<typeof DepositPage>;
