/**
 * Waits until our own reader sees the promised value in the committed wallet, and completes. At completion the balance
 * is read again: what arrived meanwhile starts the next settlement in the same transaction, so nothing is stranded.
 */
import type { DepositAddress } from "../../addresses/index.ts";
import { assert } from "../../core/assert.ts";
import { isSweeping } from "../lifecycle.ts";
import { OperatingError } from "../../core/errors.ts";
import type { TxHash } from "../../core/hex.ts";
import { assignUnsettled, gateBalance, releaseDeposits } from "../../deposits/index.ts";
import type { Tx } from "../../db/schema.ts";
import { getByIntent } from "../../transactions/index.ts";
import { chainOf, type SettlementDeps } from "../deps.ts";
import { fail, failIn, giveUp } from "../fail.ts";
import { forgetSweep } from "../store/sweep.ts";
import { retryNow, dueSettlements } from "../store/due.ts";
import { insertSettlement, transition } from "../store/transition.ts";
import { lockHolding, lockSettlement } from "../store/read.ts";
import type { Settlement } from "../types.ts";
import { ConcurrentChange, type StepResult } from "../step.ts";
import { usedRoute } from "../choose-route.ts";

export async function stepDeliver(
  deps: SettlementDeps,
  settlement: Settlement,
  address: DepositAddress,
): Promise<StepResult> {
  const { sweptAmount, minOut, sweptLogIndex, swapTxHash } = settlement;
  assert(
    sweptAmount !== null && minOut !== null && sweptLogIndex !== null && swapTxHash !== null,
    "a settlement that delivers has its sweep",
  );
  const route = usedRoute(deps, settlement, address);
  const sweepSent = await getByIntent(deps.db, `sweep:${settlement.id}:${settlement.sweepsSent}`);
  if (!sweepSent?.mined) return "wait";
  const { txHash, blockNumber } = sweepSent.mined;
  if (txHash !== swapTxHash || blockNumber !== settlement.sweptBlock) {
    // Its block left the chain and it is in another now, where it may have taken something else, or nothing.
    await deps.db.transaction().execute((tx) => forgetSweep(tx, settlement));
    return "again";
  }
  const source = await chainOf(deps, settlement).getReceipt(txHash);
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
      await complete(deps, settlement, { ...progress, swapTxHash });
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
      return "wait";
  }
}

/** The value is back in the wallet: the settlement begins its sweep anew, as after any failure. */
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
    // The time of retries has passed in the escrow.
    await retryNow(tx, settlement.id, deps.clock.now());
  });
  deps.wakeEvents(settlement.integratorId);
}

async function complete(
  deps: SettlementDeps,
  settlement: Settlement,
  delivered: { readonly txHash: TxHash; readonly amount: bigint; readonly swapTxHash: TxHash },
): Promise<void> {
  const chain = chainOf(deps, settlement);
  // Read before the transaction: a deposit that is promised a successor meanwhile changes the version, and the
  // transition below then fails and is tried again with a newer balance.
  // A token whose contract fails meanwhile does not keep what was delivered from being completed.
  const remaining = (await chain.findBalance(settlement.token, settlement.wallet)) ?? 0n;
  const minimums = await deps.readMinimums(settlement.chainId, settlement.token);
  const gate = gateBalance(remaining, minimums);
  await deps.db.transaction().execute(async (tx) => {
    await lockHolding(tx, settlement);
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
    if (gate.kind === "ignore") return;
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
}

/**
 * Notes that a lock ended undelivered, in the transaction that records it. A settlement under way looks at once; one
 * that is completed already (its delivery left the chain too late to be made again) lets go of its deposits, and the
 * re-check settles what is back in the wallet.
 */
export async function recordUndeliveredLock(
  tx: Tx,
  args: { readonly settlementId: string; readonly nowMs: number },
): Promise<void> {
  const { settlementId, nowMs } = args;
  const settlement = await lockSettlement(tx, settlementId);
  if (settlement.status !== "completed") return dueSettlements.reschedule(tx, settlementId, nowMs);
  await releaseDeposits(tx, settlementId, nowMs);
}

/** The trouble is over: the delivery goes on. */
async function resume(deps: SettlementDeps, settlement: Settlement): Promise<void> {
  await deps.db.transaction().execute((tx) =>
    transition(tx, deps, settlement, {
      trigger: "sweep_planned",
      change: { retryAtMs: null, nextCheckAtMs: deps.clock.now() + deps.pollMs },
    }),
  );
  deps.wakeEvents(settlement.integratorId);
}

function isRetryDue(deps: SettlementDeps, settlement: Settlement): boolean {
  return settlement.retryAtMs === null || deps.clock.now() >= settlement.retryAtMs;
}
