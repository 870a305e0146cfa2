/**
 * Follows completed settlements whose sweep is not final yet, which happens where the sweep itself delivers. The status
 * stays `completed`. Once the sweep is final, its deposits are assigned by its final position; a sweep that finally
 * reverted releases them to the next settlement.
 */
import {
  assignBySweeps,
  assignSwept,
  findEndOfPart,
  releaseDeposits,
} from "../../deposits/index.ts";
import { hasPlannedEnd, withUpTo } from "../part.ts";
import { getAddressById } from "../../addresses/index.ts";
import { getByIntent, type MinedFacts } from "../../transactions/index.ts";
import { chainOf, type SettlementDeps } from "../deps.ts";
import { SETTLEMENT_CONDITIONS } from "../store/deposits.ts";
import { followAgain, listToFollow } from "../store/due.ts";
import { lockHolding } from "../store/read.ts";
import { isMoved, recordFinalSweep } from "../store/sweep.ts";
import type { Settlement } from "../types.ts";
import { FOLLOW_COMPLETED_MIN_MS, followDelay, RECHECK_MS } from "../../jobs/delays.ts";
import { usedRoute } from "../choose-route.ts";

const SETTLEMENTS_AT_ONCE = 100;

/**
 * Polls due completed settlements of a source chain until their sweeps are final. Returns true when there may be more. An
 * error affects one settlement only.
 */
export async function followCompleted(deps: SettlementDeps, chainId: number): Promise<boolean> {
  const nowMs = deps.clock.now();
  const due = await listToFollow(deps.db, { chainId, nowMs, limit: SETTLEMENTS_AT_ONCE });
  for (const settlement of due) {
    const delayMs = Math.max(FOLLOW_COMPLETED_MIN_MS, followDelay(nowMs - settlement.updatedAtMs));
    await followAgain(deps.db, settlement.id, nowMs + delayMs);
    const intent = `sweep:${settlement.id}:${settlement.sweepsSent}` as const;
    const sent = await getByIntent(deps.db, intent);
    if (sent?.state !== "final" || !sent.mined) continue;
    try {
      await recordFinality(deps, settlement, sent.mined);
    } catch (error) {
      deps.log.warn(
        { err: error, settlementId: settlement.id },
        "final sweep not readable, retrying",
      );
    }
  }
  return due.length === SETTLEMENTS_AT_ONCE;
}

async function recordFinality(
  deps: SettlementDeps,
  settlement: Settlement,
  mined: MinedFacts,
): Promise<void> {
  if (!mined.succeeded) {
    deps.log.error(
      { settlementId: settlement.id, txHash: mined.txHash },
      "reorg: completed settlement undone, releasing its deposits",
    );
    await deps.db.transaction().execute(async (tx) => {
      await lockHolding(tx, settlement);
      await releaseDeposits(tx, settlement.id, deps.clock.now());
      await recordFinalSweep(tx, settlement, null);
    });
    return;
  }
  const receipt = await chainOf(deps, settlement).getReceipt(mined.txHash);
  const address = await getAddressById(deps.db, settlement.addressId);
  const route = usedRoute(deps, settlement, address);
  const swept = receipt && (await route.readSweep(receipt, address));
  const sweep = withUpTo(settlement, swept);
  if (!receipt || !swept || !sweep) return;
  const hasMoved = isMoved(settlement, receipt);
  // Where the sweep is the delivery, the route looks it up in the final receipt.
  const progress =
    hasMoved && route.deliversBySweep
      ? await route.checkDelivery({ settlementId: settlement.id, address, sweep }, receipt)
      : null;
  if (progress && progress.kind !== "delivered") return;
  const fee = settlement.fee ?? deps.fees.planWithout(address.commitment.maxFeeBps);
  const position = { block: receipt.blockNumber, logIndex: sweep.logIndex };
  const isPart = hasPlannedEnd(settlement, swept);
  await deps.db.transaction().execute(async (tx) => {
    await lockHolding(tx, settlement);
    const upTo = isPart ? await findEndOfPart(tx, settlement, position) : sweep.upTo;
    // The scanner is behind.
    if (upTo === null) return;
    await assignSwept(tx, SETTLEMENT_CONDITIONS, settlement, {
      settlementId: settlement.id,
      ...position,
      upTo,
      recheckAtMs: deps.clock.now() + RECHECK_MS,
    });
    const done = hasMoved ? { sweep, delivered: progress } : null;
    if (done) {
      await route.recordSweep(tx, { settlementId: settlement.id, address, sweep, fee, receipt });
    }
    await recordFinalSweep(tx, settlement, { receipt, logIndex: sweep.logIndex, upTo, done });
    // Mined again in a later block, or as a part below whose end deposits moved, it also took some that a later settlement holds.
    if (hasMoved || isPart) {
      const recheckAtMs = deps.clock.now() + RECHECK_MS;
      await assignBySweeps(tx, SETTLEMENT_CONDITIONS, settlement, recheckAtMs);
    }
  });
}
