/** The operators' console: its page and what the page asks for, on a listener of its own. */
import {
  CONSOLE_EXAMINATIONS,
  type ConsoleExamination,
  type ConsoleLog,
  type ConsoleLogProof,
  type ConsoleReadings,
  type ConsoleRetries,
  type ConsoleRetryPreview,
  type ConsoleSession,
  ERROR_CODE_NAMES,
  OPERATOR_ROLES,
  SIGN_IN_PROBLEMS,
} from "@sluice/sdk/wire";
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from "fastify";
import { Type } from "typebox";
import {
  handleErrors,
  invalid,
  keepingOf,
  type PageFiles,
  pagePolicy,
  parseBody,
  refusalOptions,
  SERVER_LIMITS,
} from "../api/index.ts";
import { roundUnits } from "../core/amounts.ts";
import { parseSolanaTxHash } from "../core/base58.ts";
import { OperatingError } from "../core/errors.ts";
import { type Address, toTxHash } from "../core/hex.ts";
import type { Clock } from "../core/ports.ts";
import type { Config, RouteKind } from "../config/index.ts";
import type { Rows } from "../health/index.ts";
import { findIntegrator } from "../integrators/index.ts";
import {
  confirmPasskey,
  countPasskeys,
  createIdentityProvider,
  disableOperator,
  endSession,
  FRESH_MS,
  inviteOperator,
  listLog,
  listOperators,
  nameInLog,
  openByInvitation,
  type OperatorDeps,
  type PasskeyDeps,
  proposePasskey,
  type ProviderConfig,
  proposeSignature,
  proveLog,
  registerPasskey,
  type Session,
  signInByPasskey,
} from "../operators/index.ts";
import {
  type AmountOf,
  endPause,
  listAllSettlements,
  listRetryable,
  type OperatorRequest,
  type PauseTarget,
  readSettlementFile,
  RETRIED_STATUSES,
  type RetryOutcome,
  type RetryResult,
  startPause,
} from "../settlements/index.ts";
import { cancelMove, type MoveRequest } from "../rebalancing/index.ts";
import type { Log } from "../telemetry/log.ts";
import {
  ACCESS,
  paramsOf,
  queryOf,
  readChainId,
  readId,
  readPosition,
  trimReason,
} from "./access.ts";
import { addChainRoutes, type ChainRoutesDeps } from "./chain-routes.ts";
import { type DescribeContext, describeFile, describeListed } from "./describe.ts";
import { guard } from "./guard.ts";
import { addIntegratorRoutes, type IntegratorRoutesDeps } from "./integrator-routes.ts";
import { createBooks } from "./books.ts";
import { createExaminations, type Examinations } from "./examinations.ts";
import { type OverviewDeps, readOverview } from "./overview.ts";
import { createTrends } from "./trends.ts";

export interface ConsoleDeps
  extends OperatorDeps, DescribeContext, ChainRoutesDeps, IntegratorRoutesDeps, OverviewDeps {
  readonly clock: Clock;
  readonly log: Log;
  readonly files: PageFiles;
  readonly config: ChainRoutesDeps["config"] & IntegratorRoutesDeps["config"];
  readonly examinations: Examinations;
  readonly rows: Rows;
  /** Asks the nodes, or returns an answer of the last seconds. */
  readonly readNodes: () => Promise<ConsoleReadings>;
  /** Has the settler make a move of a treasury. Returns its id. */
  readonly askMove: (
    request: MoveRequest & { readonly operator: string; readonly reason: string },
  ) => Promise<string>;
  /** Reads an address of any chain family; undefined for another text. */
  readonly parseAddress: (text: string) => Address | undefined;
  /** Reads a kind of route; undefined for another text. */
  readonly parseRoute: (text: string) => RouteKind | undefined;
  /** The origin under which browsers reach the listener. */
  readonly origin: () => string;
  /** By which operators may sign in, beside passkeys; undefined without one. */
  readonly identityProvider: ProviderConfig | undefined;
  readonly retry: (request: OperatorRequest) => Promise<RetryResult>;
  readonly retryEach: (
    ids: readonly string[],
    request: Omit<OperatorRequest, "id">,
  ) => Promise<readonly RetryOutcome[]>;
  /** Ends a settlement for a refund to its authority, and returns in words what happens now. */
  readonly refund: (request: OperatorRequest & { readonly to: Address }) => Promise<string>;
}

