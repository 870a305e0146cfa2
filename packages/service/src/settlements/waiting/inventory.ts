/**
 * Retries settlements that wait for inventory as soon as it suffices, before their scheduled retry. A poll costs two
 * reads per inventory and appends no event.
 */
import { pairOf } from "../choose-route.ts";
import { createRounds } from "../../jobs/turns.ts";
import { getAddressById } from "../../addresses/index.ts";
import type { Inventory, Route } from "../../routes/index.ts";
import { chainOf, type SettlementDeps } from "../deps.ts";
import { retryNow, listWaitingForInventory } from "../store/due.ts";
import type { Settlement } from "../types.ts";

const SETTLEMENTS_AT_ONCE = 200;

/**
 * Creates the poll that retries the waiting settlements of a source chain, a page at a time: those of the page that fit
 * together, the small and old first, so that a large one takes nothing that many others wait for. Destinations are read
 * independently: one that does not answer delays only its own settlements.
 */
export function createInventoryPoll(deps: SettlementDeps, chainId: number): () => Promise<boolean> {
  const rounds = createRounds();
  return async () => {
    const nowMs = deps.clock.now();
    const waiting = [];
    const page = { chainId, nowMs, limit: SETTLEMENTS_AT_ONCE, rounds };
    for (const settlement of await listWaitingForInventory(deps.db, page)) {
      const address = await getAddressById(deps.db, settlement.addressId);
      const [route] = deps.routes.list(pairOf(settlement, address));
      if (route) waiting.push({ settlement, route });
    }
    const destinations = Map.groupBy(
      waiting,
      ({ route: { pair } }) => `${pair.destChain}:${pair.destToken}`,
    );
    await Promise.all([...destinations.values()].map((some) => retryFitting(deps, some, nowMs)));
    return false;
  };
}

interface Waiting {
  readonly settlement: Settlement;
  readonly route: Route;
}

interface Sized extends Waiting {
  /** In base units of the source token. */
  readonly amount: bigint;
}

/** Retries the settlements that one inventory covers. */
async function retryFitting(
  deps: SettlementDeps,
  waiting: readonly Waiting[],
  nowMs: number,
): Promise<void> {
  const [first] = waiting;
  if (!first) return;
  let inventory: Inventory;
  const sized: Sized[] = [];
  try {
    inventory = await first.route.readInventory();
  } catch (error) {
    deps.log.warn({ err: error, chainId: first.route.pair.destChain }, "inventory poll failed");
    return;
  }
  for (const { settlement, route } of waiting) {
    try {
      const chain = chainOf(deps, settlement);
      const amount = await chain.getBalance(settlement.token, settlement.wallet);
      sized.push({ settlement, route, amount });
    } catch (error) {
      deps.log.warn({ err: error, settlementId: settlement.id }, "inventory poll failed, retrying");
    }
  }
  const taken = new Map<string, bigint>();
  for (const { settlement, route, amount } of sized.toSorted(bySizeAndAge)) {
    const { srcChain, srcToken } = route.pair;
    const source = `${srcChain}:${srcToken}`;
    const sum = (taken.get(source) ?? 0n) + amount;
    if (route.judgeInventory({ amount: sum, inventory }) !== "reserved") continue;
    taken.set(source, sum);
    await deps.db.transaction().execute((tx) => retryNow(tx, settlement.id, nowMs));
  }
}

/** Orders by the amount per re-check: each of these doubles, triples and so on the amount that goes before. */
function bySizeAndAge(one: Sized, other: Sized): number {
  const difference = one.amount * ageOf(other) - other.amount * ageOf(one);
  return difference < 0n ? -1 : Number(difference > 0n);
}

/** Returns the re-checks of a settlement, times the units of its token. */
function ageOf({ settlement, route }: Sized): bigint {
  return BigInt(1 + settlement.retryCount) * 10n ** BigInt(route.decimalsIn);
}
