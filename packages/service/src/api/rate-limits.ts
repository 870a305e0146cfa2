/**
 * Limits on how often one key, or one address, may ask. Counted in this process: with several of them behind a balancer
 * each counts for itself.
 */
import type { FastifyReply } from "fastify";
import { RateLimiterMemory, RateLimiterRes } from "rate-limiter-flexible";
import { OperatingError } from "../core/errors.ts";

/** Requests per minute. */
export interface RateLimits {
  /** Of one key, over all endpoints. */
  readonly perKey: number;
  /** Of one address: requests that need no key, and those whose key is missing or wrong. */
  readonly perAddress: number;
  /** Of one key, on `POST /request-index` alone: each may cost the service calls to a node. */
  readonly requestIndexPerKey: number;
}

const WINDOW_S = 60;

/** More than is allowed: 429, which the closed set of codes has under RPC_UNAVAILABLE. */
export class RateLimited extends OperatingError {
  readonly httpStatus = 429;
  readonly retryAfterS: number;

  constructor(retryAfterS: number) {
    super("RPC_UNAVAILABLE", `Too many requests: try again in ${retryAfterS} seconds.`, {
      details: { reason: "rate_limited", retryAfterSeconds: retryAfterS },
    });
    this.retryAfterS = retryAfterS;
  }
}

/** What is left of a limit. */
export interface Allowance {
  readonly name: keyof RateLimits;
  readonly limit: number;
  readonly remaining: number;
  /** Seconds until the window begins anew. */
  readonly resetS: number;
  readonly isExceeded: boolean;
}

export interface RateLimiter {
  /** Counts one request of a key or an address. Never throws: what it found is in the answer. */
  take(name: keyof RateLimits, subject: string): Promise<Allowance>;
}

export function createRateLimiter(limits: RateLimits): RateLimiter {
  const limiters = {
    perKey: new RateLimiterMemory({ points: limits.perKey, duration: WINDOW_S }),
    perAddress: new RateLimiterMemory({ points: limits.perAddress, duration: WINDOW_S }),
    requestIndexPerKey: new RateLimiterMemory({
      points: limits.requestIndexPerKey,
      duration: WINDOW_S,
    }),
  };
  return {
    async take(name, subject) {
      const { counted, isExceeded } = await consume(limiters[name], subject);
      return {
        name,
        limit: limits[name],
        remaining: Math.max(0, counted.remainingPoints),
        resetS: Math.max(1, Math.ceil(counted.msBeforeNext / 1000)),
        isExceeded,
      };
    },
  };
}

/** The library answers an exceeded limit by a rejection that is no error. */
async function consume(limiter: RateLimiterMemory, subject: string) {
  try {
    return { counted: await limiter.consume(subject), isExceeded: false };
  } catch (thrown) {
    if (thrown instanceof RateLimiterRes) return { counted: thrown, isExceeded: true };
    throw thrown;
  }
}

/**
 * States a limit in the headers of an answer (IETF draft-ietf-httpapi-ratelimit-headers-10).
 * @throws RateLimited when it is exceeded, with `Retry-After` set.
 */
export function enforce(reply: FastifyReply, allowance: Allowance): void {
  const { name, limit, remaining, resetS, isExceeded } = allowance;
  void reply.header("ratelimit-policy", `"${name}";q=${limit};w=${WINDOW_S}`);
  void reply.header("ratelimit", `"${name}";r=${remaining};t=${resetS}`);
  if (!isExceeded) return;
  void reply.header("retry-after", String(resetS));
  throw new RateLimited(resetS);
}
