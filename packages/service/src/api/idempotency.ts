/**
 * The header `Idempotency-Key` of every POST that needs an API key, after the IETF's draft-ietf-httpapi-idempotency-key-header.
 * The first request with a key runs, and its answer is stored before it is sent. The same request gets that answer for 24
 * hours; another request with that key is refused, and so is one that arrives while the first is in progress. A request that
 * failed stores nothing, so that a repetition runs again.
 */
import { createHmac } from "node:crypto";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { OperatingError } from "../core/errors.ts";
import type { Random } from "../core/ports.ts";
import type { Secret } from "../core/secret.ts";
import type { Db } from "../db/schema.ts";
import type { Log } from "../telemetry/log.ts";
import type { Admitted } from "./admission.ts";
import {
  beginExecution,
  type Execution,
  releaseExecution,
  storeAnswer,
} from "./idempotency-store.ts";

const HEADER = "idempotency-key";
const REPLAYED_HEADER = "idempotent-replayed";
/** Printable ASCII. */
const KEY = /^[\x21-\x7e]{1,255}$/;
/** Keys of one integrator that are stored at the same time. */
const KEYS_MAX = 10_000;

/** A request whose idempotency key cannot be used now, or not for this request. */
export class IdempotencyRefused extends OperatingError {
  readonly httpStatus: 409 | 422 | 429;
  readonly retryAfterS: number | undefined;

  constructor(reason: RefusedReason) {
    const { status, code, text, retryAfterS } = REFUSALS[reason];
    super(code, text, {
      details: {
        field: HEADER,
        reason,
        ...(retryAfterS === undefined ? {} : { retryAfterSeconds: retryAfterS }),
      },
    });
    this.httpStatus = status;
    this.retryAfterS = retryAfterS;
  }
}

type RefusedReason = "in_progress" | "other_request" | "quota_exceeded";

interface RefusalFacts {
  readonly status: 409 | 422 | 429;
  readonly code: "RPC_UNAVAILABLE" | "VALIDATION_ERROR";
  readonly text: string;
  readonly retryAfterS?: number;
}

const REFUSALS: Readonly<Record<RefusedReason, RefusalFacts>> = {
  in_progress: {
    status: 409,
    code: "RPC_UNAVAILABLE",
    text: "A request with this idempotency key is in progress: try again in 1 second.",
    retryAfterS: 1,
  },
  other_request: {
    status: 422,
    code: "VALIDATION_ERROR",
    text: "idempotency-key: expected a new key, since this one was used for another request.",
  },
  quota_exceeded: {
    status: 429,
    code: "RPC_UNAVAILABLE",
    text: `Too many idempotency keys: at most ${KEYS_MAX} are kept, for 24 hours each. Send the request later, or without one.`,
    retryAfterS: 60,
  },
};

/** Makes the keyed POST endpoints of an instance accept the header. */
export function acceptIdempotencyKeys(
  app: FastifyInstance,
  deps: {
    readonly db: Db;
    readonly random: Random;
    readonly pepper: Secret;
    readonly log: Log;
  },
  { principalOf, workOf }: Pick<Admitted, "principalOf" | "workOf">,
): void {
  const { db, random, pepper, log } = deps;
  const executions = new WeakMap<FastifyRequest, Execution>();

  app.addHook("preHandler", async (request, reply) => {
    const text = request.headers[HEADER];
    const isKeyed = Boolean(request.routeOptions.config.admission?.keyOf);
    if (request.method !== "POST" || !isKeyed || text === undefined) return undefined;
    const execution: Execution = {
      id: random.uuid(),
      integratorId: principalOf(request).integratorId,
      key: parseKey(text),
      fingerprint: fingerprintOf(request, pepper),
    };
    const begun = await beginExecution({ db, pepper, max: KEYS_MAX }, execution);
    if (begun.kind === "started") {
      executions.set(request, execution);
      return undefined;
    }
    if (begun.kind !== "answered") throw new IdempotencyRefused(begun.kind);
    return reply
      .code(begun.status)
      .header(REPLAYED_HEADER, "true")
      .type("application/json; charset=utf-8")
      .send(begun.body);
  });

  app.addHook("onSend", async (request, reply, payload: unknown) => {
    const execution = executions.get(request);
    if (!execution) return payload;
    executions.delete(request);
    if (reply.statusCode < 300 && typeof payload === "string") {
      await storeAnswer({ db, pepper }, execution, { status: reply.statusCode, body: payload });
      return payload;
    }
    const release = () =>
      releaseExecution(db, execution).catch((error: unknown) =>
        // The lease ends by itself.
        log.warn({ err: error, requestId: request.id }, "idempotency key not released"),
      );
    // Work may go on after its answer, and the same request must not run beside it.
    const work = workOf(request);
    if (work) void work.then(release, release);
    else await release();
    return payload;
  });
}

function parseKey(text: string | string[]): string {
  if (typeof text === "string" && KEY.test(text)) return text;
  throw new OperatingError(
    "VALIDATION_ERROR",
    "idempotency-key: expected 1 to 255 printable ASCII characters without spaces.",
    { details: { field: HEADER } },
  );
}

/** Returns the keyed hash of a request's method, path and body, without the query, which may hold the API key. */
function fingerprintOf({ method, url, body }: FastifyRequest, pepper: Secret): Buffer {
  const [path] = url.split("?");
  return createHmac("sha256", pepper.reveal())
    .update(JSON.stringify(["idempotent request", method, path, sortFields(body ?? null)]))
    .digest();
}

/** Sorts the fields of objects, so that their order does not tell two requests apart. */
function sortFields(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortFields);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .toSorted(([one], [other]) => (one < other ? -1 : 1))
      .map(([name, field]) => [name, sortFields(field)]),
  );
}
