/**
 * The port between a node's client and the limits of that node: the client asks before it sends, and reports afterwards.
 * `createNodeTraffic` keeps the limits; without it nothing is limited.
 */

/** The outcome of a request, for metrics. */
export type Outcome =
  | "ok"
  /** An error of the node, such as a revert. */
  | "node_error"
  | "rate_limited"
  | "http_error"
  | "timeout"
  | "unreachable"
  | "malformed"
  /** Larger than the limit of a body. */
  | "too_large"
  /** Not sent: the node's budget is used up, or it refused the requests before. */
  | "withheld";

/** One HTTP request, with one or more JSON-RPC requests. */
export interface Exchange {
  readonly requests: readonly { readonly method: string; readonly outcome: Outcome }[];
  readonly durationMs: number;
  readonly bytesSent: number;
  /** After decompression. */
  readonly bytesReceived: number;
}

/** The node refused requests because they were too many. */
export interface RateLimited {
  /** The `retry-after` header, if there was one. */
  readonly retryAfter: string | null;
}

/** Permission to send one HTTP request now. */
export interface Turn {
  /** Must be called once, when the request has ended. */
  end(limited: RateLimited | null): void;
}

export interface NodeTraffic {
  /** Milliseconds since the Unix epoch. */
  now(): number;
  /** Most requests of one batch. */
  readonly batchMax: number;
  /**
   * Resolves when `count` requests may be sent. Rejects with `Withheld` if that is not before `deadlineMs`, at once if this
   * is already known.
   */
  enter(count: number, deadlineMs: number, precedence?: Precedence): Promise<Turn>;
  /** Waits before a request is sent again. */
  pause(ms: number): Promise<void>;
  observe(exchange: Exchange): void;
}

/**
 * While others wait, three of four turns are for requests that come first. Those of claims and returns, which have a deadline,
 * do so and may also use the reserve of the node's daily budget.
 */
export type Precedence = "first" | "reserve" | "usual";

/** Returns the same limits for a client whose requests come first. */
export function comeFirst(traffic: NodeTraffic): NodeTraffic {
  return withPrecedence(traffic, "first");
}

/** Returns the same limits for a client whose requests may use the reserve of the daily budget. */
export function useReserve(traffic: NodeTraffic): NodeTraffic {
  return withPrecedence(traffic, "reserve");
}

function withPrecedence(traffic: NodeTraffic, precedence: Precedence): NodeTraffic {
  return {
    now: () => traffic.now(),
    get batchMax() {
      return traffic.batchMax;
    },
    enter: (count, deadlineMs) => traffic.enter(count, deadlineMs, precedence),
    pause: (ms) => traffic.pause(ms),
    observe: (exchange) => traffic.observe(exchange),
  };
}

/** The limits of a node do not allow a request in time. */
export class Withheld extends Error {
  override readonly name = "Withheld";
  readonly reason: "rate limited" | "too many requests waiting" | "daily budget used up";

  constructor(reason: Withheld["reason"]) {
    super(reason);
    this.reason = reason;
  }
}

/** Traffic without limits, for a client that sends few requests. */
export const UNLIMITED: NodeTraffic = {
  now: () => 0,
  batchMax: Infinity,
  enter: async () => ({ end: () => undefined }),
  pause: async () => undefined,
  observe: () => undefined,
};
