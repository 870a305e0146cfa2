/** The settler: settlements, deliveries from inventory, and the lanes that send for them. Holds the lane keys. */
import { type Config, type LanePurpose } from "../config/index.ts";
import { OperatingError } from "../core/errors.ts";
import { type Address, toHex32 } from "../core/hex.ts";
import { remember } from "../core/remember.ts";
import type { Tx } from "../db/schema.ts";
import { type Queue, subjectOf } from "../jobs/due.ts";
import type { Loop } from "../jobs/loop.ts";
import {
  createClaimCapReader,
  getChain,
  ROUTE_MODULES,
  type SettlerDeps,
} from "../routes/index.ts";
import {
  createScreen,
  followCompleted,
  createSettlementsPoll,
  createScreeningsPoll,
  pollUnsettledDeposits,
  createGasPoll,
  createHeldPoll,
  createInventoryPoll,
  announceRefundStates,
  pollAttestedRefunds,
  pollRefunds,
  recordDelivery,
  recordUndeliveredLock,
  dueSettlements,
  readAddressOf,
  SETTLEMENTS,
  type SettlementDeps,
} from "../settlements/index.ts";
import { createRebalancingPoll, listRefilled } from "../rebalancing/index.ts";
import type { LaneSigner } from "../signers/port.ts";
import {
  BATCHING_LANE_LIMITS,
  createLaneWaits,
  type IntentKind,
  kindOf,
  SHORT_LIVED_LANE_LIMITS,
  type LaneLimits,
  pollLane,
  type TransactionFacts,
} from "../transactions/index.ts";
import { type Parts, type RunningRole, TOPICS, wakeDue, wakeLanes } from "./context.ts";
import { ADDRESS_MEMO_MS, createSettlementDeps, INTAKE_PARTS, POLL_MS } from "./settlement-deps.ts";
import { startReadings, startRoleLoop } from "./health.ts";

/** Accounts per purpose that take new work. */
type ChainLanes = Readonly<Record<LanePurpose, readonly Address[]>>;

/** Interval of a lane's polls, in milliseconds: short, since a nonce that waits delays all behind it. */
const LANE_POLL_MS = 250;
/** Interval of the polls of a lane without work, in milliseconds: a wake-up that is lost costs it once. */
const LANE_REST_MS = 1_000;
/** Least time between polls that new intents start, in milliseconds: many intents share a poll and a batch. */
const LANE_GAP_MS = 100;
/** Intervals of the loops that wait for something outside the settlement, in milliseconds. None has a wake-up. */
const UNSETTLED_POLL_MS = 5_000;
const REFUND_POLL_MS = 2_000;
const REFILL_POLL_MS = 5_000;
const GAS_POLL_MS = 5_000;
const HELD_POLL_MS = 5_000;
const TREASURY_POLL_MS = 30_000;

/** Parts of the settler. */
export const SETTLER_PARTS = [
  ...INTAKE_PARTS,
  "http",
  "crashPoint",
  "attestations",
  "attestors",
  "endingChains",
  "worksOn",
] as const;
type SettlerParts = Parts<(typeof SETTLER_PARTS)[number]>;

/**
 * Starts the loops of the settler. Loops are separate where one may hang: per chain for settlements, per lane for
 * transactions, per worker for the legs of routes.
 */
