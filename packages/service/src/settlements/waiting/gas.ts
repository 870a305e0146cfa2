/**
 * Retries settlements that wait for lower gas costs as soon as the deposit covers them, before their scheduled retry.
 * Gas costs are cached for a few seconds, so a poll costs two reads per settlement and appends no event.
 */
import { getAddressById } from "../../addresses/index.ts";
import { OperatingError } from "../../core/errors.ts";
import { createRounds } from "../../jobs/turns.ts";
import { listRoutes, takeFirst } from "../choose-route.ts";
import { chainOf, type SettlementDeps } from "../deps.ts";
import { planFee } from "../plan-fee.ts";
import { retryNow, listWaitingForGas } from "../store/due.ts";
import type { Settlement } from "../types.ts";

const SETTLEMENTS_AT_ONCE = 200;

/** Creates the poll that retries the waiting settlements of a source chain whose fees fit now, a page at a time. */
export function createGasPoll(deps: SettlementDeps, chainId: number): () => Promise<boolean> {
  const rounds = createRounds();
  return async () => {
    const nowMs = deps.clock.now();
    const page = { chainId, nowMs, limit: SETTLEMENTS_AT_ONCE, rounds };
    for (const settlement of await listWaitingForGas(deps.db, page)) {
      try {
        if (!(await isCovered(deps, settlement))) continue;
        await deps.db.transaction().execute((tx) => retryNow(tx, settlement.id, nowMs));
      } catch (error) {
        deps.log.warn({ err: error, settlementId: settlement.id }, "gas poll failed, retrying");
      }
    }
    return false;
  };
}

async function isCovered(deps: SettlementDeps, settlement: Settlement): Promise<boolean> {
  const address = await getAddressById(deps.db, settlement.addressId);
  const amount = await chainOf(deps, settlement).getBalance(settlement.token, settlement.wallet);
  try {
    const routes = await listRoutes(deps, settlement, address);
    await takeFirst(routes, (route) => planFee(deps, settlement, { address, route, amount }));
    return true;
  } catch (error) {
    if (error instanceof OperatingError && STILL_WAITS.has(error.code)) return false;
    throw error;
  }
}

const STILL_WAITS: ReadonlySet<string> = new Set([
  "FEE_NOT_COVERED",
  "AMOUNT_TOO_SMALL",
  // Paused by an operator.
  "CONFIG_MISSING",
]);
