/** Errors of the client. API and response errors say whether to retry. No error contains the API key. */
import type { ErrorCode, ErrorObject } from "../wire/index.ts";

/** The service returned an error object. Branch on `code`. */
export class SluiceApiError extends Error {
  override readonly name = "SluiceApiError";
  readonly code: ErrorCode;
  readonly retryable: boolean;
  readonly details: ErrorObject["details"];
  /** HTTP status; undefined for a rejected stream handshake. */
  readonly status: number | undefined;

  constructor(error: ErrorObject, status: number | undefined) {
    super(error.message);
    this.code = error.code;
    this.retryable = error.retryable;
    this.details = error.details;
    this.status = status;
  }
}

/** The response does not match the interface: it came from a proxy, another service or another version. */
export class SluiceResponseError extends Error {
  override readonly name = "SluiceResponseError";
  /** The request, such as `GET /swaps`. */
  readonly source: string;
  /** HTTP status; undefined on the stream. */
  readonly status: number | undefined;
  /** True for 429 and every 5xx. A successful response of the wrong shape is not retryable. */
  readonly retryable: boolean;

  constructor(source: string, problem: string, status?: number) {
    super(`${source}: ${problem}`);
    this.source = source;
    this.status = status;
    this.retryable = status !== undefined && (status === 429 || status >= 500);
  }
}

/** Reports whether a retry may succeed: there was no response, or the response says so. */
export function isRetryable(error: unknown): boolean {
  if (error instanceof SluiceApiError || error instanceof SluiceResponseError) {
    return error.retryable;
  }
  return true;
}

/**
 * No event was read for longer than events are retained, so some may be lost. Read `GET /swaps`, then follow without
 * `since`.
 */
export class SluiceGapError extends Error {
  override readonly name = "SluiceGapError";
  readonly since: string;

  constructor(since: string) {
    super(
      `Events are retained for 30 days and ${since} is older, so some may be missing. Read GET /swaps, then follow without since.`,
    );
    this.since = since;
  }
}

/** The settlement did not end before the timeout. It may still end. */
export class SluiceTimeoutError extends Error {
  override readonly name = "SluiceTimeoutError";
  readonly walletAddress: string;

  constructor(walletAddress: string) {
    super(`The settlement of ${walletAddress} did not end before the timeout.`);
    this.walletAddress = walletAddress;
  }
}

/** A webhook that is not to be trusted: it is malformed, too old, or signed by none of the keys. */
export class SluiceWebhookError extends Error {
  override readonly name = "SluiceWebhookError";
}
