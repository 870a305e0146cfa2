import type { Secret } from "./secret.ts";

/**
 * The ports for time, randomness, faults and calls of other people's servers. Everything below `roles/` takes them as arguments, so that a simulation
 * can put its own in their place; the tidy test bans the globals elsewhere.
 */

/** Wall clock and waiting. */
export interface Clock {
  /** Milliseconds since the Unix epoch. */
  now(): number;
  /** Resolves after `ms` milliseconds, or at once when the signal aborts; never rejects. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

/** Randomness from a cryptographic source. */
export interface Random {
  /** A UUID of version 4. */
  uuid(): string;
}

/**
 * Called at each named point around a side effect. Production does nothing; the kill tests end the process there.
 * Names are `<step>.<moment>`, such as `deliver.signed`.
 */
export type CrashPoint = (name: string) => void;

/** A request to somebody else's server. */
export interface HttpRequest {
  /** `GET` unless given; nothing is sent along. */
  readonly method?: "GET" | "POST";
  readonly url: string;
  /** Revealed for the moment of the request only. */
  readonly headers: ReadonlyMap<string, Secret>;
  /** For everything, to the last byte of the body. */
  readonly timeoutMs: number;
  /** Of the body, decompressed. */
  readonly bytesMax: number;
}

/** What became of a request. What a server does is never an exception. */
export type HttpAnswer =
  | {
      readonly kind: "answered";
      readonly status: number;
      readonly body: string;
      /** For how long the server asks to be left alone, where it says so in a form that needs no clock of its own. */
      readonly retryAfterMs?: number | undefined;
    }
  | { readonly kind: "failed"; readonly reason: "timed_out" | "too_large" | "unreachable" };

/** Asks somebody else's server. A redirect is not followed: its status is the answer. */
export type Http = (request: HttpRequest) => Promise<HttpAnswer>;
