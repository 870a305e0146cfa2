/**
 * Authentication and rate limits, after the path is known and before the body is read. A missing or wrong key counts against
 * the address. After too many wrong keys no further key of that address is checked, right or wrong, so that keys cannot be
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

/** Requirements of a route. */
export interface Admission {
  /** Reads the key from a request; null if the route needs none. */
  readonly keyOf: ((request: FastifyRequest) => unknown) | null;
  /** A second limit for an expensive route. */
  readonly limit?: "requestIndexPerKey";
}

declare module "fastify" {
  interface FastifyContextConfig {
    readonly admission?: Admission;
  }
}

/**
 * Returns the principal of a key.
 * @throws OperatingError as `authenticate` does; RateLimited, for any key, if the address sent too many wrong ones.
 */
export async function identify(
  deps: { readonly db: Db; readonly pepper: Secret; readonly limiter: RateLimiter },
  args: {
    readonly key: unknown;
    readonly address: string;
    /** Applies an allowance: writes it to the answer, and throws if it is exceeded. */
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
    // Several wrong keys may have been checked at the same time.
    if (isWrong) args.enforce(await limiter.take("wrongKeyPerAddress", address));
    throw error;
  }
}

/** Checks every request of an instance and returns a reader of its principal. Every route must declare its requirements. */
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
    assert(admission, "every route declares its admission");
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
    assert(principal, "a request is admitted before it is handled");
    return principal;
  };
}
