/** Rate limits per key and per address. Counted in this process: several processes behind a load balancer count separately. */
import type { FastifyReply } from "fastify";
import { RateLimiterMemory, RateLimiterRes } from "rate-limiter-flexible";
import { OperatingError } from "../core/errors.ts";

/** Requests per minute. */
export interface RateLimits {
  /** Of one key, over all endpoints. */
  readonly perKey: number;
  /** Per address: requests without a key, and handshakes of the stream. */
  readonly perAddress: number;
  /** Per address, wrong keys. Beyond it no key is checked, so that keys cannot be guessed. */
  readonly wrongKeyPerAddress: number;
  /** Per key, `POST /request-index` only: each call may cost calls to a node. */
  readonly requestIndexPerKey: number;
}

const WINDOW_S = 60;

/** A limit is exceeded: 429, under the code RPC_UNAVAILABLE of the interface's closed set. */
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

/** State of a limit. */
export interface Allowance {
  readonly name: keyof RateLimits;
  readonly limit: number;
  readonly remaining: number;
  /** Seconds until the window restarts. */
  readonly resetS: number;
  readonly isExceeded: boolean;
}

export interface RateLimiter {
  /** Counts one request of a key or an address. Never throws: the result is in the allowance. */
  take(name: keyof RateLimits, subject: string): Promise<Allowance>;
  /** Returns the allowance without counting; exceeded if nothing is left. */
  peek(name: keyof RateLimits, subject: string): Promise<Allowance>;
}

export function createRateLimiter(limits: RateLimits): RateLimiter {
  const createLimiter = (points: number) => new RateLimiterMemory({ points, duration: WINDOW_S });
  const limiters = {
    perKey: createLimiter(limits.perKey),
    perAddress: createLimiter(limits.perAddress),
    wrongKeyPerAddress: createLimiter(limits.wrongKeyPerAddress),
    requestIndexPerKey: createLimiter(limits.requestIndexPerKey),
  };
  const describe = (name: keyof RateLimits, counted: RateLimiterRes) => ({
    name,
    limit: limits[name],
    remaining: Math.max(0, counted.remainingPoints),
    resetS: Math.max(1, Math.ceil(counted.msBeforeNext / 1000)),
  });
  return {
    async take(name, subject) {
      const { counted, isExceeded } = await consume(limiters[name], subject);
      return { ...describe(name, counted), isExceeded };
    },
    async peek(name, subject) {
      const counted = await limiters[name].get(subject);
      const allowance = describe(
        name,
        counted ?? new RateLimiterRes(limits[name], WINDOW_S * 1000),
      );
      return { ...allowance, isExceeded: allowance.remaining === 0 };
    },
  };
}

/** Consumes a point. The library signals an exceeded limit by a rejection that is not an error. */
async function consume(limiter: RateLimiterMemory, subject: string) {
  try {
    return { counted: await limiter.consume(subject), isExceeded: false };
  } catch (thrown) {
    if (thrown instanceof RateLimiterRes) return { counted: thrown, isExceeded: true };
    throw thrown;
  }
}

/** Throws RateLimited if a limit is exceeded. */
export function refuseExceeded({ isExceeded, resetS }: Allowance): void {
  if (isExceeded) throw new RateLimited(resetS);
}

/**
 * Writes a limit to the headers of an answer (IETF draft-ietf-httpapi-ratelimit-headers-10).
 * @throws RateLimited if it is exceeded.
 */
export function enforce(reply: FastifyReply, allowance: Allowance): void {
  const { name, limit, remaining, resetS } = allowance;
  void reply.header("ratelimit-policy", `"${name}";q=${limit};w=${WINDOW_S}`);
  void reply.header("ratelimit", `"${name}";r=${remaining};t=${resetS}`);
  refuseExceeded(allowance);
}
