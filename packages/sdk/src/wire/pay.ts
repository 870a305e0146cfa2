/**
 * Pay links: read-only access to one deposit address for the person who pays it. The token is in the URL and is the only
 * credential; it names no other address. Additions to the published interface.
 */
import { Type, type Static } from "typebox";
import { CHAIN_KINDS } from "./chain.ts";
import { DEPOSIT_CURSOR_PATTERN, DEPOSIT_OUTCOMES } from "./deposit.ts";
import { SettlementFees } from "./details.ts";
import { IGNORED_REASONS } from "./event.ts";
import { address, baseUnits, bridgeChainId, nullable, oneOf, timestamp, uuid } from "./fields.ts";
import { DEPOSIT_FINALITY_STATES, finality } from "./finality.ts";
import { ListQuery } from "./pages.ts";
import { PayDepositCommitment } from "./quote.ts";
import { REFUND_STATES } from "./refund-states.ts";
import { SETTLEMENT_STATUS_NAMES } from "./statuses.ts";
import { TOKEN_STANDARDS } from "./source-config.ts";

/** Pattern of a token: 24 random bytes in base64url. */
export const PAY_TOKEN_PATTERN = "^[A-Za-z0-9_-]{32}$";
/** Lifetime of a pay link in seconds: the default, the least and the most. */
export const PAY_LINK_SECONDS = { default: 604_800, min: 60, max: 31_536_000 } as const;
/** Deposits and refunds that a status lists at most, the newest. */
export const PAY_LISTED_MAX = 20;
/** Settlements that a status lists at most, the newest; the outcomes of deposits tell of the others. */
export const PAY_SETTLEMENTS_MAX = 5;

const title = Type.String({
  pattern: "^[^\\u0000-\\u001f\\u007f\\ud800-\\udfff]{1,100}$",
  description: "Text above the address, such as the payee or the order, 1 to 100 characters",
});

/** Body of `POST /pay-links`. */
export const PayLinkBody = Type.Object(
  {
    depositAddressId: uuid("Id of the deposit address"),
    title: Type.Optional(title),
    expiresInSeconds: Type.Optional(
      Type.Integer({
        minimum: PAY_LINK_SECONDS.min,
        maximum: PAY_LINK_SECONDS.max,
        default: PAY_LINK_SECONDS.default,
        description: "Seconds from now until the link is refused, 60 to 31536000",
      }),
    ),
  },
  {
    $id: "PayLinkBody",
    description: "The address that a pay link shows",
    additionalProperties: false,
  },
);
/** Body of `POST /pay-links`. */
export type PayLinkBody = Static<typeof PayLinkBody>;

const link = {
  id: uuid("Id of the link"),
  depositAddressId: uuid("Id of the deposit address"),
  title: nullable(title, "Text above the address; null without one"),
  createdAt: timestamp("Time of creation"),
  expiresAt: timestamp("Time from which the link is refused"),
  revokedAt: nullable(timestamp("Time of revocation"), "Null while it is not revoked"),
};

/** A pay link, without its token. */
export const PayLink = Type.Object(link, {
  $id: "PayLink",
  description: "Read-only access to one deposit address",
});
/** A pay link, without its token. */
export type PayLink = Static<typeof PayLink>;

/** Response of `POST /pay-links`. */
export const PayLinkWithToken = Type.Object(
  {
    ...link,
    token: Type.String({
      pattern: PAY_TOKEN_PATTERN,
      description: "The token, shown only this once; the service stores a keyed hash",
    }),
    url: Type.String({ description: "URL of the page, with the token" }),
  },
  { $id: "PayLinkWithToken", description: "A new pay link with its token" },
);
/** A new pay link with its token. */
export type PayLinkWithToken = Static<typeof PayLinkWithToken>;

/** Query of `GET /pay-links`. */
export const PayLinksQuery = Type.Object(
  {
    limit: ListQuery.properties.limit,
    cursor: Type.Optional(Type.String({ description: "`nextCursor` of the previous page" })),
  },
  { $id: "PayLinksQuery", description: "Page of the pay links" },
);
/** Query of the pay links. */
export type PayLinksQuery = Static<typeof PayLinksQuery>;

/** Response of `GET /pay-links`, newest first. */
export const PayLinkPage = Type.Object(
  {
    items: Type.Array(PayLink, { description: "Pay links, newest first" }),
    nextCursor: nullable(
      Type.String({ pattern: DEPOSIT_CURSOR_PATTERN, description: "Cursor of the last item" }),
      "Pass it back as `cursor`; null when there are no more items",
    ),
  },
  { $id: "PayLinkPage", description: "A page of pay links" },
);
/** A page of pay links. */
export type PayLinkPage = Static<typeof PayLinkPage>;

/** Response of `DELETE /pay-links/{id}`. */
export const PayLinkRevoked = Type.Object(
  { revoked: uuid("Id of the link") },
  { $id: "PayLinkRevoked", description: "A pay link that is refused from now on" },
);
/** Response of `DELETE /pay-links/{id}`. */
export type PayLinkRevoked = Static<typeof PayLinkRevoked>;

