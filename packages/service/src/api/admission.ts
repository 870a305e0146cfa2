/**
 * Who may ask, and how often: after the path and before the body, whatever is in it. A key that is missing or wrong
 * counts against the address. Where too many were wrong no further one is looked at, right or not: so keys cannot be
 * guessed.
 */
import type { FastifyInstance, FastifyRequest } from "fastify";
import { assert } from "../core/assert.ts";
import { OperatingError } from "../core/errors.ts";
import type { Secret } from "../core/secret.ts";
import type { Db } from "../db/schema.ts";
import { authenticate, isMissing, type Principal } from "../integrators/index.ts";
import { createAddressReader } from "./client-address.ts";
import { type Allowance, enforce, type RateLimiter } from "./rate-limits.ts";

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

/**
 * Who a key belongs to that came from an address.
 * @throws OperatingError as `authenticate` does; and RateLimited, whatever the key, where too many were wrong.
 */
export async function identify(
  deps: { readonly db: Db; readonly pepper: Secret; readonly limiter: RateLimiter },
  args: {
    readonly key: unknown;
    readonly address: string;
    /** Says what is left to whoever asked, and throws where nothing is. */
    readonly enforce: (allowance: Allowance) => void;
  },
): Promise<Principal> {
  const { limiter } = deps;
  const { key, address } = args;
  const allowed = await limiter.peek("wrongKeyPerAddress", address);
  if (allowed.isExceeded) args.enforce(allowed);
  try {
    return await authenticate(deps, key);
  } catch (error) {
    const isWrong = error instanceof OperatingError && error.code === "FORBIDDEN";
    // Many may have been looked at at once.
    if (isWrong) args.enforce(await limiter.take("wrongKeyPerAddress", address));
    throw error;
  }
}

/** Checks every request of an instance, and returns who each is of. Every route must say what it asks. */
export function admit(
  app: FastifyInstance,
  deps: {
    readonly db: Db;
    readonly pepper: Secret;
    readonly limiter: RateLimiter;
    readonly trustedProxies: readonly string[];
  },
): (request: FastifyRequest) => Principal {
  const { limiter } = deps;
  const addressOf = createAddressReader(deps.trustedProxies);
  const principals = new WeakMap<FastifyRequest, Principal>();

  app.addHook("onRequest", async (request, reply) => {
    if (request.is404) return;
    const { admission } = request.routeOptions.config;
    assert(admission, "every route says whether it needs a key");
    const address = addressOf(request.raw);
    const key = admission.keyOf?.(request);
    if (isMissing(key)) enforce(reply, await limiter.take("perAddress", address));
    if (!admission.keyOf) return;
    const principal = await identify(deps, {
      key,
      address,
      enforce: (allowance) => enforce(reply, allowance),
    });
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
