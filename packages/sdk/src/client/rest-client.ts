/**
 * The REST interface and the quote service as functions. Every answer is checked against its schema, so what comes
 * back has the type it says.
 */
import type { Static, TSchema } from "typebox";
import { Value } from "typebox/value";
import {
  ChainList,
  type Deposit,
  type DepositAddress,
  DepositAddressPage,
  DepositAddressWithCommitment,
  DepositPage,
  type DepositsQuery,
  ErrorResponse,
  type EventItem,
  EventPage,
  type EventsQuery,
  type ListQuery,
  type QuoteRequest,
  QuoteResponse,
  type RequestIndexBody,
  RequestIndexResponse,
  SourceConfig,
  Swap,
  SwapPage,
  type SwapsQuery,
} from "../wire/index.ts";
import { checkShape } from "./check.ts";
import { SluiceApiError, SluiceResponseError } from "./errors.ts";
import { createEnd } from "./wait.ts";

/** How to reach a service. */
export interface SluiceClientOptions {
  /** Base address of the service, with or without a path. */
  readonly baseUrl: string;
  /** Base address of the quote service; `/v3/quote` is appended. */
  readonly quoteUrl: string;
  /** The integrator's key, a UUID. */
  readonly apiKey: string;
  /** Stands in for the global `fetch`. */
  readonly fetch?: typeof fetch;
  /** How long one request may take, in milliseconds. Default 30000. */
  readonly timeoutMs?: number;
}

/** What holds for one call. */
export interface CallOptions {
  /** Ends the call, which then throws the reason of the signal. */
  readonly signal?: AbortSignal;
}

/**
 * A client of one integrator. Every call throws `SluiceApiError` for an error answer, `SluiceResponseError` for an
 * answer of another shape, and what `fetch` throws when there is no answer.
 */
export interface SluiceClient {
  /** One page of deposit addresses, newest first. */
  listDepositAddresses(query?: ListQuery, options?: CallOptions): Promise<DepositAddressPage>;
  /** Every deposit address from `cursor` on, newest first, page after page. */
  iterateDepositAddresses(
    query?: ListQuery,
    options?: CallOptions,
  ): AsyncGenerator<DepositAddress, void>;
  /** One deposit address, with what computes it. */
  getDepositAddress(id: string, options?: CallOptions): Promise<DepositAddressWithCommitment>;
  /** One page of settlements, newest first. */
  listSwaps(query?: SwapsQuery, options?: CallOptions): Promise<SwapPage>;
  /** Every settlement from `cursor` on, newest first, page after page. */
  iterateSwaps(query?: SwapsQuery, options?: CallOptions): AsyncGenerator<Swap, void>;
  /** One settlement. */
  getSwap(id: string, options?: CallOptions): Promise<Swap>;
  /** One page of deposits, newest first. */
  listDeposits(query?: DepositsQuery, options?: CallOptions): Promise<DepositPage>;
  /** Every deposit from `cursor` on, newest first, page after page. */
  iterateDeposits(query?: DepositsQuery, options?: CallOptions): AsyncGenerator<Deposit, void>;
  /** One page of stored events, oldest first. */
  listEvents(query?: EventsQuery, options?: CallOptions): Promise<EventPage>;
  /** Every stored event after `since`, oldest first, until there is none left for now. */
  iterateEvents(query?: EventsQuery, options?: CallOptions): AsyncGenerator<EventItem, void>;
  /** Queues a settlement of a token that is not detected by itself. */
  requestIndex(body: RequestIndexBody, options?: CallOptions): Promise<RequestIndexResponse>;
  /** Every known chain. Needs no key. */
  chains(options?: CallOptions): Promise<ChainList>;
  /** Chains and tokens that are detected by themselves, with their minimums. Needs no key. */
  sourceConfig(options?: CallOptions): Promise<SourceConfig>;
  /** Offers for a transfer; with `payDeposit` they carry the deposit address. */
  quote(request: QuoteRequest, options?: CallOptions): Promise<QuoteResponse>;
}