/**
 * Reasons why a settlement waits, as the payer sees them. The reasons of the operator, such as a pause or a check, are one:
 * `operator`.
 */
export const PAY_WAIT_REASONS = [
  "worker",
  "confirmations",
  "transaction",
  "bridge",
  "delivery",
  "gas_price",
  "liquidity",
  "operator",
  "price",
  "node",
  "amount_too_small",
  "recipient",
  "refund",
  "reorg",
  "retry",
] as const;
/** Reason why a settlement waits, as the payer sees it. */
export type PayWaitReason = (typeof PAY_WAIT_REASONS)[number];

const explorerTxUrl = Type.String({
  description:
    "Explorer: the hash of a transaction follows; empty where no explorer shows the network",
});
const tokenFields = {
  symbol: Type.String({ description: "Symbol of the token, as the operator configured it" }),
  address: address("The token"),
  standard: oneOf(TOKEN_STANDARDS, "Standard of the token"),
  decimals: Type.Integer({ minimum: 0, maximum: 255, description: "Decimals of the token" }),
};
const payToken = Type.Object(tokenFields, { description: "A token" });

/** A chain that the address can be paid on, and the tokens that it delivers from there. */
export const PaySource = Type.Object(
  {
    chainId: bridgeChainId("The chain"),
    name: Type.String({ description: "Name of the chain" }),
    kind: oneOf(CHAIN_KINDS, "Family of the chain"),
    evmChainId: nullable(
      Type.Integer({ minimum: 1, description: "EIP-155 id" }),
      "EIP-155 id; null on Solana",
    ),
    explorerTxUrl,
    tokens: Type.Array(
      Type.Object({
        ...tokenFields,
        minDeposit: nullable(
          baseUnits("Least amount that is delivered"),
          "Least amount that is delivered; null without a minimum of the token",
        ),
        etaSeconds: Type.Integer({ minimum: 0, description: "Expected seconds to the delivery" }),
      }),
      { description: "Tokens that the address delivers from this chain" },
    ),
  },
  { $id: "PaySource", description: "A chain that the address can be paid on" },
);
/** A chain that the address can be paid on. */
export type PaySource = Static<typeof PaySource>;

const holding = {
  chainId: bridgeChainId("Chain"),
  tokenAddress: address("The token"),
};

/** A payment that arrived, as the payer sees it. */
export const PayDeposit = Type.Object(
  {
    id: uuid("Id of the deposit"),
    ...holding,
    amount: baseUnits("Amount that arrived"),
    txHash: nullable(
      Type.String({ description: "Transaction hash or signature" }),
      "Transaction; null if the deposit was found by balance",
    ),
    finality: oneOf(DEPOSIT_FINALITY_STATES, "State of its block"),
    confirmations: Type.Integer({ minimum: 0, description: "Blocks so far" }),
    confirmationsRequired: finality.confirmationsRequired,
    ignoredReason: nullable(
      oneOf(IGNORED_REASONS, "Why it is not delivered yet"),
      "Why it is not delivered yet; null if it is being delivered",
    ),
    settlementId: nullable(uuid("Its settlement"), "Its settlement; null while it has none"),
    outcome: oneOf(DEPOSIT_OUTCOMES, "What became of it, as in `GET /deposits`"),
    detectedAt: timestamp("When it was detected"),
  },
  { $id: "PayDeposit", description: "A payment that arrived" },
);
/** A payment that arrived. */
export type PayDeposit = Static<typeof PayDeposit>;

/** A delivery of payments, as the payer sees it. */
export const PaySettlement = Type.Object(
  {
    id: uuid("Id of the settlement"),
    ...holding,
    status: oneOf(SETTLEMENT_STATUS_NAMES, "Status of the settlement"),
    isRefunded: Type.Boolean({ description: "Whether it ended because its value was refunded" }),
    refundTxHash: nullable(
      Type.String({ description: "Transaction hash or signature" }),
      "Transaction of the refund; null without one",
    ),
    amount: nullable(baseUnits("Amount that is delivered"), "Null while it is not known"),
    waiting: nullable(
      Type.Object({
        reason: oneOf(PAY_WAIT_REASONS, "Why it waits"),
        chainId: nullable(bridgeChainId("Chain that is waited for"), "Null where it is none"),
        confirmations: nullable(
          Type.Integer({ minimum: 0, description: "Confirmations so far" }),
          "Confirmations so far; null where none are waited for",
        ),
        required: nullable(
          Type.Integer({ minimum: 1, description: "Confirmations" }),
          "Confirmations that are needed; null while unknown",
        ),
        retryAt: nullable(timestamp("Time of the next try"), "Null where it is due"),
      }),
      "Why it waits; null at its end",
    ),
    estimateSeconds: nullable(
      Type.Integer({ minimum: 0, description: "Seconds" }),
      "Usual seconds from its beginning to the delivery; null while unknown",
    ),
    sweepTxHash: nullable(
      Type.String({ description: "Transaction hash or signature" }),
      "Transaction that took the value from the address; null until it is mined",
    ),
    promisedAmount: nullable(
      baseUnits("Least amount of the destination token"),
      "Least amount that the recipient receives; null until it is fixed",
    ),
    deliveredAmount: nullable(
      baseUnits("Amount of the destination token"),
      "Amount that the recipient received; null until it is delivered",
    ),
    deliveryTxHash: nullable(
      Type.String({ description: "Transaction hash or signature" }),
      "Transaction that paid the recipient; null until it is delivered",
    ),
    fees: nullable(SettlementFees, "Fees that were taken; null until it is delivered"),
    createdAt: timestamp("When it began"),
    updatedAt: timestamp("When it changed last"),
  },
  { $id: "PaySettlement", description: "A delivery of payments" },
);
/** A delivery of payments. */
export type PaySettlement = Static<typeof PaySettlement>;

