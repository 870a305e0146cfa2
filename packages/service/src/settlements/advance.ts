/**
 * The settlement worker: looks at what is due and takes each settlement as far as it goes now. A look authorises
 * nothing by itself: what it may do is in the row, and every write is a compare-and-set on it, so two looks at once,
 * or a look after a crash, do no harm.
 */
import { getAddressById } from "../addresses/index.ts";
import { assert, assertNever } from "../core/assert.ts";
import { isSweeping } from "./lifecycle.ts";
import { toOperatingError } from "../core/errors.ts";
import { isTransientDatabaseError } from "../db/transient-errors.ts";
import { LEASE_MS } from "../jobs/delays.ts";
import { workOnDue } from "../jobs/due.ts";
import type { SettlementDeps } from "./deps.ts";
import { fail } from "./fail.ts";
import { ConcurrentChange, type StepResult } from "./step.ts";
import { stepDeploy } from "./steps/deploy.ts";
import { stepDeliver } from "./steps/deliver.ts";
import { stepSweep } from "./steps/sweep.ts";
import { dueSettlements } from "./store/due.ts";
import { getSettlement } from "./store/read.ts";
import type { Settlement } from "./types.ts";

const BATCH_SIZE = 20;
/** Steps of one look; a settlement that wants more is looked at again. */
const STEPS_MAX = 8;

/**
 * Looks at every settlement of a source chain that is due. Returns true when there may be more. Chains are looked at
 * apart, so that one whose node hangs does not slow the others.
 */
export function pollDueSettlements(deps: SettlementDeps, chainId: number): Promise<boolean> {
  return workOnDue(deps, {
    rows: dueSettlements,
    chainId,
    leaseMs: LEASE_MS.settlement,
    limit: BATCH_SIZE,
    work: (id) => advance(deps, id),
  });
}

/** Takes one settlement as far as it goes now. Never throws for its own troubles: they are its status. */
export async function advance(deps: SettlementDeps, id: string): Promise<void> {
  for (let looks = 0; looks < STEPS_MAX; looks++) {
    const settlement = await getSettlement(deps.db, id);
    assert(settlement !== null, "a settlement that was due is there");
    if (settlement.step === "done") return;
    const tooEarlyMs = waitBeforeRetry(deps, settlement);
    if (tooEarlyMs !== null) return dueSettlements.reschedule(deps.db, id, tooEarlyMs);
    if ((await stepSafely(deps, settlement)) === "wait") break;
  }
}

async function stepSafely(deps: SettlementDeps, settlement: Settlement): Promise<StepResult> {
  try {
    // Put off first: the step itself may set a later or an earlier time, and it wins.
    await dueSettlements.reschedule(deps.db, settlement.id, deps.clock.now() + deps.pollMs);
    const address = await getAddressById(deps.db, settlement.addressId);
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
      // It says nothing about the settlement, and whether a commit went through is in the row.
      deps.log.error({ err: thrown, settlementId: settlement.id }, "the database did not answer");
      return "wait";
    }
    return recordFailure(deps, settlement, thrown);
  }
}

/**
 * A step that could not be taken becomes the settlement's status, unless it was only waiting for something already
 * sent: then a node that did not answer says nothing about it.
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
    deps.log.warn(facts, "could not look at what was sent, will look again");
    return "wait";
  }
  deps.log.warn(facts, "a step failed or was deferred");
  await fail(deps, settlement, error);
  return "wait";
}

/** When a failing settlement is looked at before its time, the time it is to be looked at; null to go on. */
function waitBeforeRetry(deps: SettlementDeps, settlement: Settlement): number | null {
  if (settlement.retryAtMs === null || settlement.step === "deliver") return null;
  return deps.clock.now() < settlement.retryAtMs ? settlement.retryAtMs : null;
}
