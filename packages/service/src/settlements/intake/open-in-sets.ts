/**
 * Records deposits that open a settlement, in sets: many customers may be paid in one block, and the transactions of one
 * integrator wait for each other. Only deposits that nothing before them concerns: the others are decided one by one.
 */
import type { Tx } from "../../db/schema.ts";
import { assignAllUnsettled, listKnown } from "../../deposits/index.ts";
import type { IntakeDeps } from "../deps.ts";
import { insertSettlements } from "../store/transition.ts";
import { listConcerned, lockHoldings } from "../store/read.ts";
import { announce, type Arrival, type Premise } from "./accept.ts";
import { insertDetected } from "./insert-detected.ts";
import { countQuotaLeft } from "./quota.ts";

/** Arrivals of one database transaction, which holds a lock for each of them. */
const SET_MAX = 100;

/**
 * Records arrivals of one block, all of one chain and worth a settlement each, and returns those that were not recorded: they
 * concern a settlement, are known, or exceed a quota. Each set is committed before the next.
 */
export async function openInSets(
  deps: IntakeDeps,
  arrivals: readonly Arrival[],
  premise: Premise,
): Promise<readonly Arrival[]> {
  const others: Arrival[] = [];
  for (let from = 0; from < arrivals.length; from += SET_MAX) {
    const some = arrivals.slice(from, from + SET_MAX);
    const opened = await deps.db.transaction().execute(async (tx) => {
      await premise(tx);
      return openSet(tx, deps, some);
    });
    others.push(...some.filter((one) => !opened.has(one)));
    for (const [{ arrived, address }, settlementId] of opened) {
      announce(deps, arrived, address, { queued: true, settlementId });
    }
  }
  return others;
}

/** Returns the recorded arrivals with their settlements. */
async function openSet(
  tx: Tx,
  deps: IntakeDeps,
  some: readonly Arrival[],
): Promise<ReadonlyMap<Arrival, string>> {
  const arrivals = some.map(({ arrived }) => arrived);
  const [first] = arrivals;
  if (!first) return new Map();
  await lockHoldings(tx, arrivals);
  const concerned = await listConcerned(tx, arrivals, first.blockNumber);
  const known = await listKnown(tx, arrivals);
  const fresh = some.filter((_, place) => !concerned.has(place) && !known.has(place));
  const within = await keepWithinQuotas(tx, deps, fresh);
  if (within.length === 0) return new Map();
  const ids = await insertSettlements(
    tx,
    deps,
    within.map(({ arrived, address, balance, walletDeployed }) => ({
      chainId: arrived.chainId,
      wallet: arrived.wallet,
      token: arrived.token,
      integratorId: address.integratorId,
      addressId: address.id,
      walletDeployed,
      amount: balance,
    })),
  );
  const opened = within.map((one, place) => ({ ...one, settlementId: ids[place] ?? "" }));
  await assignAllUnsettled(
    tx,
    opened.map(({ arrived, settlementId }) => ({ holding: arrived, settlementId })),
  );
  await insertDetected(
    tx,
    deps,
    opened.map(({ arrived, address, settlementId }) => ({
      arrived,
      address,
      outcome: { queued: true, settlementId },
    })),
  );
  return new Map(within.map((one, place) => [one, ids[place] ?? ""]));
}

/** Returns as many of the arrivals of each integrator as its quota of open settlements leaves room for, the first ones. */
async function keepWithinQuotas(
  tx: Tx,
  deps: IntakeDeps,
  arrivals: readonly Arrival[],
): Promise<readonly Arrival[]> {
  const byOwner = Map.groupBy(arrivals, ({ address }) => address.integratorId);
  const kept = new Set<Arrival>();
  // In the order of their locks.
  for (const integratorId of [...byOwner.keys()].toSorted()) {
    const own = byOwner.get(integratorId) ?? [];
    const chainId = own[0]?.arrived.chainId ?? 0;
    const left = await countQuotaLeft(tx, deps, { integratorId, chainId });
    for (const one of own.slice(0, left)) kept.add(one);
  }
  return arrivals.filter((one) => kept.has(one));
}
