/** Options of calls. */

/** Options of one call. */
export interface CallOptions {
  /** Aborts the call, which then throws the signal's reason. */
  readonly signal?: AbortSignal;
}

/** Options of a call that may create something. */
export interface PostOptions extends CallOptions {
  /**
   * Makes the call safe to repeat: for 24 hours the same request with the same key gets the same answer. 1 to 255 printable
   * ASCII characters without spaces.
   */
  readonly idempotencyKey?: string;
}
