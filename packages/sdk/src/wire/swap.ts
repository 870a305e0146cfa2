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
      baseUnits("Display snapshot of the amount"),
      "Best-effort snapshot; the wallet's live balance is what settles. Null when it was queued by request",
    ),
    swapTxHash: nullable(
      Type.String({ description: "Transaction hash or signature" }),
      "Settlement transaction on the source chain, null until it is mined",
    ),
    userId: userId("The user bound to the address"),
    destChain: bridgeChainIdText("Destination chain"),
    destWallet: address("Destination wallet"),
    destToken: address("Destination token"),
    createdAt: timestamp("When the settlement was queued"),
    updatedAt: timestamp("When the settlement last changed"),
  },
  { $id: "Swap", description: "A settlement: one sweep of a wallet and its delivery" },
);
/** A settlement as clients see it. */
export type Swap = Static<typeof Swap>;

/** Answer of `GET /swaps`, newest first. */
export const SwapPage = Type.Object(
  {
    items: Type.Array(Swap, { description: "Settlements, newest first" }),
    nextCursor: nextCursor("cursor"),
  },
  { $id: "SwapPage", description: "A page of settlements" },
);
/** A page of settlements. */
export type SwapPage = Static<typeof SwapPage>;
