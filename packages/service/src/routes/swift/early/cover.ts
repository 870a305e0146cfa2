/** Follows early payouts until their lock is final, or can no longer be paid. */
import type { DepositAddress } from "../../../addresses/index.ts";
import { chainOf, type DeliveryDeps, getLock, isPast, paidLockOf } from "../delivery-deps.ts";
import { findEndOfSweeps } from "../../../transactions/index.ts";
import { type Delivery, removeUnpaid } from "../store.ts";
import { find, isLost, recordMissing, recover, uncount } from "./store.ts";

/** A lock that is not in a final block this many seconds later is missing. After a reorg it comes back within minutes. */
const MISSING_AFTER_S = 600n;

/**
 * Returns whether the lock of a delivered payout is final. An early payout is counted until then; if its lock is missing,
 * the early payouts of the chain are closed. A lock that comes back ends the loss that an operator had accepted.
 */
export async function isCovered(
  deps: DeliveryDeps,
  delivery: Delivery,
  address: DepositAddress,
): Promise<boolean> {
  const deliveryId = delivery.id;
  const early = await find(deps.db, deliveryId);
  if (!early && !(await isLost(deps.db, deliveryId))) return true;
  const source = chainOf(deps, delivery.srcChain);
  const { number, hash } = await source.getFinalBlock();
  const at = hash === null ? ("final" as const) : { number, hash };
  if (await getLock(deps, delivery, address, at)) {
    await deps.db.transaction().execute(async (tx) => {
      await uncount(tx, deliveryId);
      if (!(await recover(tx, deliveryId, deps.clock.now()))) return;
      deps.log.warn({ deliveryId }, "the lock of a lost payout came back, claiming it");
    });
    return true;
  }
  if (!early || early.isMissing) return false;
  if ((await source.getTime(at)) <= delivery.lockedAt + MISSING_AFTER_S) return false;
  const nowMs = deps.clock.now();
  const isNew = await deps.db.transaction().execute((tx) => recordMissing(tx, early, nowMs));
  if (isNew) {
    deps.log.error(
      { deliveryId, chainId: delivery.srcChain },
      "reorg: the lock of an early payout is missing, closing early payouts of the chain",
    );
  }
  return false;
}

/**
 * Ends a delivery whose lock left the chain unpaid: no transaction of its settlement can bring it back, and no signature can
 * pay it any more. The settlement sweeps again, with another lock.
 */
export async function endVanished(
  deps: DeliveryDeps,
  delivery: Delivery,
  address: DepositAddress,
): Promise<void> {
  if (!(await releaseUnpaid(deps, delivery))) return;
  const end = await findEndOfSweeps(deps.db, delivery.settlementId);
  if (end === null) return;
  // One block shows all that the sweeps did: another server may be behind it.
  const { number, hash } = await chainOf(deps, delivery.srcChain).getFinalBlock();
  if (number < end || hash === null) return;
  if (await getLock(deps, delivery, address, { number, hash })) return;
  // A restored database may lack a payout.
  if (await chainOf(deps, delivery.destChain).isDelivered(paidLockOf(delivery), "latest")) return;
  await deps.db.transaction().execute((tx) => removeUnpaid(tx, delivery));
  deps.log.warn({ deliveryId: delivery.id }, "reorg: the lock left the chain unpaid");
}

/**
 * No longer counts a payout that was never made, once a final block of its destination is past the payout window. Returns
 * whether no signature can pay it any more.
 */
async function releaseUnpaid(deps: DeliveryDeps, delivery: Delivery): Promise<boolean> {
  if (delivery.orders === 0) return true;
  const early = await find(deps.db, delivery.id);
  const usableUntil = early?.usableUntil ?? delivery.lockedAt + deps.payoutWindowS;
  if (!isPast(deps, usableUntil)) return false;
  const destination = chainOf(deps, delivery.destChain);
  // The time is read first: a later final block can only contain more payouts.
  if (!(await destination.isOrderOver(usableUntil))) return false;
  if (await destination.isDelivered(paidLockOf(delivery), "final")) return false;
  await uncount(deps.db, delivery.id);
  return true;
}
