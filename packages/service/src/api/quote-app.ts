/** HTTP interface of the quote service, on its own port. */
import {
  AddressesRequest,
  AddressesResponse,
  type ErrorObject,
  type QuoteErrorResponse,
  QuoteRequest,
  QuoteResponse,
} from "@sluice/sdk/wire";
import type { ServedBy } from "@sluice/sdk/reference";
import Fastify, { type FastifyInstance, type FastifyRequest } from "fastify";
import { Value } from "typebox/value";
import { OperatingError } from "../core/errors.ts";
import type { Secret } from "../core/secret.ts";
import type { Clock, NodeMeter, Random } from "../core/ports.ts";
import type { Db } from "../db/schema.ts";
import type { Principal } from "../integrators/index.ts";
import type { Log } from "../telemetry/log.ts";
import { admit } from "./admission.ts";
import { SERVER_LIMITS } from "./app.ts";
import type { AtOnce } from "./at-once.ts";
import type { Capacity } from "./capacity.ts";
import { parseBody } from "./body.ts";
import { allowOrigins } from "./cors.ts";
import { answerInTime } from "./deadline.ts";
import { handleErrors, refusalOptions } from "./errors.ts";
import { acceptIdempotencyKeys } from "./idempotency.ts";
import type { KeyMemory } from "./key-memory.ts";
import type { KeyUses } from "./key-uses.ts";
import { createNodeBudget } from "./node-budget.ts";
import { refuseUnknownParameters } from "./parameters.ts";
import type { RateLimiter } from "./rate-limits.ts";
import { serveReference } from "./reference.ts";
import { nameAsSent, readSpelling, toTheirSpelling } from "./spelling.ts";
import { dropAbsent, readTolerantly } from "./tolerance.ts";

export interface QuoteAppDeps {
  readonly clock: Clock;
  readonly random: Random;
  readonly db: Db;
  readonly pepper: Secret;
  readonly log: Log;
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
  /** Returns where the interface is served, for its description. */
  readonly describeService: () => ServedBy;
  readonly quote: (request: QuoteRequest, principal: Principal) => Promise<QuoteResponse>;
  readonly issueMany: (
    request: AddressesRequest,
    principal: Principal,
  ) => Promise<AddressesResponse>;
}

/** Body size of `POST /addresses`: 500 addresses with half a kilobyte each. */
const ADDRESSES_BODY_LIMIT = 256 * 1024;

/** Returns the quote application; the caller makes it listen. */
export function createQuoteApp(deps: QuoteAppDeps): FastifyInstance {
  const app = Fastify({
    logger: false,
    genReqId: () => deps.random.uuid(),
    ...SERVER_LIMITS,
    // A quote may issue an address, which a request for its headers alone must not.
    exposeHeadRoutes: false,
    ...refusalOptions(bothConventions),
  });
  allowOrigins(app, deps.corsOrigins);
  handleErrors(app, deps.log, bothConventions);
  const admitted = admit(app, deps);
  const { principalOf, holdPlace } = admitted;
  refuseUnknownParameters(app);
  acceptIdempotencyKeys(app, deps, admitted);
  const nodeBudget = createNodeBudget(deps);
  // CAST: the query string is an object of strings and arrays of strings.
  const keyOf = (request: FastifyRequest) =>
    (request.query as Record<string, unknown>)["apiKey"] ?? request.headers["x-api-key"];
  app.route({
    method: ["GET", "POST"],
    url: "/v3/quote",
    schema: { response: { 200: QuoteResponse } },
    config: { admission: { keyOf, keyPlace: "the query parameter apiKey", scope: "quote" } },
    async handler(request, reply) {
      const principal = principalOf(request);
      // A query carries the same fields as text.
      const asked = dropAbsent(request.method === "POST" ? request.body : request.query);
      const spelled = readSpelling(asked);
      let response: QuoteResponse;
      try {
        const parsed = parseQuoteRequest(readTolerantly(spelled.request));
        const quoting = nodeBudget.spend(principal.keyId, () => deps.quote(parsed, principal));
        response = await answerInTime(
          deps,
          { elapsedMs: reply.elapsedTime, requestId: request.id },
          holdPlace(request, quoting),
        );
      } catch (thrown) {
        throw nameAsSent(thrown, spelled);
      }
      if (!spelled.isTheirs) return response;
      // The response schema has no alternative names, so unknown fields are removed before they are added. CAST: cleaning
      // removes only undocumented fields.
      const { quotes, ...rest } = Value.Clean(QuoteResponse, response) as QuoteResponse;
      const theirs = { ...rest, quotes: quotes.map((quote) => toTheirSpelling({ ...quote })) };
      return reply
        .type("application/json; charset=utf-8")
        .serializer((body: unknown) => JSON.stringify(body))
        .send(theirs);
    },
  });
  serveReference(app, { admission: { keyOf: null, scope: null } }, deps.describeService);
  app.route({
    method: "POST",
    url: "/addresses",
    schema: { response: { 200: AddressesResponse } },
    bodyLimit: ADDRESSES_BODY_LIMIT,
    config: {
      admission: {
        keyOf: (request) => request.headers["x-api-key"],
        keyPlace: "the header x-api-key",
        scope: "quote",
      },
    },
    async handler(request, reply) {
      const principal = principalOf(request);
      const body = parseBody(AddressesRequest, request);
      return answerInTime(
        deps,
        { elapsedMs: reply.elapsedTime, requestId: request.id },
        holdPlace(request, deps.issueMany(body, principal)),
      );
    },
  });
  return app;
}

