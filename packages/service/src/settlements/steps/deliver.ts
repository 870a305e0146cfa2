/**
 * Completes a settlement once our own reader finds the promised value at the destination wallet. At completion the
 * source balance is read again: a remainder above the minimums starts the next settlement in the same transaction, so
 * nothing is stranded.
 */
import type { DepositAddress } from "../../addresses/index.ts";
import { assert } from "../../core/assert.ts";
import { isSweeping } from "../lifecycle.ts";
import { OperatingError } from "../../core/errors.ts";
import type { TxHash } from "../../core/hex.ts";
import { assignUnsettled, gateBalance, releaseDeposits, sumOpen } from "../../deposits/index.ts";
import type { Tx } from "../../db/schema.ts";
import { SENT_POLL_MS } from "../../jobs/delays.ts";
import { getByIntent } from "../../transactions/index.ts";
import { chainOf, type SettlementDeps } from "../deps.ts";
import { fail, failIn, giveUp } from "../fail.ts";
import { forgetSweep, isMoved } from "../store/sweep.ts";
import { dueSettlements, lookAgain, retryNow } from "../store/due.ts";
import { changeTogether } from "../store/together.ts";
import { insertSettlement, transition } from "../store/transition.ts";
import { lockHolding, lockSettlement } from "../store/read.ts";
import type { Settlement } from "../types.ts";
import { ConcurrentChange, type StepResult } from "../step.ts";
import { usedRoute } from "../choose-route.ts";

/** Polls the delivery of a recorded sweep: completes, restarts, ends or fails the settlement, or waits. */
export async function stepDeliver(
  deps: SettlementDeps,
  settlement: Settlement,
  address: DepositAddress,
): Promise<StepResult> {
  const { sweptAmount, minOut, sweptLogIndex, swapTxHash: txHash } = settlement;
  assert(
    sweptAmount !== null && minOut !== null && sweptLogIndex !== null && txHash !== null,
    "the delivery step has a recorded sweep",
  );
  const route = usedRoute(deps, settlement, address);
  const sweepSent = await getByIntent(deps.db, `sweep:${settlement.id}:${settlement.sweepsSent}`);
  if (!sweepSent?.mined) return "wait";
  if (isMoved(settlement, sweepSent.mined)) {
    // It may have reverted there, too.
    await deps.db.transaction().execute((tx) => forgetSweep(tx, settlement));
    return "again";
  }
  const source = await chainOf(deps, settlement).getReceipt(txHash);
  // The lane has not seen yet that the block was replaced.
  if (source && isMoved(settlement, source)) return lookAgain(deps, settlement);
  const progress = await route.checkDelivery(
    {
      settlementId: settlement.id,
      address,
      sweep: {
        amount: sweptAmount,
        minOut,
        logIndex: sweptLogIndex,
        deliveryId: settlement.deliveryId,
      },
    },
    source,
  );
  switch (progress.kind) {
    case "delivered":
      await complete(deps, settlement, { ...progress, swapTxHash: txHash });
      return "wait";
    case "returned":
      await restartSweep(deps, settlement, progress.error);
      return "wait";
    case "taken_back":
      await giveUp(
        deps,
        settlement,
        new OperatingError("INSUFFICIENT_BALANCE", "The refund authority took the deposit back.", {
          details: { reason: "refunded" },
        }),
      );
      return "wait";
    case "failing":
      if (isSweeping(settlement.status) || isRetryDue(deps, settlement)) {
        await fail(deps, settlement, progress.error);
      }
      return "wait";
    case "waiting":
      if (!isSweeping(settlement.status)) await resume(deps, settlement);
      // The confirmations of a sweep that delivers wake nothing.
      return source === null || route.deliversBySweep ? lookAgain(deps, settlement) : "wait";
  }
}

