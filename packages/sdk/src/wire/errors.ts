/**
 * The error object and its codes. Codes are a stable enum: never removed, never reused. Clients branch on `code`;
 * `message` may be reworded.
 */
import { Type, type Static } from "typebox";
import { oneOf } from "./fields.ts";

/** Every error code, in the order of the published table. */
export const ERROR_CODE_NAMES = [
  "VALIDATION_ERROR",
  "UNAUTHORIZED",
  "FORBIDDEN",
  "UNSUPPORTED_CHAIN",
  "RESOLVE_FAILED",
  "NOT_CONFIGURED",
  "NOT_FOUND",
  "INSUFFICIENT_BALANCE",
  "AMOUNT_TOO_SMALL",
  "FEE_NOT_COVERED",
  "NO_ROUTE",
  "QUOTE_INVALID",
  "UNSUPPORTED_ROUTE",
  "UNSUPPORTED_DEST",
  "TX_REVERTED",
  "SIMULATION_REVERTED",
  "RPC_UNAVAILABLE",
  "PRICE_UNAVAILABLE",
  "REORG",
  "CONFIG_MISSING",
  "INTERNAL",
] as const;

/** One of the error codes. */
export type ErrorCode = (typeof ERROR_CODE_NAMES)[number];

/** Properties of an error code. */
export interface ErrorCodeFacts {
  /** Whether a retry may succeed. The error of a dead settlement is never retryable, whatever its code. */
  readonly retryable: boolean;
  /** HTTP status of a response with this code; absent for codes that occur only on settlements. */
  readonly httpStatus?: number;
}

/**
 * The table of codes. Exceptions to `httpStatus`: 405, 413 and 415 keep their status with `VALIDATION_ERROR`, and a
 * rate limit is 429 with `RPC_UNAVAILABLE`.
 */
export const ERROR_CODES: Readonly<Record<ErrorCode, ErrorCodeFacts>> = {
  VALIDATION_ERROR: { retryable: false, httpStatus: 400 },
  UNAUTHORIZED: { retryable: false, httpStatus: 401 },
  FORBIDDEN: { retryable: false, httpStatus: 403 },
  UNSUPPORTED_CHAIN: { retryable: false, httpStatus: 400 },
  RESOLVE_FAILED: { retryable: true, httpStatus: 502 },
  NOT_CONFIGURED: { retryable: false, httpStatus: 501 },
  NOT_FOUND: { retryable: false, httpStatus: 404 },
  INSUFFICIENT_BALANCE: { retryable: true },
  AMOUNT_TOO_SMALL: { retryable: true, httpStatus: 422 },
  FEE_NOT_COVERED: { retryable: true, httpStatus: 422 },
  NO_ROUTE: { retryable: true, httpStatus: 422 },
  QUOTE_INVALID: { retryable: true },
  UNSUPPORTED_ROUTE: { retryable: false, httpStatus: 422 },
  UNSUPPORTED_DEST: { retryable: false, httpStatus: 422 },
  TX_REVERTED: { retryable: true },
  SIMULATION_REVERTED: { retryable: true },
  RPC_UNAVAILABLE: { retryable: true, httpStatus: 503 },
  PRICE_UNAVAILABLE: { retryable: true, httpStatus: 503 },
  REORG: { retryable: true },
  CONFIG_MISSING: { retryable: true, httpStatus: 503 },
  INTERNAL: { retryable: true, httpStatus: 500 },
};

/** The error object, the same in responses, on swaps and in events. */
export const ErrorObject = Type.Object(
  {
    code: oneOf(ERROR_CODE_NAMES, "Stable code to branch on"),
    message: Type.String({ description: "Text for people, safe to show; may be reworded" }),
    retryable: Type.Boolean({
      description: "Whether a retry may succeed; always false on a dead swap",
    }),
    details: Type.Optional(
      Type.Record(Type.String(), Type.Union([Type.String(), Type.Number(), Type.Boolean()]), {
        description: "Context without secrets: numbers, ids, thresholds, a short reason",
      }),
    ),
  },
  { $id: "ErrorObject", description: "An error" },
);
/** An error object. */
export type ErrorObject = Static<typeof ErrorObject>;

/** The body of every error response. */
export const ErrorResponse = Type.Object(
  { error: ErrorObject },
  { $id: "ErrorResponse", description: "The body of every error response" },
);
/** The body of every error response. */
export type ErrorResponse = Static<typeof ErrorResponse>;
