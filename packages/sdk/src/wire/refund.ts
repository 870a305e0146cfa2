/** Refunds of deposits to the committed refund authority. Additions to the published interface. */
import { Type, type Static } from "typebox";
import { DEPOSIT_CURSOR_PATTERN } from "./deposit.ts";
import { noteFields } from "./details.ts";
import {
  address,
  baseUnits,
  bridgeChainId,
  nullable,
  oneOf,
  timestamp,
  timestampInput,
  userId,
  uuid,
} from "./fields.ts";
import { SwapsQuery, ListQuery } from "./pages.ts";
import { REFUND_POLICY_REASONS, REFUND_STATES } from "./refund-states.ts";
import { RequestIndexBody } from "./request-index.ts";

/** Body of `POST /refunds`. */
export const RefundBody = Type.Object(
  {
    ...RequestIndexBody.properties,
    note: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 200,
        description: "Text of your own about the refund, 1 to 200 characters",
      }),
    ),
  },
  {
    $id: "RefundBody",
    additionalProperties: false,
    description: "The whole balance of one token in one deposit address, to refund",
  },
);
/** Body of `POST /refunds`. */
export type RefundBody = Static<typeof RefundBody>;

/** A refund that the service makes. */
export const Refund = Type.Object(
  {
    id: uuid("Id of the refund"),
    chainId: bridgeChainId("Chain of the balance"),
    walletAddress: address("The deposit address"),
    depositAddressId: uuid("Id of the deposit address"),
    userId: userId("The user of the address"),
    ...noteFields,
    tokenAddress: address("The token"),
    amount: baseUnits("The most that is refunded"),
    refundTo: address("The refund authority, the only possible recipient"),
    state: oneOf(
      REFUND_STATES,
      "`requested`: not sent yet. `sent`: signed and sent. `mined`: in a block that may still be orphaned. `refunded`: in a final block. " +
        "`failed`: it reverted or was given up. `refused`: by the attestors. `lapsed`: not signed and sent in time. After the last three nothing was paid, and it can be requested again",
    ),
    policyReason: nullable(
      oneOf(REFUND_POLICY_REASONS, "Reason"),
      "The reason that the attestors are asked to sign; null on Solana, where the signer pays",
    ),
    refusal: nullable(
      Type.String({ description: "Text of an attestor" }),
      "Why the attestors refused; null unless they did",
    ),
    txHash: nullable(
      Type.String({ description: "Transaction hash or signature" }),
      "Newest transaction; null before the first. Until it is final another may replace it",
    ),
    note: nullable(
      Type.String({ description: "Text of the request" }),
      "Text of the request; null for one of the operator",
    ),
    requestedBy: oneOf(
      ["api_key", "operator", "policy"],
      "Who requested it; `policy` if nobody did",
    ),
    requestedAt: timestamp("When it was requested"),
  },
  { $id: "Refund", description: "A refund of a deposit address, made by the service" },
);
/** A refund that the service makes. */
export type Refund = Static<typeof Refund>;

/** A transaction that only the refund authority can send. */
export const RefundTransaction = Type.Object(
  {
    evmChainId: Type.Integer({ minimum: 1, description: "EIP-155 id of the chain" }),
    from: address("The refund authority, the only valid sender"),
    to: address("The factory"),
    data: Type.String({ pattern: "^0x([0-9a-f]{2})*$", description: "Calldata" }),
    value: baseUnits("Native coin to send, always 0"),
  },
  {
    $id: "RefundTransaction",
    description: "A transaction that only the refund authority can send, at any time",
  },
);

/** Response of `POST /refunds`: either a refund of the service, or a transaction for the refund authority. */
export const RefundResponse = Type.Object(
  {
    refund: nullable(
      Refund,
      "The refund, if the service may make it; the open one if there is one",
    ),
    transaction: nullable(
      RefundTransaction,
      "The transaction by which the refund authority takes the balance itself; null on Solana, where only the signer moves deposits",
    ),
    reason: nullable(
      Type.String({ description: "Text for people" }),
      "Why only the refund authority can refund; null if the service does",
    ),
  },
  {
    $id: "RefundResponse",
    description:
      "A refund of the service, or a transaction that only the refund authority can send",
  },
);
/** Response of `POST /refunds`. */
export type RefundResponse = Static<typeof RefundResponse>;

/** Query of `GET /refunds`. */
export const RefundsQuery = Type.Object(
  {
    limit: ListQuery.properties.limit,
    cursor: Type.Optional(Type.String({ description: "`nextCursor` of the previous page" })),
    walletAddress: SwapsQuery.properties.walletAddress,
    chainId: SwapsQuery.properties.chainId,
    userId: SwapsQuery.properties.userId,
    tokenAddress: Type.Optional(Type.String({ description: "Only of this token" })),
    state: Type.Optional(oneOf(REFUND_STATES, "Only refunds in this state")),
    from: Type.Optional(timestampInput("Only requested at or after this time")),
    to: Type.Optional(timestampInput("Only requested before this time")),
  },
  { $id: "RefundsQuery", description: "Filters and page of the refunds" },
);
/** Query of the refunds. */
export type RefundsQuery = Static<typeof RefundsQuery>;

/** Response of `GET /refunds`, newest first. */
export const RefundPage = Type.Object(
  {
    items: Type.Array(Refund, { description: "Refunds, newest first" }),
    nextCursor: nullable(
      Type.String({ pattern: DEPOSIT_CURSOR_PATTERN, description: "Cursor of the last item" }),
      "Pass it back as `cursor`; null when there are no more items",
    ),
  },
  { $id: "RefundPage", description: "A page of refunds" },
);
/** A page of refunds. */
export type RefundPage = Static<typeof RefundPage>;