const TIMEOUT_MS = 30_000;

/** Makes a client. Nothing is sent before the first call. */
export function createSluiceClient(service: SluiceClientOptions): SluiceClient {
  const request = createRequest(service);
  const get = <T extends TSchema>(
    schema: T,
    path: string,
    { query = {}, ...options }: CallOptions & { readonly query?: Query } = {},
  ) => request(schema, { ...options, method: "GET", base: service.baseUrl, path, query });

  const listDepositAddresses = (query: ListQuery = {}, options: CallOptions = {}) =>
    get(DepositAddressPage, "/deposit-addresses", { ...options, query });
  const listDeposits = (query: DepositsQuery = {}, options: CallOptions = {}) =>
    get(DepositPage, "/deposits", { ...options, query });
  const listSwaps = (query: SwapsQuery = {}, options: CallOptions = {}) =>
    get(SwapPage, "/swaps", { ...options, query });
  const listEvents = (query: EventsQuery = {}, options: CallOptions = {}) =>
    get(EventPage, "/events", { ...options, query });

  return {
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
    listEvents,
    iterateEvents: (query = {}, options = {}) =>
      iterate("GET /events", query.since, (since) =>
        listEvents(since === undefined ? query : { ...query, since }, options),
      ),
    requestIndex: (body, options) =>
      request(RequestIndexResponse, {
        ...options,
        method: "POST",
        base: service.baseUrl,
        path: "/request-index",
        body,
      }),
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
  };
}

type Query = Readonly<Record<string, string | number | undefined>>;

interface Call extends CallOptions {
  readonly method: "GET" | "POST";
  readonly base: string;
  readonly path: string;
  readonly query?: Query;
  readonly body?: object;
}

/** Sends one call and checks its answer. */
function createRequest(options: SluiceClientOptions) {
  return async <T extends TSchema>(schema: T, call: Call): Promise<Static<T>> => {
    const source = `${call.method} ${call.path}`;
    const end = createEnd(options.timeoutMs ?? TIMEOUT_MS, call.signal);
    const { ok, status, text } = await send(options, call, end.signal).finally(() => end.release());
    const value = parseJson(text);
    if (ok) return checkShape(schema, value, { source, status });
    if (Value.Check(ErrorResponse, value)) throw new SluiceApiError(value.error, status);
    throw new SluiceResponseError(source, `HTTP ${status}, no error object`, status);
  };
}

/** Sends one call and reads all of its answer. A redirect is refused: it would carry the key to another host. */
async function send(options: SluiceClientOptions, call: Call, signal: AbortSignal) {
  const response = await (options.fetch ?? fetch)(toUrl(call), {
    method: call.method,
    redirect: "error",
    signal,
    headers: {
      accept: "application/json",
      "x-api-key": options.apiKey,
      ...(call.body ? { "content-type": "application/json" } : {}),
    },
    ...(call.body ? { body: JSON.stringify(call.body) } : {}),
  });
  return { ok: response.ok, status: response.status, text: await response.text() };
}

function toUrl(call: Call): URL {
  const url = new URL(`${call.base.replace(/\/+$/, "")}${call.path}`);
  for (const [name, value] of Object.entries(call.query ?? {})) {
    if (value !== undefined) url.searchParams.set(name, String(value));
  }
  return url;
}

/** The parsed text; undefined when it is no JSON, which fits no schema. */
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

interface Page<T> {
  readonly items: readonly T[];
  readonly nextCursor: string | null;
}

/** Walks the pages until the cursor is null. A cursor that stands still is refused: it would go on for ever. */
async function* iterate<T>(
  source: string,
  start: string | undefined,
  load: (cursor: string | undefined) => Promise<Page<T>>,
): AsyncGenerator<T, void> {
  let cursor = start;
  for (;;) {
    const page = await load(cursor);
    yield* page.items;
    if (page.nextCursor === null) return;
    if (page.nextCursor === cursor) {
      throw new SluiceResponseError(source, `nextCursor ${cursor} did not move`);
    }
    cursor = page.nextCursor;
  }
}
