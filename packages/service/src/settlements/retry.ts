import type { ErrorCode } from "@sluice/sdk/wire";
import { ERROR_CODES } from "@sluice/sdk/wire";
import { RETRY_SCHEDULE_MS } from "../jobs/delays.ts";

/** Tries after which a settlement is `dead`. */
export const TRIES_MAX = 7;

/**
 * Causes outside the settlement: nothing was attempted, so no try is used up and the settlement waits without limit.
 * Other retryable codes use up a try; codes that are not retryable make the settlement `dead` at once.
 */
const DEFERRALS: ReadonlySet<ErrorCode> = new Set([
  "INSUFFICIENT_BALANCE",
  "RPC_UNAVAILABLE",
  "PRICE_UNAVAILABLE",
  "CONFIG_MISSING",
  "NO_ROUTE",
  "FEE_NOT_COVERED",
  "AMOUNT_TOO_SMALL",
  "REORG",
]);

export type Verdict =
  | {
      readonly kind: "retry";
      /** True when nothing was attempted and nothing is in flight. */
      readonly deferred: boolean;
      readonly retryCount: number;
      readonly triesUsed: number;
      readonly delayMs: number;
    }
  | { readonly kind: "give_up"; readonly retryCount: number; readonly triesUsed: number };

/**
 * Decides between a retry and giving up. `retryCount` counts every re-check, `triesUsed` only attempted steps. A
 * settlement with value in flight is never given up: it is retried, in the end every 15 minutes, until its value is
 * delivered, returned or taken back. One that an operator holds is not retried: it is only polled until that ends.
 */
export function judgeFailure(failure: {
  readonly code: ErrorCode;
  readonly retryCount: number;
  readonly triesUsed: number;
  readonly valueInFlight: boolean;
  /** Whether an operator's pause or screening holds the settlement. */
  readonly isHeld?: boolean;
  readonly scheduleMs?: readonly number[];
}): Verdict {
  const schedule = failure.scheduleMs ?? RETRY_SCHEDULE_MS;
  const delayMs = schedule[Math.min(failure.retryCount, schedule.length - 1)] ?? 0;
  const retryCount = failure.retryCount + 1;
  const { valueInFlight, triesUsed: used } = failure;
  if (failure.isHeld && !valueInFlight) {
    const longestMs = schedule.at(-1) ?? 0;
    const { retryCount: unchanged } = failure;
    return {
      kind: "retry",
      deferred: true,
      retryCount: unchanged,
      triesUsed: used,
      delayMs: longestMs,
    };
  }
  if (valueInFlight || DEFERRALS.has(failure.code)) {
    const deferred = !valueInFlight;
    return { kind: "retry", deferred, retryCount, triesUsed: used, delayMs };
  }
  const triesUsed = used + 1;
  if (!ERROR_CODES[failure.code].retryable || triesUsed >= TRIES_MAX) {
    return { kind: "give_up", retryCount, triesUsed };
  }
  return { kind: "retry", deferred: false, retryCount, triesUsed, delayMs };
}
