/**
 * A refund authority may take the deposits of a dead settlement back, by itself or asked by an operator. The settlement
 * stays `dead`; once a final block shows the refund, its error says so.
 */
import type { FoundRefund } from "../../chains/port/index.ts";
import { REFUND_POLL_MAX_MS, REFUND_POLL_MIN_MS } from "../../jobs/delays.ts";
import { getLastDeposit } from "../store/deposits.ts";
import { chainOf, type SettlementDeps } from "../deps.ts";
import { type DeadSettlement, listDeadDue, recordRefunded, watchForRefund } from "../store/dead.ts";

const SETTLEMENTS_AT_ONCE = 50;

/** Looks at dead settlements that are due, less and less often. */
export async function pollRefunds(deps: SettlementDeps): Promise<void> {
  const nowMs = deps.clock.now();
  for (const dead of await listDeadDue(deps.db, { nowMs, limit: SETTLEMENTS_AT_ONCE })) {
    const waitMs = Math.min(
      Math.max((nowMs - dead.sinceMs) / 4, REFUND_POLL_MIN_MS),
      REFUND_POLL_MAX_MS,
    );
    await watchForRefund(deps.db, dead.id, nowMs + waitMs);
    try {
      await lookAt(deps, dead);
    } catch (error) {
      deps.log.warn({ err: error, settlementId: dead.id }, "a refund could not be looked for");
    }
  }
}

async function lookAt(deps: SettlementDeps, dead: DeadSettlement): Promise<void> {
  const last = await getLastDeposit(deps.db, dead.id);
  // Its deposits are with a settlement that swept them: there is nothing of its own to refund.
  if (!last) return watchForRefund(deps.db, dead.id, null);
  const { wallet, token } = dead;
  const chain = chainOf(deps, dead);
  const refund = await chain.findRefund({ wallet, token, fromBlock: last.block });
  if (!refund || !isAfter(refund, last)) return;
  const { txHash, amount, to } = refund;
  await recordRefunded(deps.db, dead.id, { txHash });
  deps.log.info({ settlementId: dead.id, txHash, amount, to }, "a settlement was refunded");
}

function isAfter(
  { blockNumber, logIndex }: FoundRefund,
  last: { readonly block: bigint; readonly logIndex: number },
): boolean {
  return blockNumber > last.block || (blockNumber === last.block && logIndex > last.logIndex);
}