/** Response of `GET /pay/{token}/status`. */
export const PayStatus = Type.Object(
  {
    version: Type.String({ description: "Changes with the content; the id of stream events" }),
    title: nullable(title, "Text above the address; null without one"),
    expiresAt: timestamp("Time from which the link is refused"),
    address: Type.Object(
      {
        walletAddress: address("The deposit address"),
        chainType: oneOf(CHAIN_KINDS, "Family of the chains that it can be paid on"),
        commitment: PayDepositCommitment,
      },
      { description: "The deposit address and the fields that anyone can compute it from" },
    ),
    destination: Type.Object(
      {
        chainId: bridgeChainId("Destination chain"),
        name: Type.String({ description: "Name of the chain" }),
        explorerTxUrl,
        wallet: address("The recipient"),
        token: nullable(payToken, "The token that arrives; null if it is not listed any more"),
      },
      { description: "Where every payment to the address goes" },
    ),
    sources: Type.Array(PaySource, { description: "Chains and tokens that can be paid" }),
    deposits: Type.Array(PayDeposit, {
      description: `Newest payments first, at most ${PAY_LISTED_MAX}`,
    }),
    settlements: Type.Array(PaySettlement, {
      description: `Newest deliveries first, at most ${PAY_SETTLEMENTS_MAX}; payments of older ones say what became of them`,
    }),
    hasMore: Type.Boolean({ description: "Whether there are older payments or deliveries" }),
    missing: Type.Array(
      Type.Object({
        ...holding,
        held: baseUnits("Amount that waits at the address"),
        minimum: baseUnits("Least amount that is delivered"),
        missing: baseUnits("Amount to add"),
      }),
      { description: "Amounts below the minimum of their token, which wait for more" },
    ),
    refunds: Type.Array(
      Type.Object({
        id: uuid("Id of the refund"),
        ...holding,
        amount: baseUnits("The most that is refunded"),
        state: oneOf(REFUND_STATES, "State of the refund"),
        refundTo: address("The recipient of the refund"),
        txHash: nullable(Type.String({ description: "Transaction" }), "Null before the first"),
        requestedAt: timestamp("When it was requested"),
      }),
      { description: `Refunds, newest first, at most ${PAY_LISTED_MAX}` },
    ),
  },
  { $id: "PayStatus", description: "One deposit address, as its payer sees it" },
);
/** One deposit address, as its payer sees it. */
export type PayStatus = Static<typeof PayStatus>;

/** Pattern of an amount above zero, at most 78 digits. */
export const PAY_AMOUNT_PATTERN = "^0*[1-9]\\d{0,77}$";

/** Query of `GET /pay/{token}/terms`. */
export const PayTermsQuery = Type.Object(
  {
    chainId: Type.Integer({ minimum: 1, maximum: 65535, description: "Chain of the payment" }),
    tokenAddress: Type.String({ description: "Token of the payment" }),
    amount: Type.String({
      pattern: PAY_AMOUNT_PATTERN,
      description: "Amount of the payment in base units",
    }),
  },
  { $id: "PayTermsQuery", description: "A payment that is considered" },
);
/** Query of the terms. */
export type PayTermsQuery = Static<typeof PayTermsQuery>;

/** Response of `GET /pay/{token}/terms`. */
export const PayTerms = Type.Object(
  {
    expectedAmount: baseUnits("Amount of the destination token that would arrive"),
    minAmount: baseUnits("Least amount of it that the contracts or the signer let arrive"),
    fees: Type.Object(
      {
        service: baseUnits("The service's share"),
        gas: baseUnits("Gas"),
        bridge: baseUnits("The most that a bridge may keep"),
      },
      { description: "Fees that are taken from the amount, all of the source token" },
    ),
    etaSeconds: Type.Integer({ minimum: 0, description: "Expected seconds to the delivery" }),
    isBelowMinimum: Type.Boolean({
      description: "Whether the amount is too small to be delivered",
    }),
    quotedAt: timestamp("When the terms were computed"),
  },
  { $id: "PayTerms", description: "What would arrive of a payment now" },
);
/** What would arrive of a payment now. */
export type PayTerms = Static<typeof PayTerms>;