export function startSettler(context: SettlerParts, signers: readonly LaneSigner[]): RunningRole {
  const { wakeups, worksOn } = context;
  const lanes = groupLanes(context.config, signers);
  const chainIds = [...lanes.keys()].filter(worksOn);
  const own = signers.filter(({ chainId }) => worksOn(chainId));
  const settlements = createSettlementDeps(context, lanes);
  const settlementLoops = chainIds.map((chainId) => ({
    queue: { name: SETTLEMENTS, chainId },
    loop: startRoleLoop(context, "settler", {
      name: `settlements of chain ${chainId}`,
      intervalMs: POLL_MS,
      poll: createSettlementsPoll(settlements, chainId),
    }),
  }));
  const waitingLoops = chainIds.flatMap((chainId) =>
    startWaitingLoops(context, settlements, chainId),
  );
  const treasuryLoops = startTreasuries(context, lanes);
  const screeningLoops = startScreening(context, settlements, chainIds);
  const routeLoops = startRouteWorkers(context, lanes);
  const laneLoops = startLanes(context, own);
  const readings = startReadings(context, listReadings(context, own));

  // A wake-up is a hint. Loops also poll, so that a lost one only delays.
  wakeups.on(TOPICS.due, (subject) => {
    for (const { queue, loop } of [...settlementLoops, ...routeLoops]) {
      if (queue && subjectOf(queue) === subject) loop.wake();
    }
  });
  wakeups.on(TOPICS.answers, (subject) => {
    if (subject !== undefined) void wakeAnswered(context, subject);
  });
  wakeups.on(TOPICS.lanes, (subject) => {
    for (const { loop, lane } of laneLoops) {
      const ofChain = `${lane.chainId}`;
      if (subject === ofChain || subject === `${ofChain}:${lane.address}`) loop.wake();
    }
  });
  return {
    async stop() {
      const loops = [
        ...[settlementLoops, routeLoops, laneLoops].flat().map(({ loop }) => loop),
        ...[waitingLoops, treasuryLoops, screeningLoops, readings].flat(),
      ];
      await Promise.all(loops.map((loop) => loop.stop()));
    },
  };
}

/** Starts the loops of a source chain that wait for something outside its settlements. */
function startWaitingLoops(
  context: SettlerParts,
  settlements: SettlementDeps,
  chainId: number,
): Loop[] {
  return [
    startRoleLoop(context, "settler", {
      name: `unsettled deposits of chain ${chainId}`,
      intervalMs: UNSETTLED_POLL_MS,
      async poll() {
        const mayFollowMore = await followCompleted(settlements, chainId);
        await pollRefunds(settlements, chainId);
        return (await pollUnsettledDeposits(settlements, chainId)) || mayFollowMore;
      },
    }),
    startRoleLoop(context, "settler", {
      name: `refunds by policy of chain ${chainId}`,
      intervalMs: REFUND_POLL_MS,
      async poll() {
        await pollAttestedRefunds(settlements, chainId);
        await announceRefundStates(settlements, chainId);
        return false;
      },
    }),
    startRoleLoop(context, "settler", {
      name: `inventory refills of chain ${chainId}`,
      intervalMs: REFILL_POLL_MS,
      poll: createInventoryPoll(settlements, chainId),
    }),
    startRoleLoop(context, "settler", {
      name: `gas price falls of chain ${chainId}`,
      intervalMs: GAS_POLL_MS,
      poll: createGasPoll(settlements, chainId),
    }),
    startRoleLoop(context, "settler", {
      name: `ends of pauses on chain ${chainId}`,
      intervalMs: HELD_POLL_MS,
      poll: createHeldPoll(settlements, chainId),
    }),
  ];
}

/** Starts the refills of inventories by the treasuries of this process's chains. */
function startTreasuries(
  context: SettlerParts,
  lanes: ReadonlyMap<number, ChainLanes>,
): readonly Loop[] {
  const { config, db, clock, random, log, chains, wakeups, worksOn } = context;
  if (listRefilled(config).length === 0) return [];
  return [...lanes].flatMap(([chainId, { settle }]) => {
    const chain = getChain(chains, chainId);
    if (!chain.treasury || !worksOn(chainId)) return [];
    return startRoleLoop(context, "settler", {
      name: `treasury of chain ${chainId}`,
      intervalMs: TREASURY_POLL_MS,
      poll: createRebalancingPoll({
        config,
        db,
        clock,
        random,
        log: log.child({ chainId }),
        chain,
        chains,
        lanes: settle,
        wakeLanes: (id) => wakeLanes(wakeups, id),
      }),
    });
  });
}

/** Makes what an attestor answered for due at once. If that fails, it is polled after its delay. */
async function wakeAnswered(
  { db, clock, log, wakeups }: SettlerParts,
  subject: string,
): Promise<void> {
  try {
    const id = toHex32(subject);
    for (const { wakeOfAnswer } of ROUTE_MODULES) {
      if (wakeOfAnswer) wakeDue(wakeups, await wakeOfAnswer(db, { id, nowMs: clock.now() }));
    }
  } catch (error) {
    log.debug({ err: error, subject }, "answer not announced, its work is polled");
  }
}

