/**
 * Records deposits that nothing is to be done about, in sets. Strangers can pay a little to thousands of wallets in one
 * block, so such a deposit costs no transaction of its own.
 */
import type { DepositAddress } from "../../addresses/index.ts";
import type { Tx } from "../../db/schema.ts";
import { type ArrivedValue, type IgnoredReason, listKnown } from "../../deposits/index.ts";
import { chainLabel } from "../../telemetry/metrics.ts";
import type { IntakeDeps } from "../deps.ts";
import { listConcerned, lockHoldings } from "../store/read.ts";
import type { Premise } from "./accept.ts";
import { insertDetected } from "./insert-detected.ts";

/** Arrivals of one database transaction, which holds a lock for each of them. */
const SET_MAX = 250;

/** An arrival that no settlement is created for. */
export interface Dust {
  readonly arrived: ArrivedValue;
  readonly address: DepositAddress;
  readonly reason: IgnoredReason;
}

/**
 * Records the dust of one block, all of one chain, and returns those that were not recorded: they concern a settlement, or
 * a reorg has moved them. Each set is committed before the next.
 */
export async function recordDust<Item extends Dust>(
  deps: IntakeDeps,
  dust: readonly Item[],
  premise: Premise,
): Promise<Item[]> {
  const others: Item[] = [];
  for (let from = 0; from < dust.length; from += SET_MAX) {
    const some = dust.slice(from, from + SET_MAX);
    const recorded = await deps.db.transaction().execute(async (tx) => {
      await premise(tx);
      return recordSet(tx, deps, some);
    });
    others.push(...some.filter((one) => !recorded.includes(one)));
    announce(deps, recorded);
  }
  return others;
}

async function recordSet<Item extends Dust>(
  tx: Tx,
  deps: IntakeDeps,
  some: readonly Item[],
): Promise<readonly Item[]> {
  const arrivals = some.map(({ arrived }) => arrived);
  const [first] = arrivals;
  if (!first) return [];
  await lockHoldings(tx, arrivals);
  const concerned = await listConcerned(tx, arrivals, first.blockNumber);
  const known = await listKnown(tx, arrivals);
  const fresh = some.filter((_, place) => !concerned.has(place) && !known.has(place));
  if (fresh.length === 0) return [];
  await insertDetected(
    tx,
    deps,
    fresh.map(({ arrived, address, reason }) => ({
      arrived,
      address,
      outcome: { queued: false, reason },
    })),
  );
  return fresh;
}

function announce(deps: IntakeDeps, recorded: readonly Dust[]): void {
  const [first] = recorded;
  if (!first) return;
  const { chainId, blockNumber } = first.arrived;
  deps.log.info({ chainId, block: blockNumber, holdings: recorded.length }, "dust detected");
  const chain = chainLabel(chainId);
  deps.metrics.eventsAppended.inc({ type: "deposit_detected" }, recorded.length);
  deps.metrics.depositsDetected.inc({ chain }, recorded.length);
  for (const { reason } of recorded) deps.metrics.depositsIgnored.inc({ chain, reason });
  for (const integratorId of new Set(recorded.map(({ address }) => address.integratorId))) {
    deps.wakeEvents(integratorId);
  }
}
