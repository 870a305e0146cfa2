/**
 * Who may ask, and how often: after the path and before the body, whatever is in it. A key that is missing or wrong
 * counts against the address, so that keys cannot be guessed.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { assert } from "../core/assert.ts";
import { OperatingError } from "../core/errors.ts";
import type { Secret } from "../core/secret.ts";
import type { Db } from "../db/schema.ts";
import { authenticate, type Principal } from "../integrators/index.ts";
import { enforce, type RateLimiter } from "./rate-limits.ts";

/** What a route asks of whoever calls it. */
export interface Admission {
  /** How the key comes; null where none is needed. */
  readonly keyOf: ((request: FastifyRequest) => unknown) | null;
  /** A second limit, for what costs more. */
  readonly limit?: "requestIndexPerKey";
}

declare module "fastify" {
  interface FastifyContextConfig {
    readonly admission?: Admission;
  }
}

/** Checks every request of an instance, and returns who each is of. Every route must say what it asks. */
export function admit(
  app: FastifyInstance,
  deps: { readonly db: Db; readonly pepper: Secret; readonly limiter: RateLimiter },
): (request: FastifyRequest) => Principal {
  const { limiter } = deps;
  const principals = new WeakMap<FastifyRequest, Principal>();

  async function identify(
    request: FastifyRequest,
    reply: FastifyReply,
    key: unknown,
  ): Promise<Principal> {
    try {
      return await authenticate(deps, key);
    } catch (error) {
      const isRefused =
        error instanceof OperatingError &&
        (error.code === "UNAUTHORIZED" || error.code === "FORBIDDEN");
      if (isRefused) enforce(reply, await limiter.take("perAddress", request.ip));
      throw error;
    }
  }

  app.addHook("onRequest", async (request, reply) => {
    if (request.is404) return;
    const { admission } = request.routeOptions.config;
    assert(admission, "every route says whether it needs a key");
    if (!admission.keyOf) {
      enforce(reply, await limiter.take("perAddress", request.ip));
      return;
    }
    const principal = await identify(request, reply, admission.keyOf(request));
    principals.set(request, principal);
    enforce(reply, await limiter.take("perKey", principal.keyId));
    if (admission.limit) enforce(reply, await limiter.take(admission.limit, principal.keyId));
  });

  return (request) => {
    const principal = principals.get(request);
    assert(principal, "a request is let in before it is handled");
    return principal;
  };
}
