/**
 * Finds refunds of dead settlements. A refund authority may refund the deposits by itself or at an operator's request.
 * The settlement stays `dead`; once a final block contains the refund, its error details name it.
 */
import type { FoundRefund } from "../../chains/port/index.ts";
import { REFUND_POLL_MAX_MS, REFUND_POLL_MIN_MS } from "../../jobs/delays.ts";
import { refundByPolicy } from "../operator/automatic-refunds.ts";
import { getLastDeposit } from "../store/deposits.ts";
import { readAddressOf } from "../store/read.ts";
import { chainOf, type SettlementDeps } from "../deps.ts";
import { type DeadSettlement, listDeadDue, recordRefunded, watchForRefund } from "../store/dead.ts";

const SETTLEMENTS_AT_ONCE = 50;

/** Polls due dead settlements of a chain for a refund; the interval grows with the time since the settlement ended. */
export async function pollRefunds(deps: SettlementDeps, chainId: number): Promise<void> {
  const nowMs = deps.clock.now();
  for (const dead of await listDeadDue(deps.db, {
    chainId,
    nowMs,
    limit: SETTLEMENTS_AT_ONCE,
  })) {
    const waitMs = Math.min(
      Math.max((nowMs - dead.sinceMs) / 4, REFUND_POLL_MIN_MS),
      REFUND_POLL_MAX_MS,
    );
    await watchForRefund(deps.db, dead.id, nowMs + waitMs);
    try {
      if (await pollRefund(deps, dead)) continue;
      const address = await readAddressOf(deps.db, dead.id);
      const dueMs = await refundByPolicy(deps, dead, address.id);
      if (dueMs !== null && dueMs < nowMs + waitMs) await watchForRefund(deps.db, dead.id, dueMs);
    } catch (error) {
      deps.log.warn({ err: error, settlementId: dead.id }, "refund poll failed, retrying");
    }
  }
}

/** Returns whether there is nothing left to refund, and records the refund that was found. */
async function pollRefund(deps: SettlementDeps, dead: DeadSettlement): Promise<boolean> {
  const last = await getLastDeposit(deps.db, dead.id);
  // A later settlement swept its deposits: there is nothing left to refund.
  if (!last) {
    await watchForRefund(deps.db, dead.id, null);
    return true;
  }
  const { wallet, token } = dead;
  const chain = chainOf(deps, dead);
  const refund = await chain.findRefund({ wallet, token, fromBlock: last.block });
  if (!refund || !isAfter(refund, last)) return false;
  const { txHash, amount, to } = refund;
  await recordRefunded(deps.db, dead.id, { txHash });
  deps.log.info({ settlementId: dead.id, txHash, amount, to }, "settlement refunded");
  return true;
}

function isAfter(
  { blockNumber, logIndex }: FoundRefund,
  last: { readonly block: bigint; readonly logIndex: number },
): boolean {
  return blockNumber > last.block || (blockNumber === last.block && logIndex > last.logIndex);
}
