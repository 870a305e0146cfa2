/** Names the reasons for which callers are refused, for a metric: never by key or address, of which there are any number. */
import { OperatingError } from "../core/errors.ts";
import { QuotaExceeded } from "../integrators/index.ts";
import { TooManyAtOnce } from "./at-once.ts";
import { Overloaded } from "./capacity.ts";
import { IdempotencyRefused } from "./idempotency.ts";
import { LIMIT_NAMES, RateLimited } from "./rate-limits.ts";

export const REFUSALS = [
  ...LIMIT_NAMES,
  "at_once",
  "overloaded",
  "quota",
  "no_key",
  "wrong_key",
  "scope",
  "address",
  "sockets",
  "connections",
  "busy_client",
  "slow_client",
] as const;
export type Refusal = (typeof REFUSALS)[number];

/** Counts a refused caller. */
export type OnRefused = (reason: Refusal) => void;

/** Returns the reason for which an error refuses a caller; null for an error of another kind. */
export function refusalOf(error: unknown): Refusal | null {
  if (error instanceof RateLimited) return error.limit;
  if (error instanceof TooManyAtOnce) return "at_once";
  if (error instanceof Overloaded) return "overloaded";
  if (error instanceof QuotaExceeded) return "quota";
  if (error instanceof IdempotencyRefused) return error.httpStatus === 429 ? "quota" : null;
  if (!(error instanceof OperatingError)) return null;
  if (error.details?.["reason"] === TOO_MANY_SOCKETS) return "sockets";
  if (error.code === "UNAUTHORIZED") return "no_key";
  if (error.code !== "FORBIDDEN") return null;
  const reason = error.details?.["reason"];
  return reason === "scope" || reason === "address" ? reason : "wrong_key";
}

/** The reason in the error of a socket above a cap. */
export const TOO_MANY_SOCKETS = "too_many_sockets";
