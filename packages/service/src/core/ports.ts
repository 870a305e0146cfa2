/**
 * The ports for time, randomness and faults. Everything below `roles/` takes them as arguments, so that a simulation
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
