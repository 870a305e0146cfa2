/** Settlements as `GET /swaps` lists them. */
import { Type, type Static } from "typebox";
import {
  address,
  baseUnits,
  bridgeChainIdText,
  nextCursor,
  nullable,
  timestamp,
  userId,
  uuid,
} from "./fields.ts";
import { statusFields } from "./status-fields.ts";

/** Item of `GET /swaps`: one settlement. */
export const Swap = Type.Object(
  {
    id: uuid("Id of the settlement, `queueItemId` in events"),
    ...statusFields,
    amount: nullable(
      baseUnits("Snapshot of the amount, for display"),
      "Best-effort snapshot for display; the settlement sweeps the wallet's live balance. Null if queued by request",
    ),
    swapTxHash: nullable(
      Type.String({ description: "Transaction hash or signature" }),
      "Settlement transaction on the source chain, null until it is mined",
    ),
    userId: userId("The user of the address"),
    destChain: bridgeChainIdText("Destination chain"),
    destWallet: address("Destination wallet"),
    destToken: address("Destination token"),
    createdAt: timestamp("When the settlement was queued"),
    updatedAt: timestamp("When the settlement last changed"),
  },
  { $id: "Swap", description: "A settlement: one sweep of a wallet and its delivery" },
);
/** A settlement. */
export type Swap = Static<typeof Swap>;

/** Response of `GET /swaps`, newest first. */
export const SwapPage = Type.Object(
  {
    items: Type.Array(Swap, { description: "Settlements, newest first" }),
    nextCursor: nextCursor("cursor"),
  },
  { $id: "SwapPage", description: "A page of settlements" },
);
/** A page of settlements. */
export type SwapPage = Static<typeof SwapPage>;
