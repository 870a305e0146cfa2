/**
 * Operating errors: what can go wrong outside our own code. The code is the interface's and decides what the API
 * answers and what a settlement does next; `details` is the part that is safe to show. A bug is an `assert`, and an
 * expected outcome is a value, never one of these.
 */
import { ERROR_CODES, type ErrorCode, type ErrorObject } from "@sluice/sdk/wire";

/** Safe context: numbers, ids, thresholds, a short reason. Never text of an exception. */
export type ErrorDetails = Readonly<Record<string, string | number | boolean>>;

export class OperatingError extends Error {
  override readonly name = "OperatingError";
  readonly code: ErrorCode;
  readonly details: ErrorDetails | undefined;

  constructor(
    code: ErrorCode,
    message: string,
    options?: { details?: ErrorDetails; cause?: unknown },
  ) {
    super(message, { cause: options?.cause });
    this.code = code;
    this.details = options?.details;
  }

  get retryable(): boolean {
    return ERROR_CODES[this.code].retryable;
  }
}

/** The interface's error object of an operating error; `dead` settlements pass `retryable: false`. */
export function toErrorObject(error: OperatingError, retryable = error.retryable): ErrorObject {
  return {
    code: error.code,
    message: error.message,
    retryable,
    ...(error.details ? { details: { ...error.details } } : {}),
  };
}

/** An error that `toErrorObject` wrote down. */
export function fromErrorObject({ code, message, details }: ErrorObject): OperatingError {
  // CAST: its details were written from ErrorDetails.
  return new OperatingError(code, message, { details: (details ?? {}) as ErrorDetails });
}

/** Any thrown value as an operating error. Unrecognised means retriable, and its text stays in the logs. */
export function toOperatingError(thrown: unknown): OperatingError {
  if (thrown instanceof OperatingError) return thrown;
  return new OperatingError("INTERNAL", "Something went wrong on our side.", { cause: thrown });
}
