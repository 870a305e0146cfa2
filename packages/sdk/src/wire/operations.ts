/** Every endpoint, in one table: the server is tested against it, and the reference documents are made from it. */
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
  /** Parameters of the path in braces. */
  readonly path: string;
  readonly summary: string;
  /** How the key comes; null where none is needed. */
  readonly key: "header" | "query" | null;
  /** Which of the two servers has it. */
  readonly server: "service" | "quote";
  /** False for what is beside the published interface. */
  readonly published: boolean;
  readonly query?: TSchema;
  readonly body?: TSchema;
  readonly response: TSchema;
  /** Codes of its own, beside those that every endpoint may answer with. */
  readonly errors: readonly ErrorCode[];
}

/** Codes that every endpoint may answer with; those of the key where one is needed. */
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
    summary: "One deposit address, with the preimage of its commitment",
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
    summary: "Deposits, newest first, and where each went",
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
    summary: "Queue a settlement of a token that is not detected by itself",
    body: RequestIndexBody,
    response: RequestIndexResponse,
    errors: ["UNSUPPORTED_CHAIN", "NOT_FOUND"],
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
    summary: "Chains and tokens that are detected by themselves, with their minimums",
    response: SourceConfig,
    errors: [],
  },
  {
    id: "quote",
    method: "POST",
    path: "/v3/quote",
    summary: "Offers for a transfer, with the deposit address",
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
    summary: "The same, with the fields in the query",
    key: "query",
    server: "quote",
    published: true,
    query: QuoteRequest,
    response: QuoteResponse,
    errors: QUOTE_ERRORS,
  },
];
