/**
 * Operating errors: failures outside our own code. The interface defines the codes, which decide the API's answer and the
 * next state of a settlement; `details` is safe to show. A bug is an `assert` instead, and an expected outcome is a value.
 */
import { ERROR_CODES, type ErrorCode, type ErrorObject } from "@sluice/sdk/wire";

/** Context that is safe to show: numbers, ids, thresholds, a short reason. Never the text of an exception. */
export type ErrorDetails = Readonly<Record<string, string | number | boolean>>;

export class OperatingError extends Error {
  override readonly name = "OperatingError";
  readonly code: ErrorCode;
  readonly details: ErrorDetails | undefined;
  /** Whether a retry may succeed: that of the code, unless the cause of this error is one that no retry mends. */
  readonly retryable: boolean;

  constructor(
    code: ErrorCode,
    message: string,
    options?: { details?: ErrorDetails; cause?: unknown; retryable?: false },
  ) {
    super(message, { cause: options?.cause });
    this.code = code;
    this.details = options?.details;
    this.retryable = options?.retryable ?? ERROR_CODES[code].retryable;
  }
}

/** Converts an operating error to the wire's error object. `dead` settlements pass `retryable: false`. */
export function toErrorObject(error: OperatingError, retryable = error.retryable): ErrorObject {
  return {
    code: error.code,
    message: error.message,
    retryable,
    ...(error.details ? { details: { ...error.details } } : {}),
  };
}

/** Restores an operating error from a stored error object. */
export function fromErrorObject({ code, message, details }: ErrorObject): OperatingError {
  // CAST: toErrorObject wrote the details from ErrorDetails.
  return new OperatingError(code, message, { details: (details ?? {}) as ErrorDetails });
}

/** Converts any thrown value to an operating error. Others become INTERNAL, retryable, with their text only in the log. */
export function toOperatingError(thrown: unknown): OperatingError {
  if (thrown instanceof OperatingError) return thrown;
  return new OperatingError("INTERNAL", "Something went wrong on our side.", { cause: thrown });
}
