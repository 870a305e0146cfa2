/** The table of endpoints. The server is tested against it, and the reference documents are generated from it. */
import type { TSchema } from "typebox";
import { ChainList } from "./chain.ts";
import { DepositAddressPage, DepositAddressWithCommitment } from "./deposit-address.ts";
import { Deposit, DepositPage } from "./deposit.ts";
import type { ErrorCode } from "./errors.ts";
import { EventPage, ExtendedEventItem, ExtendedEventPage } from "./event.ts";
import { ExportedDeposit, ExportedSettlement, ExportQuery } from "./export.ts";
import { AddressesRequest, AddressesResponse } from "./issue-addresses.ts";
import { KeySelf, type KeyScope } from "./key.ts";
import { DepositAddressesQuery, DepositsQuery, EventsQuery, SwapsQuery } from "./pages.ts";
import { QuoteRequest, QuoteResponse } from "./quote.ts";
import {
  PayLinkBody,
  PayLinkPage,
  PayLinkRevoked,
  PayLinksQuery,
  PayLinkWithToken,
  PayStatus,
  PayTerms,
  PayTermsQuery,
} from "./pay.ts";
import { Refund, RefundBody, RefundPage, RefundResponse, RefundsQuery } from "./refund.ts";
import { RequestIndexBody, RequestIndexResponse } from "./request-index.ts";
import { Settlement } from "./settlement.ts";
import { SourceConfig } from "./source-config.ts";
import { Swap, SwapPage } from "./swap.ts";
import {
  WebhookDeleted,
  WebhookDeliveriesQuery,
  WebhookDelivery,
  WebhookDeliveryPage,
  WebhookEndpoint,
  WebhookEndpointBody,
  WebhookEndpointChange,
  WebhookEndpointPage,
  WebhookEndpointWithSecret,
  WebhookResend,
  WebhookResent,
  WebhookRotation,
  WebhooksQuery,
  WebhookTestBody,
} from "./webhook.ts";

/** One endpoint. */
export interface Operation {
  readonly id: string;
  readonly method: "GET" | "POST" | "DELETE";
  /** Path, with parameters in braces. */
  readonly path: string;
  readonly summary: string;
  /** Where the API key is sent; null if none is needed. */
  readonly key: "header" | "query" | null;
  /** Scope that the key must have; null if no key is needed, or every valid one will do. */
  readonly scope: KeyScope | null;
  /** The server of the endpoint. */
  readonly server: "service" | "quote";
  /** False for additions to the published interface. */
  readonly published: boolean;
  readonly query?: TSchema;
  readonly body?: TSchema;
  readonly response: TSchema;
  /** Whether the answer is a stream of lines in a format of `EXPORT_MEDIA`; `response` is one line of `jsonl`. */
  readonly lines?: true;
  /** Response if the query has `extended=true`; absent where it has no such parameter. */
  readonly extendedResponse?: TSchema;
  /** Error codes of this endpoint, in addition to the common ones. */
  readonly errors: readonly ErrorCode[];
}

/** Error codes of every endpoint. Endpoints that need a key add `UNAUTHORIZED` and `FORBIDDEN`. */
export const COMMON_ERRORS: readonly ErrorCode[] = [
  "VALIDATION_ERROR",
  "RPC_UNAVAILABLE",
  "INTERNAL",
];

const keyed = { key: "header", scope: "read", server: "service", published: true } as const;

const own = { ...keyed, published: false } as const;
const lines = { ...own, method: "GET", query: ExportQuery, lines: true, errors: [] } as const;
const webhooks = { ...own, scope: "webhooks" } as const;
const payLinks = { ...own, scope: "pay" } as const;
const open = { ...own, key: null, scope: null, method: "GET" } as const;
const webhook = { ...webhooks, errors: ["NOT_FOUND"] } as const;

const QUOTE_ERRORS: readonly ErrorCode[] = [
  "UNSUPPORTED_CHAIN",
  "UNSUPPORTED_ROUTE",
  "UNSUPPORTED_DEST",
  "AMOUNT_TOO_SMALL",
  "NO_ROUTE",
  "FEE_NOT_COVERED",
  "PRICE_UNAVAILABLE",
  "CONFIG_MISSING",
];

