/**
 * The settlement worker: polls due settlements and advances each as far as it can go now. A poll carries no authority:
 * the row decides the next step, and every write is a compare-and-set on it, so concurrent polls, or a poll after a
 * crash, are harmless.
 */
import { assert, assertNever } from "../core/assert.ts";
import { isSweeping } from "./lifecycle.ts";
import { toOperatingError } from "../core/errors.ts";
import { isTransientDatabaseError } from "../db/transient-errors.ts";
import { followDelay, SENT_POLL_MS } from "../jobs/delays.ts";
import { createDuePoll } from "../jobs/due.ts";
import { failSpan, inSpan } from "../telemetry/spans.ts";
import type { SettlementDeps } from "./deps.ts";
import { fail } from "./fail.ts";
import { hasValueInFlight } from "./in-flight.ts";
import { ConcurrentChange, type StepResult } from "./step.ts";
import { stepDeploy } from "./steps/deploy.ts";
import { stepDeliver } from "./steps/deliver.ts";
import { stepSweep } from "./steps/sweep.ts";
import { dueSettlements } from "./store/due.ts";
import { getSettlement } from "./store/read.ts";
import type { Settlement } from "./types.ts";

const BATCH_SIZE = 60;
/** Steps per settlement and poll; the next poll continues. */
const STEPS_MAX = 8;

/**
 * Creates the poll that advances the due settlements of a source chain. It returns true when there may be more. Each chain is
 * polled by itself, so that a hanging node does not slow the others.
 */
export function createSettlementsPoll(
  deps: SettlementDeps,
  chainId: number,
): () => Promise<boolean> {
  return createDuePoll(deps, {
    rows: dueSettlements,
    chainId,
    limit: BATCH_SIZE,
    work: (id) => inSpan("settlement", { settlementId: id, chainId }, () => advance(deps, id)),
  });
}

/** Advances one settlement as far as it can go now. Its own errors become its status and are not thrown. */
export async function advance(deps: SettlementDeps, id: string): Promise<void> {
  for (let steps = 1; ; steps += 1) {
    const settlement = await getSettlement(deps.db, id);
    assert(settlement !== null, "a due settlement exists");
    if (settlement.step === "done") return;
    const nowMs = deps.clock.now();
    const retryAtMs = findPendingRetry(deps, settlement);
    if (retryAtMs === null && (await stepSafely(deps, settlement)) === "again") {
      if (steps < STEPS_MAX) continue;
    }
    // The step may have set another time, and that one wins.
    const atMs = retryAtMs ?? nowMs + pollDelay(deps, settlement, nowMs);
    const times = { atMs, seen: settlement.nextCheckAt };
    return dueSettlements.rescheduleUnlessChanged(deps.db, id, times);
  }
}

/** Returns the delay until the next poll of a settlement whose step waits, in milliseconds. */
function pollDelay({ pollMs }: SettlementDeps, settlement: Settlement, nowMs: number): number {
  const leastMs = hasValueInFlight(settlement) ? SENT_POLL_MS : pollMs;
  return Math.max(leastMs, followDelay(nowMs - settlement.updatedAtMs));
}

async function stepSafely(deps: SettlementDeps, settlement: Settlement): Promise<StepResult> {
  try {
    const address = await deps.readAddress(settlement.addressId);
    switch (settlement.step) {
      case "deploy":
        return await stepDeploy(deps, settlement, address);
      case "sweep":
        return await stepSweep(deps, settlement, address);
      case "deliver":
        return await stepDeliver(deps, settlement, address);
      case "done":
        return "wait";
      default:
        return assertNever(settlement.step);
    }
  } catch (thrown) {
    if (thrown instanceof ConcurrentChange) return "again";
    if (isTransientDatabaseError(thrown)) {
      // No statement about the settlement: the next poll reads from the row whether the commit succeeded.
      deps.log.error(
        { err: thrown, settlementId: settlement.id },
        "database unavailable, retrying",
      );
      return "wait";
    }
    return recordFailure(deps, settlement, thrown);
  }
}

/**
 * Records the error of a step as the settlement's status. While a sent transaction is awaited, the error is only logged:
 * a node that does not answer proves nothing about that transaction.
 */
async function recordFailure(
  deps: SettlementDeps,
  settlement: Settlement,
  thrown: unknown,
): Promise<StepResult> {
  const error = toOperatingError(thrown);
  const facts = { err: thrown, settlementId: settlement.id, code: error.code };
  const waiting = settlement.status === "deploying" || isSweeping(settlement.status);
  if (waiting) {
    deps.log.warn(facts, "transaction not readable, retrying");
    return "wait";
  }
  deps.log.warn(facts, "settlement step failed");
  failSpan(`${error.code}: ${error.message}`);
  await fail(deps, settlement, error);
  return "wait";
}

/** Returns the time of the next retry while it is in the future; null when the step may run. */
function findPendingRetry(deps: SettlementDeps, settlement: Settlement): number | null {
  if (settlement.retryAtMs === null || settlement.step === "deliver") return null;
  return deps.clock.now() < settlement.retryAtMs ? settlement.retryAtMs : null;
}
