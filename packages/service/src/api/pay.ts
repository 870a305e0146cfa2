/**
 * Pay links and the pay page. The integrator creates links with a key; whoever has the token of one sees that one address,
 * without a key. Additions to the published interface.
 */
import {
  PAY_AMOUNT_PATTERN,
  PayLinkBody,
  PayLinkPage,
  PayLinkRevoked,
  PayLinkWithToken,
  PayStatus,
  PayTerms,
  type Quote,
} from "@sluice/sdk/wire";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { type DepositAddress, getAddressById } from "../addresses/index.ts";
import { OperatingError } from "../core/errors.ts";
import type { Address } from "../core/hex.ts";
import type { Clock, Random } from "../core/ports.ts";
import type { Secret } from "../core/secret.ts";
import {
  createPayLink,
  findShownToken,
  listOpen,
  listPayLinks,
  type OpenPayLink,
  openPayLink,
  payPath,
  type PayStatusDeps,
  readPayStatus,
  revokePayLink,
} from "../pay/index.ts";
import type { Log } from "../telemetry/log.ts";
import type { Admission, Admitted } from "./admission.ts";
import { invalid, parseBody } from "./body.ts";
import { answerInTime } from "./deadline.ts";
import type { NodeBudget } from "./node-budget.ts";
import { keepingOf, type PageFiles, pagePolicy } from "./page-files.ts";
import { createPayStreams, type PayStreams } from "./pay-streams.ts";
import { parseId, parsePayLinksQuery } from "./query.ts";

/** The part of the pay page that composition provides. */
export interface PayPageDeps extends Pick<PayStatusDeps, "tokens" | "listPayable" | "explorers"> {
  /** Returns the quotes of a payment, the fastest first. Reads chains. */
  readonly quotePayment: (asked: {
    readonly address: DepositAddress;
    readonly chainId: number;
    readonly token: Address;
    readonly amount: bigint;
  }) => Promise<readonly Quote[]>;
  readonly files: PageFiles;
  /** Origins whose pages may show the page in a frame. */
  readonly frameAncestors: readonly string[];
  /** Returns the base URL by which payers reach the service. */
  readonly baseUrl: () => string;
}

export type PayRoutesDeps = PayStatusDeps &
  PayPageDeps & {
    readonly pepper: Secret;
    readonly random: Random;
    readonly clock: Clock;
    readonly log: Log;
    /** Of links, not of keys: the payers of one link cannot use up the budget of another. */
    readonly nodeBudget: NodeBudget;
  };

/** Below this path everything is for payers' browsers. */
const PAY = "/pay/";
/**
 * Lets pages of every origin read the pay page's files and data. The token in the path is the only credential: no cookie, no
 * key, so an origin gains nothing that its page does not have already.
 */
export function allowPayPages(app: FastifyInstance): void {
  app.addHook("onRequest", async (request, reply) => {
    if (!request.url.startsWith(PAY)) return;
    void reply.header("access-control-allow-origin", "*");
    void reply.header("cross-origin-resource-policy", "cross-origin");
  });
}

