/**
 * Retries settlements that wait for inventory as soon as it suffices, before their scheduled retry. A poll costs two
 * reads per inventory and appends no event.
 */
import { pairOf } from "../choose-route.ts";
import { getAddressById } from "../../addresses/index.ts";
import type { Inventory, Route } from "../../routes/index.ts";
import { chainOf, type SettlementDeps } from "../deps.ts";
import { retryNow, listWaitingForInventory } from "../store/due.ts";

const SETTLEMENTS_AT_ONCE = 200;

/** Retries every waiting settlement that alone would fit now; which of them get it is decided when they reserve. */
export async function pollWaitingForInventory(deps: SettlementDeps): Promise<void> {
  const inventories = new Map<string, Promise<Inventory>>();
  const readOnce = (route: Route): Promise<Inventory> => {
    const key = `${route.pair.destChain}:${route.pair.destToken}`;
    const reading = inventories.get(key) ?? route.readInventory();
    inventories.set(key, reading);
    return reading;
  };
  const nowMs = deps.clock.now();
  for (const settlement of await listWaitingForInventory(deps.db, {
    nowMs,
    limit: SETTLEMENTS_AT_ONCE,
  })) {
    try {
      const address = await getAddressById(deps.db, settlement.addressId);
      const [route] = deps.routes.list(pairOf(settlement, address));
      if (!route) continue;
      const inventory = await readOnce(route);
      const amount = await chainOf(deps, settlement).getBalance(
        settlement.token,
        settlement.wallet,
      );
      if (route.judgeInventory({ amount, inventory }) !== "reserved") continue;
      await deps.db.transaction().execute((tx) => retryNow(tx, settlement.id, nowMs));
    } catch (error) {
      deps.log.warn({ err: error, settlementId: settlement.id }, "inventory poll failed, retrying");
    }
  }
}
