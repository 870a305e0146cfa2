/**
 * An operator has a settlement tried again. A failing one is due at once; for a dead one a new settlement is queued, as a
 * deposit would queue it. Both are decided under the lock of the holding and of the row, so a worker that holds the
 * settlement either was first, and then the request is refused, or finds its compare-and-set failed. Doing the same again
 * changes nothing and is not recorded again.
 */
import { getAddressById } from "../../addresses/index.ts";
import type { SettlementDeps } from "../deps.ts";
import { requestIndex } from "../intake/request-index.ts";
import { retryNow } from "../store/due.ts";
import { getActive, lockHolding, lockSettlement } from "../store/read.ts";
import type { Settlement } from "../types.ts";
import { recordAction } from "./actions.ts";
import { findOpenRefund } from "./refunds.ts";
import { assertFailing, getExisting, type OperatorRequest, refusal } from "./request.ts";

export interface RetryResult {
  /** `hurried`: it is tried again at once. `reopened`: it was dead, and another settles what the wallet holds. */
  readonly kind: "hurried" | "reopened";
  /** The settlement to watch now. */
  readonly settlementId: string;
  /** False when that was so already; then nothing was changed or recorded. */
  readonly changed: boolean;
}

/**
 * Has a failing or deferred settlement tried at once, or what a dead one left in its wallet settled anew.
 * @throws OperatingError VALIDATION_ERROR, saying why, where there is nothing to retry.
 */
export async function retrySettlement(
  deps: SettlementDeps,
  request: OperatorRequest,
): Promise<RetryResult> {
  const settlement = await getExisting(deps, request.id);
  const retried = await deps.db.transaction().execute(async (tx) => {
    await lockHolding(tx, settlement);
    const locked = await lockSettlement(tx, settlement.id);
    if (locked.status === "dead") return null;
    assertFailing(locked, "retry");
    const result = { kind: "hurried", settlementId: locked.id } as const;
    // A failing settlement without a time to wait for is due, or in a worker's hands.
    if (locked.retryAtMs === null) return { ...result, changed: false };
    await retryNow(tx, locked.id, deps.clock.now());
    await recordAction(tx, locked, { ...request, action: "retry" });
    return { ...result, changed: true };
  });
  const result = retried ?? (await reopen(deps, { ...settlement, status: "dead" }, request));
  deps.wakeEvents(settlement.integratorId);
  return result;
}

async function reopen(
  deps: SettlementDeps,
  settlement: Settlement,
  request: OperatorRequest,
): Promise<RetryResult> {
  const { chainId, token } = settlement;
  const address = await getAddressById(deps.db, settlement.addressId);
  const requested = await requestIndex(
    deps,
    { chainId, address, token },
    async (tx, successorId) => {
      const dead = await lockSettlement(tx, settlement.id);
      const open = await findOpenRefund(tx, settlement);
      if (open) throw refusal(`The refund ${open} is on its way: what it takes is not settled.`);
      await recordAction(tx, dead, { ...request, action: "retry", successorId });
    },
  );
  if (requested.queued) {
    return { kind: "reopened", settlementId: requested.settlementId, changed: true };
  }
  const active = await getActive(deps.db, settlement);
  if (active) return { kind: "reopened", settlementId: active.id, changed: false };
  throw refusal(
    `There is nothing to retry: the deposit address holds too little of the token (${requested.reason}).`,
  );
}