/** Starts the loops that ask the operator's screening, so that a slow service holds up nothing else. */
function startScreening(
  context: SettlerParts,
  settlements: SettlementDeps,
  chainIds: readonly number[],
): readonly Loop[] {
  const { config, http, format } = context;
  if (config.screening === undefined) return [];
  const screen = createScreen(config.screening, { http, display: format.display });
  return chainIds.map((chainId) =>
    startRoleLoop(context, "settler", {
      name: `screening of chain ${chainId}`,
      intervalMs: POLL_MS,
      poll: createScreeningsPoll(settlements, screen, chainId),
    }),
  );
}

/** Returns the chain readings of the settler for metrics. */
function listReadings({ config, chains, worksOn }: SettlerParts, signers: readonly LaneSigner[]) {
  const worked = config.chains.filter(({ chainId }) => worksOn(chainId));
  return worked.map(({ chainId, tokens }) => ({
    chain: getChain(chains, chainId),
    head: false,
    lanes: signers.filter((signer) => signer.chainId === chainId),
    inventory: tokens
      .map(({ address, symbol, inventoryMin }) => ({ token: address, symbol, min: inventoryMin }))
      .filter(({ token }) =>
        config.routes.some(
          (route) =>
            route.fromInventory && route.destChain === chainId && route.destToken === token,
        ),
      ),
  }));
}

/** Starts the loops of every kind of route for the chains that this process works on. */
function startRouteWorkers(
  context: SettlerParts,
  lanes: ReadonlyMap<number, ChainLanes>,
): readonly { readonly queue: Queue | undefined; readonly loop: Loop }[] {
  const { clock, wakeups, worksOn } = context;
  const deps: SettlerDeps = {
    config: context.config,
    db: context.db,
    chains: context.chains,
    endingChains: context.endingChains,
    clock,
    random: context.random,
    log: context.log,
    worksOn,
    attestations: context.attestations,
    attestors: context.attestors,
    prices: context.prices,
    lanes,
    readAddress: remember({ clock, forMs: ADDRESS_MEMO_MS }, (settlementId: string) =>
      readAddressOf(context.db, settlementId),
    ),
    async onChanged(tx, settlementId) {
      await dueSettlements.wake(tx, "id", [settlementId], clock.now());
    },
    onDelivered: (tx, delivered) => recordDelivery(tx, delivered, clock.now()),
    onGivenBack: (tx, settlementId) =>
      recordUndeliveredLock(tx, { settlementId, nowMs: clock.now() }),
    wakeSettlements: (chainId) => wakeDue(wakeups, [{ name: SETTLEMENTS, chainId }]),
    wakeAttestor: (kind) => wakeups.wake(TOPICS.attestations, kind),
    wakeLanes: (chainId, lane) => wakeLanes(wakeups, chainId, lane),
    pollMs: POLL_MS,
  };
  const workers = ROUTE_MODULES.flatMap((module) => module.listSettlerWorkers?.(deps) ?? []);
  return workers
    .filter(({ queue }) => !queue || worksOn(queue.chainId))
    .map(({ name, queue, poll }) => ({
      queue,
      loop: startRoleLoop(context, "settler", { name, poll, intervalMs: POLL_MS }),
    }));
}

