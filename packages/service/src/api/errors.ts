/** Every answer that is not a success is the interface's error object; never a stack, never HTML. */
import { ERROR_CODES, type ErrorObject } from "@sluice/sdk/wire";
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { OperatingError, toErrorObject, toOperatingError } from "../core/errors.ts";
import type { Log } from "../telemetry/log.ts";

/** Turns an error into the body of an answer. */
export type ErrorBody = (error: ErrorObject, status: number) => unknown;

/** Makes an instance answer every error, its own and the framework's, with a body of the interface. */
export function handleErrors(app: FastifyInstance, log: Log, body: ErrorBody): void {
  const answer = (reply: FastifyReply, error: ErrorObject, status: number) =>
    reply.code(status).type("application/json; charset=utf-8").send(body(error, status));

  app.setErrorHandler((thrown: FastifyError | Error, request: FastifyRequest, reply) => {
    const refused = describeRefusal(thrown);
    if (refused) return answer(reply, refused.error, refused.status);
    const error = toOperatingError(thrown);
    const status = ERROR_CODES[error.code].httpStatus ?? 500;
    if (status >= 500) log.error({ err: thrown, path: pathOf(request) }, "a request failed");
    return answer(reply, toErrorObject(error), status);
  });

  app.setNotFoundHandler((request, reply) => {
    const path = pathOf(request);
    const known = (["GET", "POST"] as const).filter((method) =>
      app.hasRoute({ method, url: path }),
    );
    if (known.length === 0) {
      const error = new OperatingError("NOT_FOUND", "There is nothing at this path.");
      return answer(reply, toErrorObject(error), 404);
    }
    const error = new OperatingError("VALIDATION_ERROR", `This path takes ${known.join(", ")}.`, {
      details: { field: "method" },
    });
    void reply.header("allow", known.join(", "));
    return answer(reply, toErrorObject(error), 405);
  });
}

/** What the framework refused before a handler ran: the request's fault, with the status it has in HTTP. */
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
