/**
 * Authentication and rate limits, after the path is known and before the body is read. A missing or wrong key counts against
 * the address. After too many wrong keys no further key of that address is checked, right or wrong, so that keys cannot be
 * guessed; except those that were valid from there lately, since their clients share the address with the guesser. A
 * refused request costs no look-up in the database.
 */
import type { KeyScope } from "@sluice/sdk/wire";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { assert } from "../core/assert.ts";
import { OperatingError } from "../core/errors.ts";
import type { Secret } from "../core/secret.ts";
import type { Db } from "../db/schema.ts";
import { authenticate, isAllowedFrom, isMissing, type Principal } from "../integrators/index.ts";
import type { AtOnce } from "./at-once.ts";
import type { Capacity } from "./capacity.ts";
import { type Caller, createCallerReader } from "./client-address.ts";
import type { Log } from "../telemetry/log.ts";
import type { KeyMemory, PresentedKey } from "./key-memory.ts";
import type { KeyUses } from "./key-uses.ts";
import { type Allowance, enforce, type RateLimiter, type RateLimits } from "./rate-limits.ts";

/** Requirements of a route. */
export interface Admission {
  /** Reads the key from a request; null if the route needs none. */
  readonly keyOf: ((request: FastifyRequest) => unknown) | null;
  /** Scope that the key must have; null if every valid key will do. */
  readonly scope: KeyScope | null;
  /** Where the key is sent, for the error without one. */
  readonly keyPlace?: string;
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
  readonly log: Log;
}

/**
 * Returns the principal of a key.
 * @throws OperatingError as `authenticate` does; FORBIDDEN if the key may not be used from the address, or lacks the scope;
 *   RateLimited, for any key, if the address sent too many wrong ones.
 */
export async function identify(
  deps: IdentifyDeps,
  args: {
    readonly key: PresentedKey;
    readonly caller: Caller;
    readonly scope: KeyScope | null;
    /** Where the key is sent, for the error without one. */
    readonly keyPlace?: string | undefined;
    /** Applies an allowance: writes it to the answer, and throws if it is exceeded. */
    readonly enforce: (allowance: Allowance) => void;
  },
): Promise<Principal> {
  const { limiter } = deps;
  const { key, caller, scope, keyPlace } = args;
  const { counted: address } = caller;
  // Not asked about a key that passes in any case: of shared limits each question is a statement.
  if (!key.wasValidFrom(address)) {
    const allowed = await limiter.peek("wrongKeyPerAddress", address);
    if (allowed.isExceeded) args.enforce(allowed);
  }
  if (isMissing(key.text) && keyPlace !== undefined) {
    throw new OperatingError("UNAUTHORIZED", `An API key is required in ${keyPlace}.`);
  }
  let principal: Principal;
  try {
    principal = await authenticate(deps, key.text);
  } catch (error) {
    const isWrong = error instanceof OperatingError && error.code === "FORBIDDEN";
    if (!isWrong) throw error;
    key.forget();
    await countWrong(deps, args);
    throw error;
  }
  if (!isAllowedFrom(principal, caller.exact)) {
    // Counted like a wrong key: it may be a stolen one. The memory keeps it, for the addresses where it is valid.
    await countWrong(deps, args);
    throw new OperatingError(
      "FORBIDDEN",
      `The API key may not be used from this address, ${caller.exact}.`,
      { details: { reason: "address", address: caller.exact } },
    );
  }
  key.remember({ keyId: principal.keyId, address });
  if (scope !== null && !principal.scopes.has(scope)) {
    throw new OperatingError("FORBIDDEN", `The API key does not have the scope ${scope}.`, {
      details: { reason: "scope", scope },
    });
  }
  return principal;
}

/** Counts a wrong key against its address. Several may have been checked at the same time. */
async function countWrong(
  { limiter, log }: IdentifyDeps,
  { caller, enforce: apply }: Pick<Parameters<typeof identify>[1], "caller" | "enforce">,
): Promise<void> {
  const { counted: address } = caller;
  const counted = await limiter.take("wrongKeyPerAddress", address);
  if (counted.remaining === counted.limit - 1) log.warn({ address }, "wrong API key");
  logExceeded(log, counted, { address });
  apply(counted);
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
  /** Returns the work that keeps the place of a request, if there is any. */
  workOf(request: FastifyRequest): Promise<unknown> | undefined;
  /** Keeps the place of a request among those of its key until some work ends, which may be after its answer. */
  holdPlace<Result>(request: FastifyRequest, work: Promise<Result>): Promise<Result>;
}

/** Checks every request of an instance. Every route must declare its requirements. */
export function admit(
  app: FastifyInstance,
  deps: IdentifyDeps & {
    readonly keys: KeyMemory;
    readonly atOnce: AtOnce;
    readonly capacity: Capacity;
    readonly uses: KeyUses;
    readonly trustedProxies: readonly string[];
  },
): Admitted {
  const { limiter, atOnce, capacity, keys, uses, log } = deps;
  const callerOf = createCallerReader(deps.trustedProxies);
  const principals = new WeakMap<FastifyRequest, Principal>();
  const held = new WeakMap<FastifyRequest, Promise<unknown>>();
  /** Give the places of requests back among those of all keys. */
  const givesBack = new WeakMap<FastifyRequest, () => void>();

  app.addHook("onRequest", async (request, reply) => {
    if (request.is404) return;
    const { admission } = request.routeOptions.config;
    assert(admission, "every route declares its admission");
    const caller = callerOf(request.raw);
    const { counted: address } = caller;
    const key = keys.present(admission.keyOf?.(request));
    const take = async (
      name: keyof RateLimits,
      subject: { address: string } | { keyId: string },
    ) => {
      const counted = await limiter.take(name, Object.values(subject)[0] ?? "");
      logExceeded(log, counted, subject);
      enforce(reply, counted);
    };
    if (isMissing(key.text)) await take("perAddress", { address });
    if (!admission.keyOf) return;
    const takeOfKey = async (keyId: string) => {
      await take("perKey", { keyId });
      if (admission.limit) await take(admission.limit, { keyId });
    };
    // The limits of a key that is remembered come first, so that its refusal costs no look-up.
    const remembered = key.recall();
    if (remembered !== undefined) await takeOfKey(remembered);
    const principal = await identify(deps, {
      key,
      caller,
      scope: admission.scope,
      keyPlace: admission.keyPlace,
      enforce: (allowance) => enforce(reply, allowance),
    });
    principals.set(request, principal);
    uses.countRequest(principal.keyId);
    if (principal.keyId !== remembered) await takeOfKey(principal.keyId);
  });

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
      const { keyId, integratorId } = principalOf(request);
      const leave = await atOnce.enter(keyId);
      try {
        const giveBack = await capacity.enter(integratorId);
        givesBack.set(request, giveBack);
        try {
          return await handler.call(this, request, reply);
        } finally {
          giveBack();
        }
      } finally {
        const work = held.get(request);
        if (work) void work.then(leave, leave);
        else leave();
      }
    };
  });

  return {
    principalOf,
    workOf: (request) => held.get(request),
    holdPlace(request, work) {
      held.set(request, work);
      // Waiting for nodes takes no processor, and is bounded by the places of the key: it delays no other integrator.
      givesBack.get(request)?.();
      return work;
    },
  };
}
