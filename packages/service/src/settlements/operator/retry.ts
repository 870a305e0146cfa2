/**
 * Retries a settlement at an operator's request. A failing settlement becomes due at once; for a dead one another
 * settlement is queued, as a deposit would queue it. Both happen under the locks of the holding and the row: a worker
 * with the same settlement either commits first, and the request is refused, or its compare-and-set fails. Idempotent: a
 * repeated request changes and records nothing.
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
  /** `rescheduled`: due at once. `reopened`: it was dead, and another settlement takes the wallet's balance. */
  readonly kind: "rescheduled" | "reopened";
  /** The settlement to watch from now on. */
  readonly settlementId: string;
  /** False when this was so already; nothing was changed or recorded then. */
  readonly changed: boolean;
}

/**
 * Retries a failing or deferred settlement at once, or queues another for the balance that a dead one left.
 * @throws OperatingError VALIDATION_ERROR with the reason when there is nothing to retry.
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
    const result = { kind: "rescheduled", settlementId: locked.id } as const;
    // Without a retry time the settlement is due already, or a worker polls it.
    if (locked.retryAtMs === null) return { ...result, changed: false };
    await retryNow(tx, locked.id, deps.clock.now());
    await recordAction(tx, locked, { ...request, action: "retry" });
    return { ...result, changed: true };
  });
  const result = retried ?? (await reopen(deps, { ...settlement, status: "dead" }, request));
  deps.wakeEvents(settlement.integratorId);
  deps.wakeSettlements(settlement.chainId);
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
    {
      async onQueued(tx, successorId) {
        const dead = await lockSettlement(tx, settlement.id);
        const open = await findOpenRefund(tx, settlement);
        if (open)
          throw refusal(`The refund ${open} is pending: the balance that it takes is not settled.`);
        await recordAction(tx, dead, { ...request, action: "retry", successorId });
      },
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
