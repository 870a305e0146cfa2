/**
 * The settlement worker: polls due settlements and advances each as far as it can go now. A poll carries no authority:
 * the row decides the next step, and every write is a compare-and-set on it, so concurrent polls, or a poll after a
 * crash, are harmless.
 */
import { assert, assertNever } from "../core/assert.ts";
import { isSweeping } from "./lifecycle.ts";
import { toOperatingError } from "../core/errors.ts";
import { isTransientDatabaseError } from "../db/transient-errors.ts";
import { followDelay, LEASE_MS, SENT_POLL_MS } from "../jobs/delays.ts";
import { createResumingPoll, workOnDue } from "../jobs/due.ts";
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
 * Advances the due settlements of a source chain. Returns true when there may be more. Each chain is polled by itself,
 * so that a hanging node does not slow the others.
 */
export function pollDueSettlements(deps: SettlementDeps, chainId: number): Promise<boolean> {
  return workOnDue(deps, {
    rows: dueSettlements,
    chainId,
    leaseMs: LEASE_MS.settlement,
    limit: BATCH_SIZE,
    work: (id) => inSpan("settlement", { settlementId: id, chainId }, () => advance(deps, id)),
  });
}

/** Creates the poll of a source chain's due settlements. Its first poll takes up those of a process that ended. */
export function createSettlementsPoll(
  deps: SettlementDeps,
  chainId: number,
): () => Promise<boolean> {
  return createResumingPoll(deps, {
    rows: dueSettlements,
    chainId,
    leaseMs: LEASE_MS.settlement,
    poll: () => pollDueSettlements(deps, chainId),
  });
}

/** Advances one settlement as far as it can go now. Its own errors become its status and are not thrown. */
export async function advance(deps: SettlementDeps, id: string): Promise<void> {
  for (let steps = 0; steps < STEPS_MAX; steps++) {
    const settlement = await getSettlement(deps.db, id);
    assert(settlement !== null, "a due settlement exists");
    if (settlement.step === "done") return;
    const retryAtMs = findPendingRetry(deps, settlement);
    if (retryAtMs !== null) return dueSettlements.reschedule(deps.db, id, retryAtMs);
    if ((await stepSafely(deps, settlement)) === "wait") break;
  }
}

async function stepSafely(deps: SettlementDeps, settlement: Settlement): Promise<StepResult> {
  try {
    // Reschedules before the step: the step may set another time, and that one must win.
    const nowMs = deps.clock.now();
    const leastMs = hasValueInFlight(settlement) ? SENT_POLL_MS : deps.pollMs;
    const delayMs = Math.max(leastMs, followDelay(nowMs - settlement.updatedAtMs));
    await dueSettlements.reschedule(deps.db, settlement.id, nowMs + delayMs);
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