function parseQuoteRequest(body: unknown): QuoteRequest {
  if (Value.Check(QuoteRequest, body)) return body;
  const [error] = Value.Errors(QuoteRequest, body);
  const path = error?.instancePath.replace(/^\//, "").split("/")[0];
  const missing = error?.keyword === "required" ? error.params.requiredProperties[0] : undefined;
  const field = path || missing || "body";
  const expected = Object.entries(EXPECTED).find(([name]) => name === field)?.[1];
  throw new OperatingError("VALIDATION_ERROR", `${field}: expected ${expected ?? EXPECTED_BODY}.`, {
    details: { field },
  });
}

const EXPECTED_BODY = "a JSON object";
const SWITCH = "true or false";
const NUMBER = "a number of at least 0, such as 1.5";
const EXPECTED: Readonly<Record<keyof QuoteRequest, string>> = {
  amountIn64: 'a whole number of base units as a string, such as "1000000"',
  amountIn: `the amount in whole tokens, ${NUMBER}`,
  fromChain: "the name of a chain, such as ethereum",
  toChain: "the name of a chain, such as base",
  fromToken: "the address or symbol of a token",
  toToken: "the address or symbol of a token",
  slippageBps: '"auto" or basis points, 0 to 500',
  destinationAddress: "an address as a string",
  payDeposit: SWITCH,
  payRoutes: "the text fixed or governed",
  payUnattended: SWITCH,
  payUserId: "0x and hex digits whose value fits 20 bytes",
  payLabel: "a text of 1 to 200 characters without control characters",
  payMetadata:
    "an object of at most 20 keys of 1 to 40 characters, with texts of at most 200, without control characters",
  swift: SWITCH,
  mctp: SWITCH,
  fastMctp: SWITCH,
  monoChain: SWITCH,
  wormhole: SWITCH,
  shuttle: SWITCH,
  gasless: SWITCH,
  onlyDirect: SWITCH,
  fullList: SWITCH,
  gasDrop: NUMBER,
  referrer: "an address as a string",
  referrerBps: NUMBER,
  sdkVersion: 'the numbers of a version joined by underscores, such as "15_2_0"',
};

/** Returns both error forms: clients of the quote service read errors at the top level, other clients read the error object. */
export function bothConventions(error: ErrorObject, status: number): QuoteErrorResponse {
  return {
    error,
    code: error.code,
    statusCode: status,
    message: error.message,
    msg: error.message,
  };
}
