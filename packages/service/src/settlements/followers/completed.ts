/**
 * A settlement may be `completed` before its sweep is final, where the sweep itself delivers. It stays `completed`; but
 * which deposits it took is settled for good here, and deposits of a sweep that in the end took nothing are looked at
 * again.
 */
import { assignSwept, releaseDeposits } from "../../deposits/index.ts";
import { getAddressById } from "../../addresses/index.ts";
import { getByIntent, type MinedFacts } from "../../transactions/index.ts";
import { chainOf, type SettlementDeps } from "../deps.ts";
import { SETTLEMENT_CONDITIONS } from "../store/deposits.ts";
import { listToFollow } from "../store/due.ts";
import { lockHolding } from "../store/read.ts";
import { recordFinalSweep } from "../store/sweep.ts";
import type { Settlement } from "../types.ts";
import { RECHECK_MS } from "../../jobs/delays.ts";
import { usedRoute } from "../choose-route.ts";

const SETTLEMENTS_AT_ONCE = 100;

/** Follows completed settlements until their sweeps are final. */
export async function followCompleted(deps: SettlementDeps): Promise<void> {
  for (const settlement of await listToFollow(deps.db, SETTLEMENTS_AT_ONCE)) {
    const intent = `sweep:${settlement.id}:${settlement.sweepsSent}` as const;
    const sent = await getByIntent(deps.db, intent);
    if (sent?.state !== "final" || !sent.mined) continue;
    try {
      await recordFinality(deps, settlement, sent.mined);
    } catch (error) {
      deps.log.warn({ err: error, settlementId: settlement.id }, "a final sweep could not be read");
    }
  }
}

async function recordFinality(
  deps: SettlementDeps,
  settlement: Settlement,
  mined: MinedFacts,
): Promise<void> {
  if (!mined.succeeded) {
    deps.log.error(
      { settlementId: settlement.id, txHash: mined.txHash },
      "a completed settlement was undone by a reorganisation; its deposits are settled anew",
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
  const sweep = receipt && (await route.readSweep(receipt, address));
  if (!receipt || !sweep) return;
  const { txHash, blockNumber: block } = receipt;
  // In another block than the settlement was completed by it may have taken something else. What it then sent on its way
  // is the route's to follow, whatever arrived already.
  const isMoved = block !== settlement.sweptBlock;
  const progress =
    isMoved && route.deliversBySweep
      ? await route.checkDelivery({ settlementId: settlement.id, address, sweep }, receipt)
      : null;
  if (progress && progress.kind !== "delivered") return;
  const fee = settlement.fee ?? deps.fees.planWithout(address.commitment.maxFeeBps);
  await deps.db.transaction().execute(async (tx) => {
    await lockHolding(tx, settlement);
    await assignSwept(tx, SETTLEMENT_CONDITIONS, settlement, {
      settlementId: settlement.id,
      block,
      logIndex: sweep.logIndex,
      upTo: sweep.upTo,
      recheckAtMs: deps.clock.now() + RECHECK_MS,
    });
    const done = isMoved ? { sweep, deliveredAmount: progress?.amount } : null;
    if (done) {
      await route.recordSweep(tx, { settlementId: settlement.id, address, sweep, fee, receipt });
    }
    await recordFinalSweep(tx, settlement, { txHash, block, logIndex: sweep.logIndex, done });
  });
}
