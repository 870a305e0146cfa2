/** Rate limits per key and per address, counted in this process; `shared-limits.ts` counts those of several processes. */
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
  /** New deposit addresses per key. Each is watched permanently. */
  readonly newAddressesPerKey: number;
  /** Requests to nodes per key, which quotes and `POST /request-index` cause. */
  readonly nodeRequestsPerKey: number;
}

export const LIMIT_NAMES = [
  "perKey",
  "perAddress",
  "wrongKeyPerAddress",
  "requestIndexPerKey",
  "newAddressesPerKey",
  "nodeRequestsPerKey",
] as const satisfies readonly (keyof RateLimits)[];

const WINDOW_S = 60;
/** Length of a window in milliseconds. */
export const RATE_WINDOW_MS = WINDOW_S * 1_000;

/** A limit is exceeded: 429, under the code RPC_UNAVAILABLE of the interface's closed set. */
export class RateLimited extends OperatingError {
  readonly httpStatus = 429;
  readonly limit: keyof RateLimits;
  readonly retryAfterS: number;

  constructor(limit: keyof RateLimits, retryAfterS: number) {
    super("RPC_UNAVAILABLE", `Too many requests: try again in ${retryAfterS} seconds.`, {
      details: { reason: "rate_limited", retryAfterSeconds: retryAfterS },
    });
    this.limit = limit;
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
  /** True for the first request above the limit in its window, which is the one to log. */
  readonly isFirstExceeded: boolean;
}

export interface RateLimiter {
  /** Counts requests of a key or an address, one by default. Never throws: the result is in the allowance. */
  take(name: keyof RateLimits, subject: string, count?: number): Promise<Allowance>;
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
    newAddressesPerKey: createLimiter(limits.newAddressesPerKey),
    nodeRequestsPerKey: createLimiter(limits.nodeRequestsPerKey),
  };
  const describe = (name: keyof RateLimits, counted: RateLimiterRes) => ({
    name,
    limit: limits[name],
    remaining: Math.max(0, counted.remainingPoints),
    resetS: Math.max(1, Math.ceil(counted.msBeforeNext / 1000)),
  });
  return {
    async take(name, subject, count = 1) {
      const { counted, isExceeded } = await consume(limiters[name], subject, count);
      const isFirstExceeded = isExceeded && counted.consumedPoints - count <= limits[name];
      return { ...describe(name, counted), isExceeded, isFirstExceeded };
    },
    async peek(name, subject) {
      const counted = await limiters[name].get(subject);
      const allowance = describe(
        name,
        counted ?? new RateLimiterRes(limits[name], WINDOW_S * 1000),
      );
      return { ...allowance, isExceeded: allowance.remaining === 0, isFirstExceeded: false };
    },
  };
}

/** Consumes points. The library signals an exceeded limit by a rejection that is not an error. */
async function consume(limiter: RateLimiterMemory, subject: string, count: number) {
  try {
    return { counted: await limiter.consume(subject, count), isExceeded: false };
  } catch (thrown) {
    if (thrown instanceof RateLimiterRes) return { counted: thrown, isExceeded: true };
    throw thrown;
  }
}

/** Throws RateLimited if a limit is exceeded. */
export function refuseExceeded({ name, isExceeded, resetS }: Allowance): void {
  if (isExceeded) throw new RateLimited(name, resetS);
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