/** Every endpoint. */
export const OPERATIONS: readonly Operation[] = [
  {
    ...keyed,
    id: "listDepositAddresses",
    method: "GET",
    path: "/deposit-addresses",
    summary: "Deposit addresses, newest first",
    query: DepositAddressesQuery,
    response: DepositAddressPage,
    errors: [],
  },
  {
    ...keyed,
    id: "getDepositAddress",
    published: false,
    method: "GET",
    path: "/deposit-addresses/{id}",
    summary: "One deposit address with the preimage of its commitment",
    response: DepositAddressWithCommitment,
    errors: ["NOT_FOUND"],
  },
  {
    ...keyed,
    id: "listSwaps",
    method: "GET",
    path: "/swaps",
    summary: "Settlements, newest first",
    query: SwapsQuery,
    response: SwapPage,
    errors: [],
  },
  {
    ...keyed,
    id: "getSwap",
    published: false,
    method: "GET",
    path: "/swaps/{id}",
    summary: "One settlement",
    response: Swap,
    errors: ["NOT_FOUND"],
  },
  {
    ...keyed,
    id: "listDeposits",
    published: false,
    method: "GET",
    path: "/deposits",
    summary: "Deposits with their settlements, newest first",
    query: DepositsQuery,
    response: DepositPage,
    errors: [],
  },
  {
    ...keyed,
    id: "getDeposit",
    published: false,
    method: "GET",
    path: "/deposits/{id}",
    summary: "One deposit",
    response: Deposit,
    errors: ["NOT_FOUND"],
  },
  {
    ...keyed,
    id: "getSettlement",
    published: false,
    method: "GET",
    path: "/settlements/{id}",
    summary: "One settlement with its transactions, amounts, fees and why it waits",
    response: Settlement,
    errors: ["NOT_FOUND"],
  },
  {
    ...keyed,
    id: "listEvents",
    method: "GET",
    path: "/events",
    summary: "Stored events, oldest first",
    query: EventsQuery,
    response: EventPage,
    extendedResponse: ExtendedEventPage,
    errors: [],
  },
  {
    ...lines,
    id: "exportDeposits",
    path: "/exports/deposits",
    summary: "Deposits of a time range as CSV or JSON lines, oldest first",
    response: ExportedDeposit,
  },
  {
    ...lines,
    id: "exportSettlements",
    path: "/exports/settlements",
    summary: "Settlements of a time range as CSV or JSON lines, oldest first",
    response: ExportedSettlement,
  },
  {
    ...lines,
    id: "exportEvents",
    path: "/exports/events",
    summary: "Events of a time range with their details as CSV or JSON lines, oldest first",
    response: ExtendedEventItem,
  },
  {
    ...keyed,
    id: "requestIndex",
    scope: "settle",
    method: "POST",
    path: "/request-index",
    summary: "Queue a settlement of a token that is not detected automatically",
    body: RequestIndexBody,
    response: RequestIndexResponse,
    errors: ["UNSUPPORTED_CHAIN", "UNSUPPORTED_ROUTE", "NOT_FOUND"],
  },
  {
    ...own,
    id: "requestRefund",
    scope: "refunds",
    method: "POST",
    path: "/refunds",
    summary: "Refund the balance of a deposit address to its refund authority",
    body: RefundBody,
    response: RefundResponse,
    errors: ["UNSUPPORTED_CHAIN", "NOT_FOUND"],
  },
  {
    ...own,
    id: "listRefunds",
    method: "GET",
    path: "/refunds",
    summary: "Refunds of the service, newest first",
    query: RefundsQuery,
    response: RefundPage,
    errors: [],
  },
  {
    ...own,
    id: "getRefund",
    method: "GET",
    path: "/refunds/{id}",
    summary: "One refund",
    response: Refund,
    errors: ["NOT_FOUND"],
  },
  {
    ...payLinks,
    id: "createPayLink",
    method: "POST",
    path: "/pay-links",
    summary: "Create a link to the pay page of one deposit address; its token is shown once",
    body: PayLinkBody,
    response: PayLinkWithToken,
    errors: ["NOT_FOUND"],
  },
  {
    ...payLinks,
    id: "listPayLinks",
    method: "GET",
    path: "/pay-links",
    summary: "Pay links, newest first",
    query: PayLinksQuery,
    response: PayLinkPage,
    errors: [],
  },
  {
    ...payLinks,
    id: "revokePayLink",
    method: "DELETE",
    path: "/pay-links/{id}",
    summary: "Revoke a pay link",
    response: PayLinkRevoked,
    errors: ["NOT_FOUND"],
  },
  {
    ...open,
    id: "getPayStatus",
    path: "/pay/{token}/status",
    summary: "One deposit address as its payer sees it, by the token of a pay link",
    response: PayStatus,
    errors: ["NOT_FOUND"],
  },
  {
    ...open,
    id: "getPayTerms",
    path: "/pay/{token}/terms",
    summary: "What would arrive of a payment to the address of a pay link",
    query: PayTermsQuery,
    response: PayTerms,
    errors: [
      "NOT_FOUND",
      "UNSUPPORTED_ROUTE",
      "AMOUNT_TOO_SMALL",
      "NO_ROUTE",
      "FEE_NOT_COVERED",
      "PRICE_UNAVAILABLE",
      "CONFIG_MISSING",
    ],
  },
  {
    ...webhooks,
    id: "createWebhook",
    method: "POST",
    path: "/webhooks",
    summary: "Create a webhook endpoint; its secret is shown once",
    body: WebhookEndpointBody,
    response: WebhookEndpointWithSecret,
    errors: [],
  },
  {
    ...webhooks,
    id: "listWebhooks",
    method: "GET",
    path: "/webhooks",
    summary: "Webhook endpoints, newest first",
    query: WebhooksQuery,
    response: WebhookEndpointPage,
    errors: [],
  },
  {
    ...webhook,
    id: "getWebhook",
    method: "GET",
    path: "/webhooks/{id}",
    summary: "One webhook endpoint",
    response: WebhookEndpoint,
  },
  {
    ...webhook,
    id: "updateWebhook",
    method: "POST",
    path: "/webhooks/{id}",
    summary: "Change, enable or disable a webhook endpoint",
    body: WebhookEndpointChange,
    response: WebhookEndpoint,
  },
  {
    ...webhook,
    id: "deleteWebhook",
    method: "DELETE",
    path: "/webhooks/{id}",
    summary: "Delete a webhook endpoint",
    response: WebhookDeleted,
  },
  {
    ...webhook,
    id: "rotateWebhookSecret",
    method: "POST",
    path: "/webhooks/{id}/rotate",
    summary: "Create a new secret; the one before stays valid for a time",
    body: WebhookRotation,
    response: WebhookEndpointWithSecret,
  },
  {
    ...webhook,
    id: "testWebhook",
    method: "POST",
    path: "/webhooks/{id}/test",
    summary: "Send a test to a webhook endpoint, once",
    body: WebhookTestBody,
    response: WebhookDelivery,
  },
  {
    ...webhook,
    id: "resendWebhooks",
    method: "POST",
    path: "/webhooks/{id}/resend",
    summary: "Send events to a webhook endpoint again",
    body: WebhookResend,
    response: WebhookResent,
  },
  {
    ...webhook,
    id: "listWebhookDeliveries",
    method: "GET",
    path: "/webhooks/{id}/deliveries",
    summary: "Deliveries of a webhook endpoint with their attempts, newest event first",
    query: WebhookDeliveriesQuery,
    response: WebhookDeliveryPage,
  },
  {
    ...webhook,
    id: "getWebhookDelivery",
    method: "GET",
    path: "/webhooks/{id}/deliveries/{eventId}",
    summary: "One delivery with its attempts",
    response: WebhookDelivery,
  },
  {
    ...keyed,
    id: "getKeySelf",
    scope: null,
    published: false,
    method: "GET",
    path: "/keys/self",
    summary: "The API key of the request: its rights, limits and use",
    response: KeySelf,
    errors: [],
  },
  {
    ...keyed,
    id: "listChains",
    key: null,
    scope: null,
    method: "GET",
    path: "/chains",
    summary: "Every known chain",
    response: ChainList,
    errors: [],
  },
  {
    ...keyed,
    id: "getSourceConfig",
    key: null,
    scope: null,
    method: "GET",
    path: "/source-config",
    summary: "Chains and tokens that are detected automatically, with their minimums",
    response: SourceConfig,
    errors: [],
  },
  {
    id: "quote",
    method: "POST",
    path: "/v3/quote",
    summary: "Quotes for a transfer, with the deposit address",
    key: "query",
    scope: "quote",
    server: "quote",
    published: true,
    body: QuoteRequest,
    response: QuoteResponse,
    errors: QUOTE_ERRORS,
  },
  {
    id: "quoteByQuery",
    method: "GET",
    path: "/v3/quote",
    summary: "Quotes for a transfer, with the request in the query",
    key: "query",
    scope: "quote",
    server: "quote",
    published: true,
    query: QuoteRequest,
    response: QuoteResponse,
    errors: QUOTE_ERRORS,
  },
  {
    id: "issueAddresses",
    method: "POST",
    path: "/addresses",
    summary: "Issue many deposit addresses in one call, without quotes",
    key: "header",
    scope: "quote",
    server: "quote",
    published: false,
    body: AddressesRequest,
    response: AddressesResponse,
    errors: ["UNSUPPORTED_CHAIN", "UNSUPPORTED_ROUTE", "UNSUPPORTED_DEST", "CONFIG_MISSING"],
  },
];
