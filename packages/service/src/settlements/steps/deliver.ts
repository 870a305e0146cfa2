/**
 * Waits until our own reader sees the promised value in the committed wallet, and completes. At completion the balance
 * is read again: what arrived meanwhile starts the next settlement in the same transaction, so nothing is stranded.
 */
import type { DepositAddress } from "../../addresses/index.ts";
import { assert } from "../../core/assert.ts";
import type { TxHash } from "../../core/hex.ts";
import { assignUnsettled, gateBalance } from "../../deposits/index.ts";
import { getByIntent } from "../../transactions/index.ts";
import { chainOf, type SettlementDeps } from "../deps.ts";
import { fail } from "../fail.ts";
import { forgetSweep, insertSettlement, lockHolding, transition } from "../store.ts";
import type { Settlement } from "../types.ts";
import { ChangedMeanwhile, type StepResult } from "./deploy.ts";
import { usedRoute } from "./sweep.ts";

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
  const look = await route.lookForDelivery(
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
  switch (look.kind) {
    case "delivered":
      await complete(deps, settlement, { ...look, swapTxHash });
      return "wait";
    case "troubled":
      if (settlement.status === "swapping" || isRetryDue(deps, settlement)) {
        await fail(deps, settlement, look.error);
      }
      return "wait";
    case "waiting":
      if (settlement.status === "failed_swap") await resume(deps, settlement);
      return "wait";
  }
}

async function complete(
  deps: SettlementDeps,
  settlement: Settlement,
  delivered: { readonly txHash: TxHash; readonly amount: bigint; readonly swapTxHash: TxHash },
): Promise<void> {
  const chain = chainOf(deps, settlement);
  // Read before the transaction: a deposit that is promised a successor meanwhile changes the version, and the
  // transition below then fails and is tried again with a newer balance.
  const remaining = await chain.getBalance(settlement.token, settlement.wallet);
  const gate = gateBalance(remaining, deps.minDepositOf(settlement.chainId, settlement.token));
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
    if (!moved) throw new ChangedMeanwhile();
    if (gate.kind === "ignore") return;
    const successor = await insertSettlement(tx, deps, {
      chainId: settlement.chainId,
      wallet: settlement.wallet,
      token: settlement.token,
      integratorId: settlement.integratorId,
      addressId: settlement.addressId,
      walletDeployed: true,
      amount: remaining,
    });
    await assignUnsettled(tx, settlement, successor);
  });
  deps.wakeEvents(settlement.integratorId);
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
