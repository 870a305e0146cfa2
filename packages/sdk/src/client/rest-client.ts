/**
 * The REST interface and the quote service as functions. Every response is checked against its schema, so a returned
 * value really has its declared type.
 */
import type { Static, TSchema } from "typebox";
import { Value } from "typebox/value";
import {
  type AddressesRequest,
  AddressesResponse,
  ChainList,
  Deposit,
  type DepositAddress,
  DepositAddressPage,
  DepositAddressWithCommitment,
  DepositPage,
  type DepositAddressesQuery,
  type DepositsQuery,
  ErrorResponse,
  type EventItem,
  EventPage,
  type EventsQuery,
  type ExtendedEventItem,
  ExtendedEventPage,
  KeySelf,
  type QuoteRequest,
  QuoteResponse,
  type RequestIndexBody,
  RequestIndexResponse,
  Refund,
  type RefundBody,
  RefundPage,
  RefundResponse,
  type RefundsQuery,
  Settlement,
  SourceConfig,
  Swap,
  SwapPage,
  type SwapsQuery,
} from "../wire/index.ts";
import { checkShape } from "./check.ts";
import { SluiceApiError, SluiceResponseError } from "./errors.ts";
import { iterate } from "./iterate.ts";
import type { CallOptions, PostOptions } from "./options.ts";
import { createPayLinkCalls, type PayLinkCalls } from "./pay-links.ts";
import { createDeadline, createPause } from "./wait.ts";
import { createWebhookCalls, type Send, type WebhookCalls } from "./webhooks.ts";

/** Addresses and key of a service. */
export interface SluiceClientOptions {
  /** Base address of the service, with or without a path. */
  readonly baseUrl: string;
  /** Base address of the quote service; `/v3/quote` is appended. */
  readonly quoteUrl: string;
  /** The integrator's key, a UUID. */
  readonly apiKey: string;
  /** Replaces the global `fetch`. */
  readonly fetch?: typeof fetch;
  /** Timeout of one call with its repetitions, in milliseconds. Default 30000. */
  readonly timeoutMs?: number;
}

/**
 * A client of one integrator. Every call throws `SluiceApiError` for an error response, `SluiceResponseError` for a
 * response that does not match the interface, and the error of `fetch` when there is no response. A call that is refused with
 * `Retry-After`, as above a limit, had no effect: it is repeated after that time if `timeoutMs` permits, else it throws.
 */
export interface SluiceClient extends WebhookCalls, PayLinkCalls {
  /** Returns one page of deposit addresses, newest first. */
  listDepositAddresses(
    query?: DepositAddressesQuery,
    options?: CallOptions,
  ): Promise<DepositAddressPage>;
  /** Iterates over deposit addresses from `cursor` on, newest first, page by page. */
  iterateDepositAddresses(
    query?: DepositAddressesQuery,
    options?: CallOptions,
  ): AsyncGenerator<DepositAddress, void>;
  /** Returns one deposit address with the preimage of its commitment. */
  getDepositAddress(id: string, options?: CallOptions): Promise<DepositAddressWithCommitment>;
  /** Returns one page of settlements, newest first. */
  listSwaps(query?: SwapsQuery, options?: CallOptions): Promise<SwapPage>;
  /** Iterates over settlements from `cursor` on, newest first, page by page. */
  iterateSwaps(query?: SwapsQuery, options?: CallOptions): AsyncGenerator<Swap, void>;
  /** Returns one settlement. */
  getSwap(id: string, options?: CallOptions): Promise<Swap>;
  /** Returns one page of deposits, newest first. */
  listDeposits(query?: DepositsQuery, options?: CallOptions): Promise<DepositPage>;
  /** Iterates over deposits from `cursor` on, newest first, page by page. */
  iterateDeposits(query?: DepositsQuery, options?: CallOptions): AsyncGenerator<Deposit, void>;
  /** Returns one deposit. */
  getDeposit(id: string, options?: CallOptions): Promise<Deposit>;
  /** Returns one settlement with its transactions, amounts, fees and why it waits. */
  getSettlement(id: string, options?: CallOptions): Promise<Settlement>;
  /** Returns one page of stored events, oldest first. */
  listEvents(query?: PlainEventsQuery, options?: CallOptions): Promise<EventPage>;
  /** Returns one page of stored events with their details, oldest first. */
  listExtendedEvents(query?: PlainEventsQuery, options?: CallOptions): Promise<ExtendedEventPage>;
  /** Iterates over stored events after `since`, oldest first, and ends after the newest. */
  iterateEvents(query?: PlainEventsQuery, options?: CallOptions): AsyncGenerator<EventItem, void>;
  /** Iterates over stored events with their details after `since`, oldest first, and ends after the newest. */
  iterateExtendedEvents(
    query?: PlainEventsQuery,
    options?: CallOptions,
  ): AsyncGenerator<ExtendedEventItem, void>;
  /** Queues a settlement of a token that is not detected automatically. */
  requestIndex(body: RequestIndexBody, options?: PostOptions): Promise<RequestIndexResponse>;
  /** Refunds a balance to its refund authority, or returns the transaction by which the authority takes it. */
  requestRefund(body: RefundBody, options?: PostOptions): Promise<RefundResponse>;
  /** Returns one page of refunds of the service, newest first. */
  listRefunds(query?: RefundsQuery, options?: CallOptions): Promise<RefundPage>;
  /** Returns one refund. */
  getRefund(id: string, options?: CallOptions): Promise<Refund>;
  /** Returns the rights, limits and use of the client's own key. */
  keySelf(options?: CallOptions): Promise<KeySelf>;
  /** Returns every known chain. Needs no key. */
  chains(options?: CallOptions): Promise<ChainList>;
  /** Returns the chains and tokens that are detected automatically, with their minimums. Needs no key. */
  sourceConfig(options?: CallOptions): Promise<SourceConfig>;
  /** Returns quotes for a transfer. With `payDeposit` they include the deposit address. */
  quote(request: QuoteRequest, options?: PostOptions): Promise<QuoteResponse>;
  /** Issues 1 to 500 deposit addresses without quotes, all or none. Issued ones are returned again. */
  issueAddresses(body: AddressesRequest, options?: PostOptions): Promise<AddressesResponse>;
}

