/**
 * Authentication and rate limits, after the path is known and before the body is read. A missing or wrong key counts against
 * the address. After too many wrong keys no further key of that address is checked, right or wrong, so that keys cannot be
 * guessed; except those that were valid from there lately, since their clients share the address with the guesser. A
 * refused request costs no look-up in the database.
 */
import type { FastifyInstance, FastifyRequest } from "fastify";
import { assert } from "../core/assert.ts";
import { OperatingError } from "../core/errors.ts";
import type { Secret } from "../core/secret.ts";
import type { Db } from "../db/schema.ts";
import { authenticate, isMissing, type Principal } from "../integrators/index.ts";
import type { AtOnce } from "./at-once.ts";
import { createAddressReader } from "./client-address.ts";
import type { Log } from "../telemetry/log.ts";
import type { KeyMemory } from "./key-memory.ts";
import { type Allowance, enforce, type RateLimiter, type RateLimits } from "./rate-limits.ts";

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

export interface IdentifyDeps {
  readonly db: Db;
  readonly pepper: Secret;
  readonly limiter: RateLimiter;
  readonly keys: KeyMemory;
  readonly log: Log;
}

/**
 * Returns the principal of a key.
 * @throws OperatingError as `authenticate` does; RateLimited, for any key, if the address sent too many wrong ones.
 */
export async function identify(
  deps: IdentifyDeps,
  args: {
    readonly key: unknown;
    readonly address: string;
    /** Applies an allowance: writes it to the answer, and throws if it is exceeded. */
    readonly enforce: (allowance: Allowance) => void;
  },
): Promise<Principal> {
  const { limiter, keys, log } = deps;
  const { key, address } = args;
  // Not asked about a key that passes in any case: of shared limits each question is a statement.
  if (!keys.wasValidFrom(key, address)) {
    const allowed = await limiter.peek("wrongKeyPerAddress", address);
    if (allowed.isExceeded) args.enforce(allowed);
  }
  try {
    const principal = await authenticate(deps, key);
    keys.remember(key, { keyId: principal.keyId, address });
    return principal;
  } catch (error) {
    const isWrong = error instanceof OperatingError && error.code === "FORBIDDEN";
    if (!isWrong) throw error;
    keys.forget(key);
    // Several wrong keys may have been checked at the same time.
    const counted = await limiter.take("wrongKeyPerAddress", address);
    if (counted.remaining === counted.limit - 1) log.warn({ address }, "wrong API key");
    logExceeded(log, counted, { address });
    args.enforce(counted);
    throw error;
  }
}

/** Logs the first refusal of a window: a flood of requests must not become a flood of lines. */
export function logExceeded(
  log: Log,
  { name, limit, isFirstExceeded }: Allowance,
  subject: { readonly address: string } | { readonly keyId: string },
): void {
  if (isFirstExceeded) log.warn({ ...subject, limit: name, max: limit }, "rate limit reached");
}

/** The requests of an instance that were admitted. */
export interface Admitted {
  principalOf(request: FastifyRequest): Principal;
  /** Keeps the place of a request among those of its key until some work ends, which may be after its answer. */
  holdPlace<Result>(request: FastifyRequest, work: Promise<Result>): Promise<Result>;
}

/** Checks every request of an instance. Every route must declare its requirements. */
export function admit(
  app: FastifyInstance,
  deps: IdentifyDeps & {
    readonly atOnce: AtOnce;
    readonly trustedProxies: readonly string[];
  },
): Admitted {
  const { limiter, atOnce, keys, log } = deps;
  const addressOf = createAddressReader(deps.trustedProxies);
  const principals = new WeakMap<FastifyRequest, Principal>();

  app.addHook("onRequest", async (request, reply) => {
    if (request.is404) return;
    const { admission } = request.routeOptions.config;
    assert(admission, "every route declares its admission");
    const address = addressOf(request.raw);
    const key = admission.keyOf?.(request);
    const take = async (
      name: keyof RateLimits,
      subject: { address: string } | { keyId: string },
    ) => {
      const counted = await limiter.take(name, Object.values(subject)[0] ?? "");
      logExceeded(log, counted, subject);
      enforce(reply, counted);
    };
    if (isMissing(key)) await take("perAddress", { address });
    if (!admission.keyOf) return;
    const takeOfKey = async (keyId: string) => {
      await take("perKey", { keyId });
      if (admission.limit) await take(admission.limit, { keyId });
    };
    // The limits of a key that is remembered come first, so that its refusal costs no look-up.
    const remembered = keys.recall(key);
    if (remembered !== undefined) await takeOfKey(remembered);
    const principal = await identify(deps, {
      key,
      address,
      enforce: (allowance) => enforce(reply, allowance),
    });
    principals.set(request, principal);
    if (principal.keyId !== remembered) await takeOfKey(principal.keyId);
  });

  const held = new WeakMap<FastifyRequest, Promise<unknown>>();
  const principalOf = (request: FastifyRequest) => {
    const principal = principals.get(request);
    assert(principal, "a request is admitted before it is handled");
    return principal;
  };

  // A place is taken when the body has arrived, so that slow bodies take none, and by the work instead of the connection,
  // since a client that disconnects does not end the work.
  app.addHook("onRoute", (route) => {
    const { handler, config } = route;
    if (!config?.admission?.keyOf) return;
    route.handler = async function takePlace(request, reply) {
      const leave = await atOnce.enter(principalOf(request).keyId);
      try {
        return await handler.call(this, request, reply);
      } finally {
        const work = held.get(request);
        if (work) void work.then(leave, leave);
        else leave();
      }
    };
  });

  return {
    principalOf,
    holdPlace(request, work) {
      held.set(request, work);
      return work;
    },
  };
}