/** Restarts the sweep of a settlement whose value was returned to the wallet; counts as a failure. */
async function restartSweep(
  deps: SettlementDeps,
  settlement: Settlement,
  error: OperatingError,
): Promise<void> {
  await deps.db.transaction().execute(async (tx) => {
    await lockHolding(tx, settlement);
    if (!(await forgetSweep(tx, settlement))) throw new ConcurrentChange();
    const forgotten = await lockSettlement(tx, settlement.id);
    if (!(await failIn(tx, deps, forgotten, error, { plannedAmount: null }))) {
      throw new ConcurrentChange();
    }
    // The value waited in escrow long enough: no further delay.
    await retryNow(tx, settlement.id, deps.clock.now());
  });
  deps.wakeEvents(settlement.integratorId);
  deps.wakeSettlements(settlement.chainId);
}

async function complete(
  deps: SettlementDeps,
  settlement: Settlement,
  delivered: { readonly txHash: TxHash; readonly amount: bigint; readonly swapTxHash: TxHash },
): Promise<void> {
  const chain = chainOf(deps, settlement);
  // Read before the transaction: a deposit that is promised a successor meanwhile changes the version, so the
  // transition below fails and is repeated with a newer balance. A failing token contract must not prevent the
  // completion of a delivered settlement.
  const remaining = (await chain.findBalance(settlement.token, settlement.wallet)) ?? 0n;
  const minimums = await deps.readMinimums(settlement.chainId, settlement.token);
  const gate = gateBalance(remaining, minimums);
  await changeTogether(deps.db, settlement, async (tx) => {
    const moved = await transition(tx, deps, settlement, {
      trigger: "delivered",
      txHash: delivered.swapTxHash,
      change: {
        step: "done",
        plannedAmount: null,
        deliveryTxHash: delivered.txHash,
        deliveredAmount: delivered.amount,
        retryAtMs: null,
        nextCheckAtMs: null,
      },
    });
    if (!moved) throw new ConcurrentChange();
    // A node that lags still shows the swept balance: only what deposits brought and the sweep left has a successor.
    const swept = settlement.sweptAmount ?? 0n;
    if (gate.kind === "ignore" || (await sumOpen(tx, settlement, settlement.id)) <= swept) return;
    const successor = await insertSettlement(tx, deps, {
      chainId: settlement.chainId,
      wallet: settlement.wallet,
      token: settlement.token,
      integratorId: settlement.integratorId,
      addressId: settlement.addressId,
      walletDeployed: chain.wallets.kind === "contract" ? true : null,
      amount: remaining,
    });
    await assignUnsettled(tx, settlement, successor);
  });
  deps.wakeEvents(settlement.integratorId);
  deps.wakeSettlements(settlement.chainId);
}

/**
 * Handles a lock that ended undelivered, in the transaction that records its end. An active settlement is polled at
 * once. A completed one, whose delivery was orphaned too late to be repeated, releases its deposits, and the re-check
 * settles the value that is back in the wallet.
 */
export async function recordUndeliveredLock(
  tx: Tx,
  args: { readonly settlementId: string; readonly nowMs: number },
): Promise<void> {
  const { settlementId, nowMs } = args;
  const settlement = await lockSettlement(tx, settlementId);
  if (settlement.status === "completed") return releaseDeposits(tx, settlementId, nowMs);
  await dueSettlements.wake(tx, "id", [settlementId], nowMs);
}

/** Clears the error of a delivery that continues. */
async function resume(deps: SettlementDeps, settlement: Settlement): Promise<void> {
  await deps.db.transaction().execute((tx) =>
    transition(tx, deps, settlement, {
      trigger: "sweep_planned",
      change: { retryAtMs: null, nextCheckAtMs: deps.clock.now() + SENT_POLL_MS },
    }),
  );
  deps.wakeEvents(settlement.integratorId);
}

function isRetryDue(deps: SettlementDeps, settlement: Settlement): boolean {
  return settlement.retryAtMs === null || deps.clock.now() >= settlement.retryAtMs;
}
