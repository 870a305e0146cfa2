/** The table of endpoints. The server is tested against it, and the reference documents are generated from it. */
import type { TSchema } from "typebox";
import { ChainList } from "./chain.ts";
import { DepositAddressPage, DepositAddressWithCommitment } from "./deposit-address.ts";
import { DepositPage } from "./deposit.ts";
import type { ErrorCode } from "./errors.ts";
import { EventPage } from "./event.ts";
import { DepositsQuery, EventsQuery, ListQuery, SwapsQuery } from "./pages.ts";
import { QuoteRequest, QuoteResponse } from "./quote.ts";
import { RequestIndexBody, RequestIndexResponse } from "./request-index.ts";
import { SourceConfig } from "./source-config.ts";
import { Swap, SwapPage } from "./swap.ts";

/** One endpoint. */
export interface Operation {
  readonly id: string;
  readonly method: "GET" | "POST";
  /** Path, with parameters in braces. */
  readonly path: string;
  readonly summary: string;
  /** Where the API key is sent; null if none is needed. */
  readonly key: "header" | "query" | null;
  /** The server of the endpoint. */
  readonly server: "service" | "quote";
  /** False for additions to the published interface. */
  readonly published: boolean;
  readonly query?: TSchema;
  readonly body?: TSchema;
  readonly response: TSchema;
  /** Error codes of this endpoint, in addition to the common ones. */
  readonly errors: readonly ErrorCode[];
}

/** Error codes of every endpoint. Endpoints that need a key add `UNAUTHORIZED` and `FORBIDDEN`. */
export const COMMON_ERRORS: readonly ErrorCode[] = [
  "VALIDATION_ERROR",
  "RPC_UNAVAILABLE",
  "INTERNAL",
];

const keyed = { key: "header", server: "service", published: true } as const;

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
    query: ListQuery,
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
    id: "listEvents",
    method: "GET",
    path: "/events",
    summary: "Stored events, oldest first",
    query: EventsQuery,
    response: EventPage,
    errors: [],
  },
  {
    ...keyed,
    id: "requestIndex",
    method: "POST",
    path: "/request-index",
    summary: "Queue a settlement of a token that is not detected automatically",
    body: RequestIndexBody,
    response: RequestIndexResponse,
    errors: ["UNSUPPORTED_CHAIN", "UNSUPPORTED_ROUTE", "NOT_FOUND"],
  },
  {
    ...keyed,
    id: "listChains",
    key: null,
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
    server: "quote",
    published: true,
    query: QuoteRequest,
    response: QuoteResponse,
    errors: QUOTE_ERRORS,
  },
];
