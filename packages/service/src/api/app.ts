/** The REST interface over the database. Only `POST /request-index` and `POST /refunds` read a chain, through the settlements. */
import {
  ChainList,
  Deposit,
  DepositAddressPage,
  DepositAddressWithCommitment,
  DepositPage,
  EventPage,
  ExtendedEventPage,
  type KeyScope,
  KeySelf,
  RequestIndexResponse,
  Settlement,
  type SourceChain,
  SourceConfig,
  Swap,
  SwapPage,
} from "@sluice/sdk/wire";
import type { ServedBy } from "@sluice/sdk/reference";
import Fastify, { type FastifyInstance, type FastifyRequest } from "fastify";
import { findAddress, listAddresses } from "../addresses/index.ts";
import { OperatingError } from "../core/errors.ts";
import type { AddressFormat } from "../chains/port/index.ts";
import { type Address, isNative } from "../core/hex.ts";
import { type ChainKind, KNOWN_CHAINS } from "../core/chain-registry.ts";
import type { Secret } from "../core/secret.ts";
import type { Clock, NodeMeter, Random } from "../core/ports.ts";
import type { Db } from "../db/schema.ts";
import { HEIGHTS_OF_DEPOSIT, readHeights } from "../scanner/index.ts";
import { findDeposit, listDeposits } from "../deposits/index.ts";
import { listEvents, listExtendedEvents } from "../events/index.ts";
import {
  findSwap,
  listSwaps,
  readReport,
  type RefundDesk,
  type RequestResult,
  STATUS_OF_DEPOSIT,
} from "../settlements/index.ts";
import type { Log } from "../telemetry/log.ts";
import { type Admission, admit } from "./admission.ts";
import type { AtOnce } from "./at-once.ts";
import type { Capacity } from "./capacity.ts";
import { createCallerReader } from "./client-address.ts";
import { serveConsole } from "./console.ts";
import { allowOrigins } from "./cors.ts";
import { type ErrorBody, handleErrors, refusalOptions } from "./errors.ts";
import {
  parseAddressesQuery,
  parseDepositsQuery,
  parseEventsQuery,
  parseId,
  parseSwapsQuery,
} from "./query.ts";
import { answerInTime } from "./deadline.ts";
import { serveExports } from "./exports.ts";
import { isHandshake, STREAM_PATH } from "./handshake.ts";
import { acceptIdempotencyKeys } from "./idempotency.ts";
import type { KeyMemory } from "./key-memory.ts";
import { describeKey } from "./key-self.ts";
import type { KeyUses } from "./key-uses.ts";
import { createNodeBudget } from "./node-budget.ts";
import { refuseUnknownParameters } from "./parameters.ts";
import type { RateLimiter } from "./rate-limits.ts";
import { serveReference } from "./reference.ts";
import { serveSecurityContact } from "./security-contact.ts";
import { allowPayPages, type PayPageDeps, servePay } from "./pay.ts";
import type { PayStreams } from "./pay-streams.ts";
import { serveRefunds } from "./refunds.ts";
import { serveWebhooks, type WebhookRoutesDeps } from "./webhooks.ts";
import { type IndexRequest, parseIndexBody, readIndexRequest } from "./request-index.ts";

/** A scanned chain and the addresses and tokens that its scanner watches. */
export interface ScannedChain {
  readonly chainId: number;
  readonly name: string;
  readonly kind: ChainKind;
  readonly tokens: readonly {
    readonly symbol: string;
    readonly address: Address;
    readonly decimals: number;
    readonly minDepositUnits: string | undefined;
  }[];
}

export interface ApiDeps {
  readonly clock: Clock;
  readonly random: Random;
  readonly db: Db;
  readonly pepper: Secret;
  readonly log: Log;
  readonly format: AddressFormat;
  /** Queues a settlement. Reads a chain. */
  readonly requestIndex: (request: IndexRequest) => Promise<RequestResult>;
  readonly scanned: readonly ScannedChain[];
  /** Requests and shows refunds. Reads chains as `requestIndex` does. */
  readonly refunds: RefundDesk;
  readonly webhooks: Pick<WebhookRoutesDeps, "rules" | "endpointsMax" | "wakeWebhooks">;
  readonly pay: PayPageDeps;
  /** Whom finders of vulnerabilities tell, if the operator says so. */
  readonly securityContact?: string | undefined;
  readonly limiter: RateLimiter;
  /** Counts the requests to nodes of a call. */
  readonly nodeMeter: NodeMeter;
  readonly atOnce: AtOnce;
  readonly capacity: Capacity;
  readonly keys: KeyMemory;
  readonly uses: KeyUses;
  /** Proxies whose `X-Forwarded-For` is trusted, by address or range. */
  readonly trustedProxies: readonly string[];
  /** Origins whose pages may call from a browser. */
  readonly corsOrigins: readonly string[];
  /** Returns the version and the URLs of the service, for its description. Called once it listens. */
  readonly describeService: () => ServedBy;
}

declare module "fastify" {
  interface FastifyInstance {
    /** The streams of pay pages, which a loop pumps. */
    payStreams: PayStreams;
  }
}