/** Adds the routes to the application. Returns its streams, for the loop that pumps them. */
export function servePay(
  app: FastifyInstance,
  config: { readonly keyed: { admission: Admission }; readonly open: { admission: Admission } },
  { principalOf, holdPlace }: Pick<Admitted, "principalOf" | "holdPlace">,
  deps: PayRoutesDeps,
): PayStreams {
  const { db, clock, log, files, nodeBudget } = deps;
  const keyed = (schema: object) => ({
    schema: { response: { 200: schema } },
    config: config.keyed,
  });
  const streams = createPayStreams({
    clock,
    log,
    read: (link) => readPayStatus(deps, link),
    listOpen: (ids) => listOpen(db, ids),
  });
  app.addHook("preClose", async () => streams.close());
  const linkOf = (request: FastifyRequest) => openPayLink(deps, paramOf(request, "token"));
  const policy = pagePolicy(deps.frameAncestors);

  app.post("/pay-links", keyed(PayLinkWithToken), async (request) => {
    const { integratorId } = principalOf(request);
    const made = await createPayLink(deps, { integratorId, ...parseBody(PayLinkBody, request) });
    return { ...made, url: `${deps.baseUrl().replace(/\/$/, "")}${payPath(made.token)}` };
  });

  app.get("/pay-links", keyed(PayLinkPage), async (request) => {
    const { integratorId } = principalOf(request);
    const query = queryOf(request);
    return listPayLinks(db, integratorId, parsePayLinksQuery(query));
  });

  app.delete("/pay-links/:id", keyed(PayLinkRevoked), async (request) => {
    const { integratorId } = principalOf(request);
    const id = parseId(paramOf(request, "id")) ?? "";
    await revokePayLink(db, { integratorId, id });
    return { revoked: id };
  });

  const status = { schema: { response: { 200: PayStatus } }, config: config.open };
  app.get("/pay/:token/status", status, async (request) => {
    return readPayStatus(deps, await linkOf(request));
  });

  const terms = { schema: { response: { 200: PayTerms } }, config: config.open };
  app.get("/pay/:token/terms", terms, async (request, reply) => {
    const link = await linkOf(request);
    const query = queryOf(request);
    const asked = parsePayment(query, deps);
    const quoting = nodeBudget.spend(link.id, () => quoteOf(deps, link, asked));
    return answerInTime(
      deps,
      { elapsedMs: reply.elapsedTime, requestId: request.id },
      holdPlace(request, quoting),
    );
  });

  app.get("/pay/:token/events", { config: config.open }, async (request, reply) => {
    const link = await linkOf(request);
    const last = request.headers["last-event-id"];
    openStream(streams, link, { request, reply, seen: typeof last === "string" ? last : "" });
  });

  app.get("/pay/:token", { config: config.open }, async (request, reply) => {
    void reply.header("content-security-policy", policy);
    // The page says in words what is wrong with its link; programs read the status.
    const code = await linkOf(request).then(
      () => 200,
      (error: unknown) => {
        if (error instanceof OperatingError && error.code === "NOT_FOUND") return 404;
        throw error;
      },
    );
    return files.send(request, reply.code(code), "pay.html");
  });

  app.get("/pay/assets/:name", { config: config.open }, async (request, reply) => {
    const name = paramOf(request, "name");
    void reply.header("cache-control", keepingOf(name));
    return files.send(request, reply, `assets/${name}`);
  });

  return streams;
}

function openStream(
  streams: PayStreams,
  link: OpenPayLink,
  { request, reply, seen }: { request: FastifyRequest; reply: FastifyReply; seen: string },
): void {
  const { raw: response } = reply;
  if (request.method === "HEAD") {
    void reply.type("text/event-stream").send();
    return;
  }
  streams.open(link, {
    response,
    seen,
    begin() {
      for (const [name, value] of Object.entries(reply.getHeaders())) {
        if (value !== undefined) response.setHeader(name, value);
      }
      response.setHeader("content-type", "text/event-stream; charset=utf-8");
      // Proxies that collect an answer would hold the events back.
      response.setHeader("x-accel-buffering", "no");
      reply.hijack();
    },
  });
}

/** Parses the payment that is considered. The token is one that the configuration lists, in the spelling of the status. */
function parsePayment(
  query: Readonly<Record<string, unknown>>,
  { tokens, display }: Pick<PayRoutesDeps, "tokens" | "display">,
) {
  const { chainId: chain, tokenAddress, amount } = query;
  const chainId = typeof chain === "string" && /^[1-9]\d{0,4}$/.test(chain) ? Number(chain) : 0;
  if (chainId === 0) throw invalid("chainId", "a bridge chain id");
  const token =
    typeof tokenAddress === "string" && findShownToken(tokens, { chainId, tokenAddress }, display);
  if (!token) throw invalid("tokenAddress", "a token of the status on that chain");
  if (typeof amount !== "string" || !new RegExp(PAY_AMOUNT_PATTERN).test(amount)) {
    throw invalid("amount", "a whole number of base units from 1");
  }
  return { chainId, token, amount: BigInt(amount) };
}

async function quoteOf(
  deps: PayRoutesDeps,
  link: OpenPayLink,
  asked: { readonly chainId: number; readonly token: Address; readonly amount: bigint },
): Promise<PayTerms> {
  const address = await getAddressById(deps.db, link.addressId);
  const [quote] = await deps.quotePayment({ address, ...asked });
  if (!quote) throw new OperatingError("NO_ROUTE", "No route can deliver this payment now.");
  return {
    expectedAmount: quote.expectedAmountOutBaseUnits,
    minAmount: quote.minReceivedBaseUnits,
    fees: quote.fees ?? NO_FEES,
    etaSeconds: quote.etaSeconds,
    isBelowMinimum: quote.belowMinimum ?? false,
    quotedAt: new Date(deps.clock.now()).toISOString(),
  };
}

const NO_FEES: PayTerms["fees"] = { service: "0", gas: "0", bridge: "0" };

function queryOf(request: FastifyRequest): Record<string, unknown> {
  // CAST: the query string is an object of strings and arrays of strings.
  return request.query as Record<string, unknown>;
}

function paramOf(request: FastifyRequest, name: string): string {
  // CAST: the route's path has a parameter of that name.
  return String((request.params as Record<string, unknown>)[name] ?? "");
}