const PAGE_SIZE = 50;
/** Of a list that is saved as a file. */
const PAGE_SIZE_MAX = 500;
const LOG_PAGE_SIZE = 100;
/** Settlements of one retry of many: an answer must come while a browser waits. */
const RETRIES_MAX = 200;
const strict = { additionalProperties: false } as const;
const text = (description: string, maxLength = 500) =>
  Type.String({ minLength: 1, maxLength, description });
const reason = text("Why, in 1 to 500 characters", 500);
const Invitation = Type.Object({ token: text("The token of an invitation", 100) }, strict);
/** What the browser's authenticator answered; its library checks the rest. */
const PasskeyAnswer = Type.Object({ answer: Type.Object({}) }, strict);
const Retry = Type.Object({ reason }, strict);
const Retries = Type.Object(
  {
    status: Type.Optional(text("A status", 40)),
    integrator: Type.Optional(text("The name of an integrator", 100)),
    chainId: Type.Optional(Type.Integer({ minimum: 1, description: "The bridge id of a chain" })),
    errorCode: Type.Optional(text("The code of an error", 40)),
    reason,
  },
  strict,
);
const Refund = Type.Object({ reason, to: text("The refund authority", 100) }, strict);
const chainId = Type.Integer({ minimum: 1, description: "The bridge id of a chain" });
const Target = {
  integrator: Type.Optional(text("The name of an integrator", 100)),
  chainId: Type.Optional(chainId),
  token: Type.Optional(text("The address of a token of the chain", 100)),
  route: Type.Optional(text("A kind of route", 40)),
};
const Pause = Type.Object({ ...Target, reason }, strict);
const Resume = Type.Object({ ...Target, reason }, strict);
const Move = Type.Object(
  {
    from: chainId,
    to: chainId,
    token: text("The token's symbol", 16),
    amount: text("The amount in whole units", 80),
    reason,
  },
  strict,
);
const Cancel = Type.Object({ move: text("The move's id", 36) }, strict);
const Invite = Type.Object(
  {
    name: text("The operator's name", 60),
    role: Type.Optional(
      Type.Enum([...OPERATOR_ROLES], { description: `One of ${OPERATOR_ROLES.join(", ")}` }),
    ),
    identity: Type.Optional(text("The e-mail address at the identity provider", 254)),
  },
  strict,
);
const Disable = Type.Object({ name: text("The operator's name", 60), reason }, strict);