/** Limits of a public server. */
export const SERVER_LIMITS = {
  bodyLimit: 64 * 1024,
  requestTimeout: 10_000,
  // Interval of the connection check: Node's default of 30 seconds exceeds the connection timeout.
  http: {
    connectionsCheckingInterval: 1_000,
    headersTimeout: 10_000,
    // Refused later with the interface's error object instead of an empty answer.
    requireHostHeader: false,
    // An unexpected upgrade, such as curl's to h2c, is answered as plain HTTP.
    shouldUpgradeCallback: () => false,
  },
  connectionTimeout: 15_000,
  // Longer than the idle timeouts of proxies, which would otherwise reuse a connection that is being closed.
  keepAliveTimeout: 75_000,
  // A closing server keeps answering: the framework's 503 has another shape.
  return503OnClosing: false,
  // Node bounds the path length; an id that is too long is answered as not found.
  routerOptions: { maxParamLength: 16_384 },
} as const;

/** Schema of a replay with details, under one identity, by which its serializer is compiled once. */
const EXTENDED_EVENTS = { ...ExtendedEventPage };

/** Returns the REST application; the caller makes it listen. */
export function createApi(deps: ApiDeps): FastifyInstance {
  const { db, format } = deps;
  const { display } = format;
  const body: ErrorBody = (error) => ({ error });
  const app = Fastify({
    logger: false,
    genReqId: () => deps.random.uuid(),
    ...SERVER_LIMITS,
    http: { ...SERVER_LIMITS.http, shouldUpgradeCallback: isHandshake },
    ...refusalOptions(body),
  });
  allowOrigins(app, deps.corsOrigins);
  allowPayPages(app);
  handleErrors(app, deps.log, body);

  const admitted = admit(app, deps);
  const { principalOf, holdPlace } = admitted;
  refuseUnknownParameters(app);
  acceptIdempotencyKeys(app, deps, admitted);
  const nodeBudget = createNodeBudget(deps);
  const needs = (scope: KeyScope | null) => ({
    admission: {
      keyOf: (request: FastifyRequest) => headerOf(request, "x-api-key"),
      keyPlace: "the header x-api-key",
      scope,
    },
  });
  const keyed = needs("read");
  const open: { admission: Admission } = { admission: { keyOf: null, scope: null } };
  // CAST: the query string is an object of strings and arrays of strings.
  const queryOf = (request: FastifyRequest) => request.query as Record<string, unknown>;

  app.get(
    "/deposit-addresses",
    { schema: answers(DepositAddressPage), config: keyed },
    async (request) => {
      const { integratorId } = principalOf(request);
      return listAddresses(db, integratorId, {
        ...parseAddressesQuery(queryOf(request), format),
        display,
      });
    },
  );

  const addressRoute = { schema: answers(DepositAddressWithCommitment), config: keyed };
  app.get("/deposit-addresses/:id", addressRoute, async (request) => {
    const { integratorId } = principalOf(request);
    const id = idOf(request);
    const address = id && (await findAddress(db, integratorId, { id, display }));
    if (address) return address;
    throw new OperatingError("NOT_FOUND", "There is no such deposit address of yours.");
  });

  app.get("/swaps", { schema: answers(SwapPage), config: keyed }, async (request) => {
    const { integratorId } = principalOf(request);
    return listSwaps(db, integratorId, { ...parseSwapsQuery(queryOf(request), format), display });
  });

  app.get("/swaps/:id", { schema: answers(Swap), config: keyed }, async (request) => {
    const { integratorId } = principalOf(request);
    const id = idOf(request);
    const swap = id && (await findSwap(db, integratorId, { id, display }));
    if (swap) return swap;
    throw new OperatingError("NOT_FOUND", "There is no such settlement of yours.");
  });

  const view = { display, heights: HEIGHTS_OF_DEPOSIT, status: STATUS_OF_DEPOSIT };
  app.get("/deposits", { schema: answers(DepositPage), config: keyed }, async (request) => {
    const { integratorId } = principalOf(request);
    const page = parseDepositsQuery(queryOf(request), format);
    return listDeposits(db, integratorId, { ...page, ...view });
  });

  app.get("/deposits/:id", { schema: answers(Deposit), config: keyed }, async (request) => {
    const { integratorId } = principalOf(request);
    const id = idOf(request);
    const deposit = id && (await findDeposit(db, integratorId, { id, ...view }));
    if (deposit) return deposit;
    throw new OperatingError("NOT_FOUND", "There is no such deposit of yours.");
  });

  app.get("/settlements/:id", { schema: answers(Settlement), config: keyed }, async (request) => {
    const { integratorId } = principalOf(request);
    const id = idOf(request);
    const report = id && (await readReport(db, integratorId, { id, display, readHeights }));
    if (report) return report;
    throw new OperatingError("NOT_FOUND", "There is no such settlement of yours.");
  });

  app.get("/events", { schema: answers(EventPage), config: keyed }, async (request, reply) => {
    const { integratorId } = principalOf(request);
    const { extended, ...page } = parseEventsQuery(queryOf(request), format);
    if (extended) {
      // With a serializer of its own an answer has no content type by default.
      reply
        .type("application/json; charset=utf-8")
        .serializer(reply.compileSerializationSchema(EXTENDED_EVENTS));
    }
    const list = extended ? listExtendedEvents : listEvents;
    const { items, more } = await list(db, integratorId, page);
    return { items, nextCursor: more ? (items.at(-1)?.timestamp ?? null) : null };
  });

  const callerOf = createCallerReader(deps.trustedProxies);
  const keyRoute = { schema: answers(KeySelf), config: needs(null) };
  app.get("/keys/self", keyRoute, (request) =>
    describeKey(deps, {
      principal: principalOf(request),
      address: callerOf(request.raw).exact,
    }),
  );
  serveExports(app, keyed, admitted, { db, display, chains: deps.scanned, log: deps.log });
  serveWebhooks(app, needs("webhooks"), { principalOf }, { ...deps, ...deps.webhooks });

  const payNodeBudget = createNodeBudget({ ...deps, uses: { countNodeRequests() {} } });
  const payStreams = servePay(app, { keyed: needs("pay"), open }, admitted, {
    ...deps,
    ...deps.pay,
    ...view,
    readHeights,
    nodeBudget: payNodeBudget,
  });
  app.decorate("payStreams", payStreams);
  serveConsole(app, open, deps.pay.files);
  const { clock, securityContact: contact } = deps;
  serveSecurityContact(app, open, { contact, clock });

  const scanned = new Set(deps.scanned.map(({ chainId }) => chainId));
  serveRefunds(
    app,
    {
      ask: { admission: { ...needs("refunds").admission, limit: "requestIndexPerKey" } },
      read: keyed,
    },
    admitted,
    {
      ...deps,
      // An EVM address is the same on chains that nobody watches, where its refund authority can act.
      scanned: new Set([
        ...scanned,
        ...KNOWN_CHAINS.flatMap(({ chainId, evmChainId }) =>
          evmChainId === undefined ? [] : [chainId],
        ),
      ]),
      nodeBudget,
    },
  );
  const indexRoute = {
    schema: answers(RequestIndexResponse),
    config: { admission: { ...needs("settle").admission, limit: "requestIndexPerKey" as const } },
  };
  app.post("/request-index", indexRoute, async (request, reply) => {
    const principal = principalOf(request);
    const asked = parseIndexBody(request.body);
    const { chain: chainId, walletAddress, tokenAddress } = asked;
    const read = await readIndexRequest({ ...deps, scanned }, asked, principal);
    const asking = nodeBudget.spend(principal.keyId, () => deps.requestIndex(read));
    const result = await answerInTime(
      deps,
      { elapsedMs: reply.elapsedTime, requestId: request.id },
      holdPlace(request, asking),
    );
    const echoed = { chainId, walletAddress, tokenAddress };
    return result.queued
      ? { ...echoed, queued: true, queueItemId: result.settlementId, reason: null }
      : { ...echoed, queued: false, queueItemId: null, reason: result.reason };
  });

  app.get("/chains", { schema: answers(ChainList), config: open }, async () =>
    KNOWN_CHAINS.map(({ chainId, name, explorerTxUrl, kind }) => ({
      chainId,
      name,
      // A test network in the place of the chain has another one.
      explorerTxUrl: deps.pay.explorers.get(chainId) || explorerTxUrl,
      kind,
    })),
  );

  const sourceConfig = { chains: deps.scanned.map((chain) => describeSource(chain, display)) };
  app.get(
    "/source-config",
    { schema: answers(SourceConfig), config: open },
    async () => sourceConfig,
  );

  app.get(STREAM_PATH, { config: open }, async () => {
    throw new OperatingError(
      "VALIDATION_ERROR",
      "The stream is for Socket.IO clients of protocol 4 over websocket; there is no polling.",
      { details: { field: "transport" } },
    );
  });

  serveReference(app, open, deps.describeService);
  return app;
}

const STANDARDS = { evm: "erc20", svm: "spl" } as const;

function describeSource(chain: ScannedChain, display: (address: Address) => string): SourceChain {
  return {
    chainId: chain.chainId,
    name: chain.name,
    kind: chain.kind,
    tokens: chain.tokens.map((token) => ({
      address: display(token.address),
      symbol: token.symbol,
      standard: isNative(token.address) ? "native" : STANDARDS[chain.kind],
      decimals: token.decimals,
      ...(token.minDepositUnits === undefined ? {} : { minDeposit: token.minDepositUnits }),
    })),
  };
}

/** Returns the serialisation of a success from the wire schema, so that only documented fields leave the service. */
function answers(schema: object) {
  return { response: { 200: schema } };
}

/** Returns the id in the path; null if no object can have it. */
function idOf(request: FastifyRequest): string | null {
  // CAST: the route's path has a parameter of that name.
  return parseId((request.params as Record<string, unknown>)["id"]);
}

/** Returns a header that may be given only once. */
function headerOf(request: FastifyRequest, name: string): string | undefined {
  const value = request.headers[name];
  return Array.isArray(value) ? value.join(",") : value;
}
