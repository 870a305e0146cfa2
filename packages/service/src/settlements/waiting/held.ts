/**
 * Retries settlements that a state of the contracts, an empty lane or an operator holds soon after that has ended, before
 * their scheduled retry. A poll reads each state once, and nothing while no settlement is held.
 */
import { getAddressById } from "../../addresses/index.ts";
import type { ContractRefusal } from "../../chains/port/index.ts";
import { OperatingError } from "../../core/errors.ts";
import type { Address } from "../../core/hex.ts";
import { createRounds, type Rounds } from "../../jobs/turns.ts";
import { isQuarantined } from "../../ledger/index.ts";
import type { Route } from "../../routes/index.ts";
import { LACK_OF_GAS } from "../../transactions/index.ts";
import { listRoutes } from "../choose-route.ts";
import { chainOf, lanesOf, type SettlementDeps } from "../deps.ts";
import { PAUSED } from "../operator/pauses.ts";
import { listHeld, listHoldingReasons, retryNow } from "../store/due.ts";
import { getError } from "../store/read.ts";
import type { Settlement } from "../types.ts";

/** Settlements per reason and poll; each costs at most two reads of its chain. */
const SETTLEMENTS_AT_ONCE = 50;

/**
 * Milliseconds since its last deferral before a settlement is retried for what a node answers: a node that disagrees with
 * the one that simulates must not have it deferred again with every poll.
 */
const NODE_PAUSE_MS = 15_000;

/**
 * Milliseconds between two polls that retry settlements by a route's daily cap: sweeps use it up only when they are mined,
 * and one that finds it used up would revert.
 */
const CAP_PAUSE_MS = 60_000;

/** The state of one poll. */
interface Poll {
  readonly deps: SettlementDeps;
  readonly nowMs: number;
  /** Answers of the contracts in this poll. */
  readonly refused: Map<string, Promise<boolean>>;
  /** Balances of the lanes in this poll. */
  readonly laneBalances: Map<Address, Promise<bigint>>;
  /** Times when settlements were last retried by a route's daily cap, across polls. */
  readonly capUsedAtMs: Map<string, number>;
  /** What is left of the daily caps in this poll, by route. */
  readonly capLeft: Map<string, bigint>;
}

/** Returns whether the state that holds the settlement is still there. */
type StillHolds = (poll: Poll, settlement: Settlement) => Promise<boolean>;

const ofFactory =
  (refusal: ContractRefusal): StillHolds =>
  (poll, settlement) =>
    isRefused(poll, settlement, refusal);

/** The watched reasons. Others, such as a recipient that refuses, wait for their scheduled retry. */
const HOLDS: ReadonlyMap<string, StillHolds> = new Map<string, StillHolds>([
  ["IsPaused", ofFactory({ reason: "IsPaused" })],
  ["NotSealed", ofFactory({ reason: "NotSealed" })],
  ["TooFewAttestors", ofFactory({ reason: "TooFewAttestors" })],
  ["NotRelayer", lacksRelayer],
  ["NotRoute", lacksRoute],
  ["TakeBackPending", isAnnounced],
  ["daily_cap", isAboveCap],
  ["AboveDailyCap", isAboveCap],
  [LACK_OF_GAS, lacksGas],
  ["quarantined", ({ deps }, settlement) => isQuarantined(deps.db, settlement)],
  [PAUSED, isPaused],
]);

/** Reasons that the database decides. */
const OF_DATABASE: ReadonlySet<string> = new Set(["quarantined", PAUSED]);

/** Creates the poll of a source chain. It returns true while a whole page was retried. */
export function createHeldPoll(deps: SettlementDeps, chainId: number): () => Promise<boolean> {
  const roundsOf = new Map<string, Rounds>();
  const capUsedAtMs = new Map<string, number>();
  return async () => {
    const nowMs = deps.clock.now();
    const poll = {
      deps,
      nowMs,
      refused: new Map(),
      laneBalances: new Map(),
      capUsedAtMs,
      capLeft: new Map(),
    };
    const reasons = [...HOLDS.keys()];
    let mayHaveMore = false;
    for (const reason of await listHoldingReasons(deps.db, { chainId, nowMs, reasons })) {
      const rounds = roundsOf.get(reason) ?? createRounds();
      roundsOf.set(reason, rounds);
      const settlements = await listHeld(deps.db, {
        chainId,
        nowMs,
        reason,
        deferredByMs: OF_DATABASE.has(reason) ? nowMs : nowMs - NODE_PAUSE_MS,
        limit: SETTLEMENTS_AT_ONCE,
        rounds,
      });
      let retried = 0;
      for (const settlement of settlements) {
        if (await retryIfFree(poll, settlement, reason)) retried += 1;
      }
      mayHaveMore ||= retried === SETTLEMENTS_AT_ONCE;
    }
    return mayHaveMore;
  };
}

