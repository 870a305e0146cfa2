/** What a client throws. Both kinds say whether trying again may help; neither ever holds the API key. */
import type { ErrorCode, ErrorObject } from "../wire/index.ts";

/** The service answered with an error. Branch on `code`. */
export class SluiceApiError extends Error {
  override readonly name = "SluiceApiError";
  readonly code: ErrorCode;
  readonly retryable: boolean;
  readonly details: ErrorObject["details"];
  /** HTTP status; undefined when a stream's handshake was refused. */
  readonly status: number | undefined;

  constructor(error: ErrorObject, status: number | undefined) {
    super(error.message);
    this.code = error.code;
    this.retryable = error.retryable;
    this.details = error.details;
    this.status = status;
  }
}

/** Something answered, but not in the published shape: a proxy, another service, another version. */
export class SluiceResponseError extends Error {
  override readonly name = "SluiceResponseError";
  /** What was asked, such as `GET /swaps`. */
  readonly source: string;
  /** HTTP status; undefined on the stream. */
  readonly status: number | undefined;
  /** True for 429 and every 5xx; a wrong shape stays wrong. */
  readonly retryable: boolean;

  constructor(source: string, problem: string, status?: number) {
    super(`${source}: ${problem}`);
    this.source = source;
    this.status = status;
    this.retryable = status !== undefined && (status === 429 || status >= 500);
  }
}

/** Whether trouble may pass by itself: nobody answered, or the answer says so. */
export function mayPass(error: unknown): boolean {
  if (error instanceof SluiceApiError || error instanceof SluiceResponseError) {
    return error.retryable;
  }
  return true;
}

/** Nothing was read for longer than events are kept: some may be gone. Read `GET /swaps`, then follow without `since`. */
export class SluiceGapError extends Error {
  override readonly name = "SluiceGapError";
  readonly since: string;

  constructor(since: string) {
    super(`Events are kept for 30 days, and ${since} is longer ago: some may be missing.`);
    this.since = since;
  }
}

/** What was waited for did not come in time. It may still come. */
export class SluiceTimeoutError extends Error {
  override readonly name = "SluiceTimeoutError";
  readonly walletAddress: string;

  constructor(walletAddress: string) {
    super(`The settlement of ${walletAddress} has not ended yet.`);
    this.walletAddress = walletAddress;
  }
}