/** Starts one loop per lane. Retired lanes are included, since they must finish their open transactions. */
function startLanes(
  context: SettlerParts,
  signers: readonly LaneSigner[],
): readonly { readonly lane: LaneSigner; readonly loop: Loop }[] {
  const { db, clock, random, log, crashPoint, wakeups } = context;
  const readClaimCap = createClaimCapReader(context);
  const wakes = ROUTE_MODULES.flatMap(({ wakeOfSettlements }) => wakeOfSettlements ?? []);
  return signers.map((signer) => {
    const { chainId, purpose } = signer;
    const deps = {
      db,
      chain: getChain(context.chains, chainId),
      endingChain: getChain(context.endingChains, chainId),
      signer,
      clock,
      random,
      log: log.child({ lane: purpose, chainId, account: signer.address }),
      metrics: context.health.metrics,
      crashPoint,
      limits: limitsOf(context.config, signer),
      readClaimCap,
      follows: new Map(),
      waits: createLaneWaits(),
      // In the transaction that records the lane's changes, so that none can be missed after a crash.
      async onChanged(tx: Tx, changed: readonly TransactionFacts[]): Promise<readonly Queue[]> {
        const told = changed.filter((one) => !awaitsFinality(one));
        const queues: Queue[] = [];
        const ofRoutes = settlementsOf(told);
        if (ofRoutes.length > 0) {
          for (const wake of wakes) queues.push(...(await wake(tx, ofRoutes, clock.now())));
        }
        const own = settlementsOf(told.filter(({ intent }) => !OF_DELIVERIES.has(kindOf(intent))));
        if (own.length > 0) {
          queues.push(...(await dueSettlements.wake(tx, "id", own, clock.now())));
        }
        return queues;
      },
      wakeOwners: (queues: readonly Queue[]) => wakeDue(wakeups, queues),
    };
    const loop = startRoleLoop(context, "settler", {
      name: `lane ${purpose} of chain ${chainId}`,
      intervalMs: LANE_POLL_MS,
      pauseMs: () => (deps.waits.isAtRest ? LANE_REST_MS : LANE_POLL_MS),
      wakeGapMs: LANE_GAP_MS,
      log: deps.log,
      poll: () => pollLane(deps),
    });
    return { lane: signer, loop };
  });
}

/** Calls whose outcome is for the delivery, which tells its settlement what matters to that. */
const OF_DELIVERIES: ReadonlySet<IntentKind> = new Set(["deliver", "claim", "return"]);

/** Reports whether nobody has anything to do until a transaction is final: a claim that succeeded. */
function awaitsFinality({ intent, state, mined }: TransactionFacts): boolean {
  return kindOf(intent) === "claim" && state === "mined" && mined?.succeeded === true;
}

function settlementsOf(transactions: readonly TransactionFacts[]): readonly string[] {
  return [...new Set(transactions.flatMap(({ settlementId }) => settlementId ?? []))];
}

/** Limits a batch to a quarter of the signer's daily limit. */
function limitsOf({ chains }: Config, { chainId }: LaneSigner): LaneLimits {
  const chain = chains.find((known) => known.chainId === chainId);
  if (chain?.kind === "svm") return SHORT_LIVED_LANE_LIMITS;
  if (!chain) return BATCHING_LANE_LIMITS;
  const { dailyGasBudget: budget, gasPriceMax } = chain;
  // The signer counts the maximum cost of a batch: a larger one could use up the day and block its nonce.
  const batchCostMax = budget === undefined ? undefined : budget / 4n;
  return { ...BATCHING_LANE_LIMITS, batchCostMax, gasPriceMax };
}

/** Returns the lanes for new work. Throws CONFIG_MISSING if the signer lacks a lane for a purpose of a configured chain. */
function groupLanes(
  { chains }: Config,
  signers: readonly LaneSigner[],
): ReadonlyMap<number, ChainLanes> {
  const known = new Set(chains.map(({ chainId }) => chainId));
  // Such a lane would never be polled, and its open transactions never finished.
  const stranger = signers.find(({ chainId }) => !known.has(chainId));
  if (stranger) throw lacking(`expected no lane of chain ${stranger.chainId}`);
  return new Map(
    chains.map((chain) => {
      const { chainId } = chain;
      // A wallet on Solana is a key and is not deployed, and no nonce orders its claims behind sweeps.
      const isOptional = (purpose: LanePurpose) =>
        chain.kind === "svm"
          ? purpose === "deploy" || purpose === "claim"
          : purpose === "claim" && chain.lanes.claim.length === 0;
      const lanesFor = (purpose: LanePurpose) => {
        const mine = signers.filter((lane) => lane.chainId === chainId && lane.purpose === purpose);
        const active = mine.filter(({ retired }) => !retired).map(({ address }) => address);
        if (active.length > 0 || isOptional(purpose)) return active;
        throw lacking(`expected a lane to ${purpose} on chain ${chainId}`);
      };
      return [
        chainId,
        {
          deploy: lanesFor("deploy"),
          settle: lanesFor("settle"),
          deliver: lanesFor("deliver"),
          claim: lanesFor("claim"),
        },
      ];
    }),
  );
}

function lacking(what: string): OperatingError {
  return new OperatingError(
    "CONFIG_MISSING",
    `signers.settler: ${what}; does it run with this configuration?`,
  );
}