/** Query of the replay; the function chooses whether events have details. */
export type PlainEventsQuery = Omit<EventsQuery, "extended">;

const TIMEOUT_MS = 30_000;
/** Shortest wait before a repetition. */
const RETRY_MIN_MS = 50;

/** Creates a client. It sends nothing before the first call. */
export function createSluiceClient(service: SluiceClientOptions): SluiceClient {
  const request = createRequest(service);
  const get = <T extends TSchema>(
    schema: T,
    path: string,
    { query = {}, ...options }: CallOptions & { readonly query?: Query } = {},
  ) => request(schema, { ...options, method: "GET", base: service.baseUrl, path, query });

  const send: Send = (schema, path, call) =>
    request(schema, { ...call, base: service.baseUrl, path });
  const listDepositAddresses = (query: DepositAddressesQuery = {}, options: CallOptions = {}) =>
    get(DepositAddressPage, "/deposit-addresses", { ...options, query });
  const listDeposits = (query: DepositsQuery = {}, options: CallOptions = {}) =>
    get(DepositPage, "/deposits", { ...options, query });
  const listSwaps = (query: SwapsQuery = {}, options: CallOptions = {}) =>
    get(SwapPage, "/swaps", { ...options, query });
  const listEvents = (query: PlainEventsQuery = {}, options: CallOptions = {}) =>
    get(EventPage, "/events", { ...options, query });
  const listExtendedEvents = (query: PlainEventsQuery = {}, options: CallOptions = {}) =>
    get(ExtendedEventPage, "/events", { ...options, query: { ...query, extended: "true" } });

  return {
    ...createWebhookCalls(send),
    ...createPayLinkCalls(send),
    listDepositAddresses,
    iterateDepositAddresses: (query = {}, options = {}) =>
      iterate("GET /deposit-addresses", query.cursor, (cursor) =>
        listDepositAddresses(cursor === undefined ? query : { ...query, cursor }, options),
      ),
    getDepositAddress: (id, options) =>
      get(DepositAddressWithCommitment, `/deposit-addresses/${encodeURIComponent(id)}`, options),
    listSwaps,
    iterateSwaps: (query = {}, options = {}) =>
      iterate("GET /swaps", query.cursor, (cursor) =>
        listSwaps(cursor === undefined ? query : { ...query, cursor }, options),
      ),
    getSwap: (id, options) => get(Swap, `/swaps/${encodeURIComponent(id)}`, options),
    listDeposits,
    iterateDeposits: (query = {}, options = {}) =>
      iterate("GET /deposits", query.cursor, (cursor) =>
        listDeposits(cursor === undefined ? query : { ...query, cursor }, options),
      ),
    getDeposit: (id, options) => get(Deposit, `/deposits/${encodeURIComponent(id)}`, options),
    getSettlement: (id, options) =>
      get(Settlement, `/settlements/${encodeURIComponent(id)}`, options),
    listEvents,
    iterateEvents: (query = {}, options = {}) =>
      iterate("GET /events", query.since, (since) =>
        listEvents(since === undefined ? query : { ...query, since }, options),
      ),
    listExtendedEvents,
    iterateExtendedEvents: (query = {}, options = {}) =>
      iterate("GET /events", query.since, (since) =>
        listExtendedEvents(since === undefined ? query : { ...query, since }, options),
      ),
    requestIndex: (body, options) =>
      request(RequestIndexResponse, {
        ...options,
        method: "POST",
        base: service.baseUrl,
        path: "/request-index",
        body,
      }),
    requestRefund: (body, options) =>
      request(RefundResponse, {
        ...options,
        method: "POST",
        base: service.baseUrl,
        path: "/refunds",
        body,
      }),
    listRefunds: (query = {}, options = {}) => get(RefundPage, "/refunds", { ...options, query }),
    getRefund: (id, options) => get(Refund, `/refunds/${encodeURIComponent(id)}`, options),
    keySelf: (options) => get(KeySelf, "/keys/self", options),
    chains: (options) => get(ChainList, "/chains", options),
    sourceConfig: (options) => get(SourceConfig, "/source-config", options),
    quote: (body, options) =>
      request(QuoteResponse, {
        ...options,
        method: "POST",
        base: service.quoteUrl,
        path: "/v3/quote",
        query: { apiKey: service.apiKey },
        body,
      }),
    issueAddresses: (body, options) =>
      request(AddressesResponse, {
        ...options,
        method: "POST",
        base: service.quoteUrl,
        path: "/addresses",
        body,
      }),
  };
}

