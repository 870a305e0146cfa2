import type { OperatingError } from "../core/errors.ts";
import type { Tx } from "../db/schema.ts";
import type { SettlementDeps } from "./deps.ts";
import { hasValueInFlight } from "./in-flight.ts";
import { PAUSED } from "./operator/pauses.ts";
import { judgeFailure } from "./retry.ts";
import { SCREENING_PENDING, SCREENING_REFUSED } from "./screening/rows.ts";
import type { Change } from "./store/row.ts";
import { transition } from "./store/transition.ts";
import type { Settlement, SettlementError } from "./types.ts";

/** Reasons that only an operator or the screening ends; the settlement is due soon after. */
const HELD: ReadonlySet<string> = new Set([PAUSED, SCREENING_PENDING, SCREENING_REFUSED]);

/**
 * Records in the caller's transaction that a step failed or was deferred: the settlement is retried on the schedule, or
 * given up when no try is left and nothing is in flight. Returns false when the settlement was changed concurrently.
 */
export async function failIn(
  tx: Tx,
  deps: SettlementDeps,
  settlement: Settlement,
  error: OperatingError,
  change: Change = {},
): Promise<boolean> {
  const verdict = judgeFailure({
    code: error.code,
    retryCount: settlement.retryCount,
    triesUsed: settlement.triesUsed,
    valueInFlight: hasValueInFlight({
      step: change.step ?? settlement.step,
      plannedAmount:
        change.plannedAmount === undefined ? settlement.plannedAmount : change.plannedAmount,
    }),
    isHeld: HELD.has(String(error.details?.reason)),
    ...(deps.retryScheduleMs ? { scheduleMs: deps.retryScheduleMs } : {}),
  });
  const shown = showError(error, verdict.kind === "retry" && error.retryable);
  const counts = { retryCount: verdict.retryCount, triesUsed: verdict.triesUsed };
  if (verdict.kind === "give_up") {
    return transition(tx, deps, settlement, {
      trigger: "given_up",
      error: shown,
      change: {
        ...change,
        ...counts,
        step: "done",
        retryAtMs: null,
        // Due at once: from here on the settlement is polled for a refund.
        nextCheckAtMs: deps.clock.now(),
      },
    });
  }
  const retryAtMs = deps.clock.now() + verdict.delayMs;
  return transition(tx, deps, settlement, {
    trigger: verdict.deferred ? "deferred" : "failed",
    error: shown,
    change: { ...change, ...counts, retryAtMs, nextCheckAtMs: retryAtMs },
  });
}

/** Ends a settlement that no retry can help: the wallet is empty at finality, and nothing is in flight. */
export async function giveUp(
  deps: SettlementDeps,
  settlement: Settlement,
  error: OperatingError,
): Promise<void> {
  const shown = showError(error, false);
  await deps.db.transaction().execute((tx) =>
    transition(tx, deps, settlement, {
      trigger: "given_up",
      error: shown,
      change: {
        step: "done",
        retryCount: settlement.retryCount + 1,
        retryAtMs: null,
        nextCheckAtMs: null,
      },
    }),
  );
  deps.wakeEvents(settlement.integratorId);
}

/** Records a failed or deferred step in a transaction of its own; see `failIn`. */
export async function fail(
  deps: SettlementDeps,
  settlement: Settlement,
  error: OperatingError,
  change: Change = {},
): Promise<void> {
  await deps.db.transaction().execute((tx) => failIn(tx, deps, settlement, error, change));
  deps.wakeEvents(settlement.integratorId);
}

function showError(
  { code, message, details }: OperatingError,
  retryable: boolean,
): SettlementError {
  return { code, message, retryable, ...(details ? { details } : {}) };
}
