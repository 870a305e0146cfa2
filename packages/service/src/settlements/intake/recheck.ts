/**
 * Polls deposits without a settlement, at growing intervals, so that none is stranded. This settles deposits whose
 * balance a node read too low, that reappeared after a reorg, or whose settlement ended without them. Deposits below the
 * minimum stay where they are.
 */
import { pairOf } from "../choose-route.ts";
import {
  assignBySweeps,
  assignUnsettled,
  gateBalance,
  listUnsettled,
  rescheduleUnsettled,
  type Unsettled,
} from "../../deposits/index.ts";
import { getAddressById } from "../../addresses/index.ts";
import { chainOf, type SettlementDeps } from "../deps.ts";
import { SETTLEMENT_CONDITIONS } from "../store/deposits.ts";
import { getActive, lockHolding } from "../store/read.ts";
import { readDeployed } from "../wallet-state.ts";
import { refundByPolicy } from "../operator/automatic-refunds.ts";
import { findUsedUpQuota } from "./quota.ts";
import { insertSettlement } from "../store/transition.ts";
import { RECHECK_MAX_MS, RECHECK_MS } from "../../jobs/delays.ts";

const DEPOSITS_AT_ONCE = 50;

/** Re-checks the due holdings of a chain. Returns true when there may be more. An error affects one holding only. */
export async function pollUnsettledDeposits(
  deps: SettlementDeps,
  chainId: number,
): Promise<boolean> {
  const nowMs = deps.clock.now();
  const { holdings: due, mayBeMore } = await listUnsettled(deps.db, {
    chainId,
    nowMs,
    limit: DEPOSITS_AT_ONCE,
  });
  for (const holding of due) {
    const age = nowMs - holding.oldestMs;
    const nextMs = nowMs + Math.min(Math.max(2 * age, RECHECK_MS), RECHECK_MAX_MS);
    await rescheduleUnsettled(deps.db, holding, nextMs);
    try {
      if ((await recheck(deps, holding)) === "settles") continue;
      const dueMs = await refundByPolicy(deps, holding, holding.addressId);
      if (dueMs !== null && dueMs < nextMs) await rescheduleUnsettled(deps.db, holding, dueMs);
    } catch (error) {
      deps.log.warn({ err: error, wallet: holding.wallet }, "holding re-check failed, retrying");
    }
  }
  return mayBeMore;
}

/** Opens a settlement where the balance is worth one. Otherwise the deposits stay where they are. */
async function recheck(deps: SettlementDeps, holding: Unsettled): Promise<"settles" | "stays"> {
  const { chainId, wallet, token, integratorId, addressId } = holding;
  await deps.db.transaction().execute(async (tx) => {
    await lockHolding(tx, holding);
    await assignBySweeps(tx, SETTLEMENT_CONDITIONS, holding, deps.clock.now() + RECHECK_MS);
  });
  const chain = chainOf(deps, holding);
  const balance = (await chain.findBalance(token, wallet)) ?? 0n;
  const minimums = await deps.readMinimums(chainId, token);
  if (gateBalance(balance, minimums).kind === "ignore") return "stays";
  const address = await getAddressById(deps.db, addressId);
  if (deps.routes.list(pairOf(holding, address)).length === 0) return "stays";
  const walletDeployed = await readDeployed(chain, wallet);
  const created = await deps.db.transaction().execute(async (tx) => {
    await lockHolding(tx, holding);
    if (await getActive(tx, holding)) return null;
    if ((await findUsedUpQuota(tx, deps, holding)) !== null) return null;
    const id = await insertSettlement(tx, deps, {
      chainId,
      wallet,
      token,
      integratorId,
      addressId,
      walletDeployed,
      amount: balance,
    });
    await assignUnsettled(tx, holding, id);
    return id;
  });
  if (!created) return "settles";
  deps.log.info({ settlementId: created, wallet }, "re-check queued a settlement");
  deps.wakeEvents(integratorId);
  deps.wakeSettlements(chainId);
  return "settles";
}
