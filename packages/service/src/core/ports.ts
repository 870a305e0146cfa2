import type { Secret } from "./secret.ts";

/**
 * The ports for time, randomness, crash points and outbound HTTP. All code below `roles/` takes them as arguments, so that
 * the simulation can replace them; the tidy test bans the globals elsewhere.
 */

/** Wall clock and waiting. */
export interface Clock {
  /** Milliseconds since the Unix epoch. */
  now(): number;
  /** Resolves after `ms` milliseconds, or at once when the signal aborts; never rejects. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

/** Reason of an abort that ends a sleep. Without a reason Node.js creates an exception with its stack for each. */
export const AWAKE = "awake";

/** Counts the requests that some work sends to nodes, through any reader. */
export interface NodeMeter {
  /** Runs work; `onRequests` is called with the number of requests before they are sent. */
  run<Result>(work: () => Promise<Result>, onRequests: (count: number) => void): Promise<Result>;
}

/** Randomness from a cryptographic source. */
export interface Random {
  /** Returns a UUID of version 4. */
  uuid(): string;
}

/**
 * Called at each named point around a side effect. Does nothing in production; tests crash the process there. Names are
 * `<step>.<moment>`, such as `deliver.signed`.
 */
export type CrashPoint = (name: string) => void;

/** A request to an external server. */
export interface HttpRequest {
  /** `GET` by default. */
  readonly method?: "GET" | "POST";
  /** None by default. Its type is among the headers. */
  readonly body?: string;
  readonly url: string;
  /** Revealed only while the request is sent. */
  readonly headers: ReadonlyMap<string, Secret>;
  /** Timeout for the whole request, to the last byte of the body. */
  readonly timeoutMs: number;
  /** Maximum size of the decompressed body. */
  readonly bytesMax: number;
}

/** The outcome of a request. A failure of the server is a value, never an exception. */
export type HttpAnswer =
  | {
      readonly kind: "answered";
      readonly status: number;
      readonly body: string;
      /** The `retry-after` header in milliseconds, if it is a number of seconds. */
      readonly retryAfterMs?: number | undefined;
    }
  | { readonly kind: "failed"; readonly reason: "timed_out" | "too_large" | "unreachable" };

/** Sends a request to an external server. Does not follow redirects: their status is the answer. */
export type Http = (request: HttpRequest) => Promise<HttpAnswer>;
