/** Answers every failure with the interface's error object, never with a stack trace or HTML. */
import { type IncomingMessage, type ServerResponse, STATUS_CODES } from "node:http";
import type { Duplex } from "node:stream";
import { ERROR_CODES, type ErrorObject } from "@sluice/sdk/wire";
import type {
  FastifyError,
  FastifyInstance,
  FastifyReply,
  FastifyRequest,
  FastifyServerOptions,
} from "fastify";
import { OperatingError, toErrorObject, toOperatingError } from "../core/errors.ts";
import type { Log } from "../telemetry/log.ts";
import { isPoolExhausted, isStatementTimeout } from "../db/transient-errors.ts";
import { QuotaExceeded } from "../integrators/index.ts";
import { TooManyAtOnce } from "./at-once.ts";
import { Overloaded } from "./capacity.ts";
import { IdempotencyRefused } from "./idempotency.ts";
import { RateLimited } from "./rate-limits.ts";

/** Converts an error to the body of an answer. */
export type ErrorBody = (error: ErrorObject, status: number) => unknown;

/** Headers of every answer. Keys may be in the query, which no page that follows may learn. */
const ANSWER_HEADERS = {
  "cache-control": "no-store",
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
  // An answer shown as a page loads nothing, and no page frames it.
  "content-security-policy": "default-src 'none'; base-uri 'none'; frame-ancestors 'none'",
} as const;

/** Names an answer in the log. Always ours: a client's own would let it write into the log. */
const REQUEST_ID_HEADER = "x-request-id";

const isHost = (name: string) => name.toLowerCase() === "host";

/** The newest answer on each connection. */
const answering = new WeakMap<Duplex, ServerResponse>();

/** Makes an instance answer every error, its own and the framework's, with a body of the interface. */
export function handleErrors(app: FastifyInstance, log: Log, body: ErrorBody): void {
  // JSON is the only accepted body type.
  app.removeContentTypeParser("text/plain");
  const routes = listRoutes(app);
  const answer = (reply: FastifyReply, error: ErrorObject, status: number) =>
    reply.code(status).type("application/json; charset=utf-8").send(body(error, status));

  app.setErrorHandler((thrown: FastifyError | Error, request: FastifyRequest, reply) => {
    const refused = describeRefusal(thrown);
    if (refused) return answer(reply, refused.error, refused.status);
    const error = isBusy(thrown) ? busy(thrown) : toOperatingError(thrown);
    const { status, retryAfterS } = answerOf(error);
    if (retryAfterS !== undefined) void reply.header("retry-after", String(retryAfterS));
    if (status >= 500) {
      log.error({ err: thrown, path: pathOf(request), requestId: request.id }, "request failed");
    }
    return answer(reply, toErrorObject(error), status);
  });

  app.server.on("request", (request: IncomingMessage, response: ServerResponse) => {
    answering.set(request.socket, response);
  });

  const unmet = new WeakSet<IncomingMessage>();
  app.server.on("checkExpectation", (request: IncomingMessage, response) => {
    unmet.add(request);
    app.server.emit("request", request, response);
  });

  // CONNECT has no path and never reaches the router. Without a listener the connection would be cut without an answer.
  app.server.on("connect", (_request, socket) => {
    const taken = METHODS.filter((method) =>
      routes.some(({ methods }) => methods.includes(method)),
    );
    const { error, status } = describeMethod(taken);
    answerRaw(socket, { status, allow: taken.join(", "), body: body(error, status) });
    // The server has released the socket, which would otherwise wait for the client to close it.
    socket.once("finish", () => socket.destroy());
  });

  // In a well-formed request the path is checked first, before the body is read.
  app.addHook("onRequest", async (request, reply) => {
    void reply.headers({ ...ANSWER_HEADERS, [REQUEST_ID_HEADER]: request.id });
    const { headers, httpVersion, rawHeaders } = request.raw;
    if (unmet.has(request.raw)) return answer(reply, malformed("expect", "100-continue"), 400);
    if (headers.host === undefined && httpVersion === "1.1") {
      return answer(reply, malformed("host", "this header"), 400);
    }
    // Of several hosts each server on the way may believe another one (RFC 9112, section 3.2).
    if (rawHeaders.filter((name, index) => index % 2 === 0 && isHost(name)).length > 1) {
      return answer(reply, malformed("host", "one header"), 400);
    }
    if (!request.is404) return undefined;
    const { error, status, methods } = describeUnknown(routes, pathOf(request));
    if (methods.length > 0) void reply.header("allow", methods.join(", "));
    return answer(reply, error, status);
  });
}

/** Returns the status of an error, which some refusals choose themselves, and when to try again. */
function answerOf(error: OperatingError): {
  readonly status: number;
  readonly retryAfterS?: number | undefined;
} {
  if (
    error instanceof RateLimited ||
    error instanceof TooManyAtOnce ||
    error instanceof Overloaded ||
    error instanceof IdempotencyRefused
  ) {
    return { status: error.httpStatus, retryAfterS: error.retryAfterS };
  }
  if (error instanceof QuotaExceeded) return { status: error.httpStatus };
  return { status: ERROR_CODES[error.code].httpStatus ?? 500 };
}

/** Returns whether the database had no time or no connection for a statement of a caller. */
function isBusy(thrown: unknown): boolean {
  return isStatementTimeout(thrown) || isPoolExhausted(thrown);
}