async function retryIfFree(poll: Poll, settlement: Settlement, reason: string): Promise<boolean> {
  const { deps, nowMs } = poll;
  try {
    if ((await HOLDS.get(reason)?.(poll, settlement)) ?? true) return false;
    await deps.db.transaction().execute((tx) => retryNow(tx, settlement.id, nowMs));
    return true;
  } catch (error) {
    deps.log.warn({ err: error, settlementId: settlement.id }, "hold poll failed, retrying");
    return false;
  }
}

/** Asks the chain once per poll. */
async function isRefused(
  { deps, refused }: Poll,
  settlement: Settlement,
  refusal: ContractRefusal,
): Promise<boolean> {
  const { wallets } = chainOf(deps, settlement);
  if (wallets.kind !== "contract") return false;
  const key = Object.values(refusal).join(":");
  const asked = refused.get(key) ?? wallets.isRefused(refusal);
  refused.set(key, asked);
  return asked;
}

async function lacksRelayer(poll: Poll, settlement: Settlement): Promise<boolean> {
  // Any of the lanes may be chosen.
  for (const relayer of lanesOf(poll.deps, settlement).settle) {
    if (await isRefused(poll, settlement, { reason: "NotRelayer", relayer })) return true;
  }
  return false;
}

async function lacksRoute(poll: Poll, settlement: Settlement): Promise<boolean> {
  const route = await preferredRoute(poll.deps, settlement);
  if (route === null) return true;
  return isRefused(poll, settlement, { reason: "NotRoute", route: route.contract });
}

/**
 * Returns whether no lane has more than the greatest balance with which the settlement was deferred: the exact cost is
 * known only to another simulation.
 */
async function lacksGas({ deps, laneBalances }: Poll, settlement: Settlement): Promise<boolean> {
  const before = (await getError(deps.db, settlement.id))?.details?.["balance"];
  // Deferred by an earlier release: the next deferral has the balance.
  if (typeof before !== "string") return false;
  const chain = chainOf(deps, settlement);
  const { deploy, settle } = lanesOf(deps, settlement);
  for (const lane of settlement.step === "deploy" ? deploy : settle) {
    const read = laneBalances.get(lane) ?? chain.getBalance(chain.coin.token, lane);
    laneBalances.set(lane, read);
    if ((await read) > BigInt(before)) return false;
  }
  return true;
}

async function isAnnounced({ deps }: Poll, settlement: Settlement): Promise<boolean> {
  const { wallets } = chainOf(deps, settlement);
  if (wallets.kind !== "contract") return false;
  return (await wallets.getAnnouncement(settlement.wallet, settlement.token)) !== null;
}

/** Returns whether the balance is above what is left of its route's daily cap, after the settlements before it. */
async function isAboveCap(poll: Poll, settlement: Settlement): Promise<boolean> {
  const { deps, nowMs, capUsedAtMs, capLeft } = poll;
  const route = await preferredRoute(deps, settlement);
  if (route === null) return true;
  const { contract } = route;
  const usedAtMs = capUsedAtMs.get(contract) ?? -CAP_PAUSE_MS;
  if (usedAtMs !== nowMs && nowMs - usedAtMs < CAP_PAUSE_MS) return true;
  const { id: settlementId, integratorId, addressId } = settlement;
  const left =
    capLeft.get(contract) ??
    (await route.readCapacity({ settlementId, integratorId, addressId })) ??
    null;
  if (left === null) return false;
  capLeft.set(contract, left);
  const amount = await chainOf(deps, settlement).getBalance(settlement.token, settlement.wallet);
  if (amount > left) return true;
  capLeft.set(contract, left - amount);
  capUsedAtMs.set(contract, nowMs);
  return false;
}

async function isPaused({ deps }: Poll, settlement: Settlement): Promise<boolean> {
  try {
    await listRoutes(deps, settlement, await getAddressById(deps.db, settlement.addressId));
    return false;
  } catch (error) {
    if (error instanceof OperatingError) return error.details?.reason === PAUSED;
    throw error;
  }
}

/** Returns the route whose error a settlement shows; null while its target is paused or has no route. */
async function preferredRoute(deps: SettlementDeps, settlement: Settlement): Promise<Route | null> {
  try {
    const address = await getAddressById(deps.db, settlement.addressId);
    const [route] = await listRoutes(deps, settlement, address);
    return route;
  } catch (error) {
    if (error instanceof OperatingError) return null;
    throw error;
  }
}