/** Returns the application; the caller makes it listen. */
export function createConsole(deps: ConsoleDeps): FastifyInstance {
  const { db, files } = deps;
  const body = (error: unknown) => ({ error });
  const app = Fastify({
    logger: false,
    genReqId: () => deps.random.uuid(),
    ...SERVER_LIMITS,
    ...refusalOptions(body),
  });
  handleErrors(app, deps.log, body);
  const { sessionOf, setCookie, attemptOf, setAttempt } = guard(app, deps, deps.origin);
  const provider = deps.identityProvider
    ? createIdentityProvider(
        deps.identityProvider,
        () => `${deps.origin()}/api/session/identity/callback`,
      )
    : null;
  const passkeys = (): PasskeyDeps => ({ ...deps, origin: deps.origin() });
  const operatorOf = (request: FastifyRequest) => nameInLog(sessionOf(request).operator);
  const { anyone, viewer, actor, confirmed, admin } = ACCESS;
  const trends = createTrends(deps);
  const readBooks = createBooks(deps);
  const examinations = createExaminations(deps.examinations, deps);

  app.setReplySerializer((value) =>
    JSON.stringify(value, (_, inner: unknown) =>
      typeof inner === "bigint" ? inner.toString() : inner,
    ),
  );
  app.get("/", anyone, async (request, reply) => {
    void reply.header("content-security-policy", pagePolicy([]));
    return files.send(request, reply, "operator.html");
  });
  app.get("/assets/:name", anyone, async (request, reply) => {
    const { name = "" } = paramsOf(request);
    void reply.header("cache-control", keepingOf(name));
    return files.send(request, reply, `assets/${name}`);
  });

  // Signing in.
  app.post("/api/session/invitation", anyone, async (request, reply) => {
    const { token } = await openByInvitation(deps, parseBody(Invitation, request).token);
    setCookie(reply, token);
    return {};
  });
  app.post("/api/session/passkey/options", anyone, async () => proposeSignature(passkeys(), null));
  app.post("/api/session/passkey", anyone, async (request, reply) => {
    const { answer } = parseBody(PasskeyAnswer, request);
    const { token } = await signInByPasskey(passkeys(), answer);
    setCookie(reply, token);
    return {};
  });
  app.get("/api/session/ways", anyone, async () => ({ hasIdentityProvider: provider !== null }));
  app.get("/api/session/identity", anyone, async (_, reply) => {
    if (!provider) throw new OperatingError("NOT_FOUND", "There is no identity provider.");
    return redirectTo(reply, async () => {
      const { url, challenge } = await provider.begin(deps);
      setAttempt(reply, challenge);
      return url;
    });
  });
  app.get("/api/session/identity/callback", anyone, async (request, reply) => {
    if (!provider) throw new OperatingError("NOT_FOUND", "There is no identity provider.");
    const url = new URL(request.url, deps.origin());
    return redirectTo(reply, async () => {
      setAttempt(reply, "");
      const { token } = await provider.finish(deps, { url, challenge: attemptOf(request) });
      setCookie(reply, token);
      return "/";
    });
  });
  app.get("/api/session", viewer, async (request) => describeSession(sessionOf(request)));
  app.post("/api/session/end", viewer, async (request, reply) => {
    await endSession(db, sessionOf(request).id);
    setCookie(reply, "");
    return {};
  });
  app.post("/api/session/confirm/options", viewer, async (request) =>
    proposeSignature(passkeys(), sessionOf(request)),
  );
  app.post("/api/session/confirm", viewer, async (request) => {
    const { answer } = parseBody(PasskeyAnswer, request);
    await confirmPasskey(passkeys(), sessionOf(request), answer);
    return {};
  });
  app.post("/api/passkeys/options", viewer, async (request) =>
    proposePasskey(passkeys(), sessionOf(request)),
  );
  app.post("/api/passkeys", viewer, async (request) => {
    const { answer } = parseBody(PasskeyAnswer, request);
    await registerPasskey(passkeys(), sessionOf(request), answer);
    return {};
  });

  // Looking.
  app.get("/api/overview", viewer, async () => readOverview(deps));
  app.get("/api/readings", viewer, () => deps.readNodes());
  app.get("/api/books", viewer, () => readBooks());
  app.get("/api/examinations/:name", viewer, async (request) =>
    examinations.read(readExamination(request)),
  );
  app.post("/api/examinations/:name", actor, async (request) =>
    examinations.start(readExamination(request), operatorOf(request)),
  );
  app.get("/api/trends", viewer, (request) => trends.read(queryOf(request)["range"] ?? ""));
  app.get("/api/settlements", viewer, async (request) => {
    const query = queryOf(request);
    const limit = readLimit(query["limit"]);
    const found = await listAllSettlements(db, {
      filter: await readFilter(query),
      limit: limit + 1,
      after: readPosition(query["cursor"]),
    });
    const items = found.slice(0, limit).map((listed) => describeListed(deps, listed));
    const last = items.at(-1);
    const nextCursor = found.length > limit && last ? `${last.createdAt}_${last.id}` : null;
    return { items, nextCursor };
  });
  app.get("/api/settlements/:id", viewer, async (request) => {
    const { id = "" } = paramsOf(request);
    return describeFile(deps, await getFile(id));
  });
  app.get("/api/retries", viewer, async (request): Promise<ConsoleRetryPreview> => {
    const { status, integrator, chainId, errorCode } = queryOf(request);
    const given = { status, integrator, errorCode };
    const chain = chainId === undefined ? {} : { chainId: readChainId(chainId) };
    const found = await chooseRetries({ ...given, ...chain }, RETRIES_MAX + 1);
    return { count: Math.min(found.length, RETRIES_MAX), isMore: found.length > RETRIES_MAX };
  });
  app.get("/api/log", viewer, async (request): Promise<ConsoleLog> => {
    const before = queryOf(request)["before"];
    const lines = await listLog(db, {
      limit: LOG_PAGE_SIZE,
      before: before !== undefined && /^\d{1,15}$/.test(before) ? Number(before) : undefined,
    });
    const read = (entry: Readonly<Record<string, unknown>>, names: readonly string[]) => {
      const found = names.map((name) => entry[name]).find((value) => typeof value === "string");
      return typeof found === "string" ? found : null;
    };
    return {
      lines: lines.map(({ entry, ...line }) => ({
        ...line,
        reason: read(entry, [
          "open_reason",
          "resume_reason",
          "end_reason",
          "expected_reason",
          "reason",
        ]),
        settlementId: read(entry, ["settlement_id"]),
      })),
    };
  });
  app.get("/api/log/proof", viewer, (): Promise<ConsoleLogProof> => proveLog(db));
  app.get("/api/operators", viewer, async () => ({ operators: await listOperators(db) }));

  // Acting, by the same functions as the command line.
  app.post("/api/settlements/:id/retry", actor, async (request) => {
    const { id = "" } = paramsOf(request);
    const given = parseBody(Retry, request);
    return deps.retry({ id, reason: trimReason(given.reason), operator: operatorOf(request) });
  });
  app.post("/api/retries", confirmed, async (request): Promise<ConsoleRetries> => {
    const { reason: why, ...filter } = parseBody(Retries, request);
    const chosen = await chooseRetries(filter, RETRIES_MAX);
    const record = { reason: trimReason(why), operator: operatorOf(request) };
    const outcomes = await deps.retryEach(
      chosen.map(({ id }) => id),
      record,
    );
    return {
      retried: outcomes.filter((one) => one.kind !== "refused" && one.changed).length,
      refused: outcomes.flatMap((one) =>
        one.kind === "refused" ? [{ id: one.id, reason: one.reason }] : [],
      ),
    };
  });
  app.post("/api/settlements/:id/refund", confirmed, async (request) => {
    const { id = "" } = paramsOf(request);
    const given = parseBody(Refund, request);
    const to = deps.parseAddress(given.to);
    if (!to) throw invalid("to", "an address");
    const operator = operatorOf(request);
    return { text: await deps.refund({ id, to, reason: trimReason(given.reason), operator }) };
  });
  app.post("/api/pauses", confirmed, async (request) => {
    const given = parseBody(Pause, request);
    const record = { reason: trimReason(given.reason), operator: operatorOf(request) };
    return { changed: await startPause(deps, await readTarget(given), record) };
  });
  app.post("/api/pauses/end", confirmed, async (request) => {
    const { reason: why, ...target } = parseBody(Resume, request);
    const record = {
      operator: operatorOf(request),
      reason: trimReason(why),
      nowMs: deps.clock.now(),
    };
    return { changed: await endPause(db, await readTarget(target), record) };
  });
  app.post("/api/moves", confirmed, async (request) => {
    const given = parseBody(Move, request);
    const by = { reason: trimReason(given.reason), operator: operatorOf(request) };
    return { move: await deps.askMove({ ...given, ...by }) };
  });
  app.post("/api/moves/cancel", confirmed, async (request) => {
    const id = readId(parseBody(Cancel, request).move, "There is no such move.");
    const by = { operator: operatorOf(request), nowMs: deps.clock.now() };
    return { changed: await cancelMove(db, { id, ...by }) };
  });
  app.post("/api/operators", admin, async (request) => {
    const { name, role, identity } = parseBody(Invite, request);
    const given = { name, role, identity };
    const { token, ...operator } = await inviteOperator(deps, {
      ...given,
      by: operatorOf(request),
    });
    return { operator, url: invitationUrl(deps.origin(), token) };
  });
  app.post("/api/operators/disable", admin, async (request) => {
    const { name, reason: why } = parseBody(Disable, request);
    if (name === sessionOf(request).operator.name) {
      throw invalid("name", "another operator than yourself");
    }
    const by = operatorOf(request);
    return { changed: await disableOperator(db, { name, by, reason: trimReason(why) }) };
  });
  addChainRoutes(app, deps, { ...ACCESS, operatorOf });
  addIntegratorRoutes(app, deps, { ...ACCESS, operatorOf });
  return app;

  async function describeSession({
    operator,
    expiresAt,
    verifiedAgoMs,
  }: Session): Promise<ConsoleSession> {
    return {
      operator: { name: operator.name, role: operator.role },
      expiresAt,
      passkeys: await countPasskeys(db, operator.id),
      isVerified: verifiedAgoMs !== null,
      freshForMs: verifiedAgoMs === null ? 0 : Math.max(0, FRESH_MS - verifiedAgoMs),
    };
  }

  function readExamination(request: FastifyRequest): ConsoleExamination {
    const found = CONSOLE_EXAMINATIONS.find((name) => name === paramsOf(request)["name"]);
    if (found) return found;
    throw new OperatingError("NOT_FOUND", "There is no such examination.");
  }

  async function getFile(id: string) {
    const missing = "There is no such settlement.";
    const file = await readSettlementFile(db, readId(id, missing));
    if (!file) throw new OperatingError("NOT_FOUND", missing);
    return file;
  }

  /** Lists what a retry of many takes: dead settlements only where the filter names them. */
  async function chooseRetries(
    given: {
      readonly status?: string | undefined;
      readonly integrator?: string | undefined;
      readonly chainId?: number | undefined;
      readonly errorCode?: string | undefined;
    },
    limit: number,
  ) {
    const { status = "failing", integrator, chainId, errorCode } = given;
    const statuses =
      status === "failing"
        ? RETRIED_STATUSES.filter((name) => name !== "dead")
        : RETRIED_STATUSES.filter((name) => name === status);
    if (statuses.length === 0) throw invalid("status", `one of ${RETRIED_STATUSES.join(", ")}`);
    const code = ERROR_CODE_NAMES.find((name) => name === errorCode);
    if (errorCode !== undefined && !code) throw invalid("errorCode", "the code of an error");
    return listRetryable(db, {
      statuses,
      chainId,
      integratorId: integrator === undefined ? undefined : await findIntegrator(db, integrator),
      errorCode: code,
      limit,
    });
  }

  async function readFilter(query: Readonly<Record<string, string | undefined>>) {
    const { status, integrator, chainId, wallet, userId, txHash, amount } = query;
    return {
      status,
      integratorId: integrator === undefined ? undefined : await findIntegrator(db, integrator),
      chainId: chainId === undefined ? undefined : readChainId(chainId),
      wallet: wallet === undefined ? undefined : readAddress(wallet, "wallet"),
      userId,
      txHash: txHash === undefined ? undefined : readHash(txHash),
      amounts: amount === undefined ? undefined : readAmounts(deps.chains, amount),
    };
  }

  function readAddress(value: string, field: string): Address {
    const address = deps.parseAddress(value);
    if (!address) throw invalid(field, "an address");
    return address;
  }

  async function readTarget(given: {
    readonly integrator?: string;
    readonly chainId?: number;
    readonly token?: string;
    readonly route?: string;
  }): Promise<PauseTarget> {
    const { integrator, chainId, token, route } = given;
    if (integrator !== undefined) {
      return { scope: "integrator", integratorId: await findIntegrator(db, integrator) };
    }
    if (chainId === undefined || !deps.chains.some((chain) => chain.chainId === chainId)) {
      throw invalid("chainId", "a chain of this service, or an integrator");
    }
    if (token !== undefined) return { scope: "token", chainId, token: readAddress(token, "token") };
    if (route === undefined) return { scope: "chain", chainId };
    const kind = deps.parseRoute(route);
    if (!kind) throw invalid("route", "a kind of route");
    return { scope: "route", chainId, route: kind };
  }
}