function busy(cause: unknown): OperatingError {
  return new OperatingError("RPC_UNAVAILABLE", "The database took too long: try again.", {
    details: { reason: "timeout" },
    cause,
  });
}

function malformed(field: string, expected: string): ErrorObject {
  return toErrorObject(
    new OperatingError("VALIDATION_ERROR", `${field}: expected ${expected}.`, {
      details: { field },
    }),
  );
}

/** Methods of the interface. */
const METHODS = ["GET", "POST", "DELETE"] as const;

interface KnownRoute {
  readonly methods: readonly string[];
  readonly path: RegExp;
}

/** Lists the routes of an instance, including those added later; a parameter matches one segment. */
function listRoutes(app: FastifyInstance): readonly KnownRoute[] {
  const routes: KnownRoute[] = [];
  app.addHook("onRoute", ({ method, url }) => {
    routes.push({
      methods: [method].flat(),
      path: new RegExp(`^${url.replaceAll(".", "\\.").replaceAll(/:\w+/g, "[^/]+")}$`),
    });
  });
  return routes;
}

/** Describes an unknown path, or a known path with another method. */
function describeUnknown(routes: readonly KnownRoute[], url: string) {
  const taken = new Set(routes.flatMap(({ methods, path }) => (path.test(url) ? methods : [])));
  const methods = METHODS.filter((method) => taken.has(method));
  if (methods.length > 0) return { ...describeMethod(methods), methods };
  const error = new OperatingError("NOT_FOUND", "There is nothing at this path.");
  return { error: toErrorObject(error), status: 404, methods };
}

function describeMethod(methods: readonly string[]) {
  const error = new OperatingError("VALIDATION_ERROR", `This path takes ${methods.join(", ")}.`, {
    details: { field: "method" },
  });
  return { error: toErrorObject(error), status: 405 };
}

/** Answers on a connection without a framework reply, and closes it. */
function answerRaw(
  socket: Duplex,
  answer: { readonly status: number; readonly allow?: string; readonly body: unknown },
): void {
  const text = JSON.stringify(answer.body);
  const head = [
    `HTTP/1.1 ${answer.status} ${STATUS_CODES[answer.status] ?? ""}`,
    ...(answer.allow === undefined ? [] : [`Allow: ${answer.allow}`]),
    "Content-Type: application/json; charset=utf-8",
    `Content-Length: ${Buffer.byteLength(text)}`,
    "Connection: close",
    ...Object.entries(ANSWER_HEADERS).map(([name, value]) => `${name}: ${value}`),
  ];
  // The client may have disconnected before the answer.
  socket.on("error", () => socket.destroy());
  socket.end(`${head.join("\r\n")}\r\n\r\n${text}`);
}

/**
 * Server options that answer failures below the router in the interface's form: an undecodable path, and bytes that are not
 * HTTP.
 */
export function refusalOptions(
  body: ErrorBody,
): Pick<FastifyServerOptions, "frameworkErrors" | "clientErrorHandler"> {
  const refused = toErrorObject(
    new OperatingError("VALIDATION_ERROR", "The request is not well formed.", {
      details: { field: "request" },
    }),
  );
  return {
    frameworkErrors(_error, _request, reply) {
      // CAST: no route was found, so the reply has no schema of its own.
      const plain = reply as unknown as FastifyReply;
      void plain.code(400).send(body(refused, 400));
    },
    clientErrorHandler(error, socket) {
      if (error.code === "ECONNRESET" || !socket.writable) return;
      const refuse = () => answerRaw(socket, { status: 400, body: body(refused, 400) });
      // A whole request before these bytes is answered first.
      const earlier = answering.get(socket);
      if (!earlier?.req.complete || earlier.writableFinished) refuse();
      else earlier.once("close", refuse);
    },
  };
}

/** Describes a refusal by the framework before a handler ran, with its HTTP status. */
function describeRefusal(
  thrown: FastifyError | Error,
): { readonly error: ErrorObject; readonly status: number } | null {
  if (!("statusCode" in thrown) || thrown.statusCode === undefined) return null;
  if (thrown.statusCode < 400 || thrown.statusCode >= 500) return null;
  const invalid = thrown.validation?.[0];
  const field = invalid ? fieldOf(invalid) : (FIELDS[thrown.statusCode] ?? "body");
  const message = invalid
    ? `${field}: ${invalid.message ?? "is not valid"}.`
    : (MESSAGES[thrown.statusCode] ?? "The request is not well formed.");
  const status = thrown.statusCode === 413 || thrown.statusCode === 415 ? thrown.statusCode : 400;
  const error = new OperatingError("VALIDATION_ERROR", message, { details: { field } });
  return { error: toErrorObject(error), status };
}

const FIELDS: Readonly<Record<number, string>> = { 415: "content-type" };
const MESSAGES: Readonly<Record<number, string>> = {
  400: "body: expected JSON.",
  413: "body: it is too large.",
  415: "content-type: expected application/json.",
};

function fieldOf(invalid: {
  readonly instancePath: string;
  readonly params: Record<string, unknown>;
}): string {
  const path = invalid.instancePath.replace(/^\//, "").replaceAll("/", ".");
  const missing = invalid.params.missingProperty ?? invalid.params.requiredProperties;
  const name = Array.isArray(missing) ? missing[0] : missing;
  return path || (typeof name === "string" ? name : "body");
}

function pathOf(request: FastifyRequest): string {
  return request.url.split("?")[0] ?? "/";
}