type Query = Readonly<Record<string, string | number | boolean | undefined>>;

interface Call extends PostOptions {
  readonly method: "GET" | "POST" | "DELETE";
  readonly base: string;
  readonly path: string;
  readonly query?: Query;
  readonly body?: object;
}

/** Returns a function that sends one call, repeats it while it is refused for a time, and checks its response. */
function createRequest(options: SluiceClientOptions) {
  return async <T extends TSchema>(schema: T, call: Call): Promise<Static<T>> => {
    const timeoutMs = options.timeoutMs ?? TIMEOUT_MS;
    const endsAtMs = Date.now() + timeoutMs;
    const deadline = createDeadline(timeoutMs, call.signal);
    const pause = createPause(deadline.signal);
    try {
      for (;;) {
        const answer = await send(options, call, deadline.signal);
        if (answer.ok) return readAnswer(schema, call, answer);
        const error = readError(call, answer);
        const { retryAfterMs } = answer;
        if (!(error instanceof SluiceApiError && error.retryable) || retryAfterMs === null) {
          throw error;
        }
        // With jitter, so that calls refused together do not return together.
        const waitMs = Math.max(retryAfterMs, RETRY_MIN_MS) * (1 + Math.random() / 2);
        if (Date.now() + waitMs >= endsAtMs) throw error;
        await pause.wait(waitMs);
      }
    } finally {
      deadline.release();
    }
  };
}

/** Response of the service, read to its end. */
interface Answer {
  readonly ok: boolean;
  readonly status: number;
  readonly text: string;
  /** The value of `Retry-After`; null without one in seconds. */
  readonly retryAfterMs: number | null;
}

const nameOf = (call: Call) => `${call.method} ${call.path}`;

function readAnswer<T extends TSchema>(schema: T, call: Call, { status, text }: Answer): Static<T> {
  return checkShape(schema, parseJson(text), { source: nameOf(call), status });
}

function readError(call: Call, { status, text }: Answer): SluiceApiError | SluiceResponseError {
  const value = parseJson(text);
  if (Value.Check(ErrorResponse, value)) return new SluiceApiError(value.error, status);
  return new SluiceResponseError(nameOf(call), `HTTP ${status} without an error object`, status);
}

/** Sends one call and reads the whole response. Redirects are errors: they would send the key to another host. */
async function send(
  options: SluiceClientOptions,
  call: Call,
  signal: AbortSignal,
): Promise<Answer> {
  const response = await (options.fetch ?? fetch)(toUrl(call), {
    method: call.method,
    redirect: "error",
    signal,
    headers: {
      accept: "application/json",
      "x-api-key": options.apiKey,
      ...(call.body ? { "content-type": "application/json" } : {}),
      ...(call.idempotencyKey === undefined ? {} : { "idempotency-key": call.idempotencyKey }),
    },
    ...(call.body ? { body: JSON.stringify(call.body) } : {}),
  });
  const { ok, status, headers } = response;
  const seconds = headers.get("retry-after") ?? "";
  const retryAfterMs = /^\d{1,6}$/.test(seconds) ? Number(seconds) * 1_000 : null;
  return { ok, status, text: await response.text(), retryAfterMs };
}

function toUrl(call: Call): URL {
  const url = new URL(`${call.base.replace(/\/+$/, "")}${call.path}`);
  for (const [name, value] of Object.entries(call.query ?? {})) {
    if (value !== undefined) url.searchParams.set(name, String(value));
  }
  return url;
}

/** Parses JSON. Returns undefined, which matches no schema, for any other text. */
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