/**
 * Redirects a browser, which has no page to show a refusal on. The page of the console gets a name of the refusal and has
 * the words: a text in a link would be shown as the console's own, whoever made the link.
 */
async function redirectTo(reply: FastifyReply, find: () => Promise<string>): Promise<FastifyReply> {
  try {
    return await reply.redirect(await find());
  } catch (error) {
    if (!(error instanceof OperatingError)) throw error;
    const reason = error.details?.["reason"];
    const problem = SIGN_IN_PROBLEMS.find((name) => name === reason) ?? "refused";
    return reply.redirect(`/#${new URLSearchParams({ problem }).toString()}`);
  }
}

/** Returns the link of an invitation. The token is in the fragment, which no server and no log sees. */
export function invitationUrl(origin: string, token: string): string {
  return `${origin}/#invitation=${token}`;
}

function readLimit(value: string | undefined): number {
  if (value === undefined) return PAGE_SIZE;
  const limit = /^\d{1,3}$/.test(value) ? Number(value) : 0;
  if (limit >= 1 && limit <= PAGE_SIZE_MAX) return limit;
  throw invalid("limit", `1 to ${PAGE_SIZE_MAX}`);
}

function readHash(value: string) {
  const hash = /^0x[0-9a-f]{64}$/i.test(value) ? toTxHash(value) : parseSolanaTxHash(value);
  if (hash !== undefined) return hash;
  throw invalid("txHash", "0x and 64 hex digits, or 64 bytes in base58");
}

/** Returns an amount such as `25.5` or `25.5 USDC` in the base units of every listed token that it can be an amount of. */
function readAmounts(chains: Config["chains"], value: string): readonly AmountOf[] {
  const match = /^(\d{1,40}(?:\.(\d{1,40}))?)(?: ([\w.]{1,16}))?$/.exec(value);
  if (!match) throw invalid("amount", "a number such as 25.5, or with a symbol such as 25.5 USDC");
  const [, units = "", fraction = "", symbol] = match;
  return chains.flatMap(({ chainId, tokens }) =>
    tokens
      .filter(
        (token) => symbol === undefined || token.symbol.toLowerCase() === symbol.toLowerCase(),
      )
      .filter(({ decimals }) => fraction.replace(/0+$/, "").length <= decimals)
      .map(({ address, decimals }) => ({
        chainId,
        token: address,
        amount: roundUnits(units, decimals),
      })),
  );
}
