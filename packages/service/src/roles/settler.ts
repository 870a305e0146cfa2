/** The settler: settlements, deliveries from inventory, and the lanes that send for them. Holds the lane keys. */
import type { ChainConfig } from "../config/load.ts";
import type { Tx } from "../db/schema.ts";
import { type Loop, startLoop } from "../jobs/loop.ts";
import {
  type DeliveryDeps,
  lookAtDueDeliveries,
  wakeDeliveryOfSettlement,
} from "../routes/index.ts";
import {
  followCompleted,
  lookAtDueSettlements,
  lookAtUnsettled,
  lookForRefills,
  noteGivenBack,
  putOffSettlement,
} from "../settlements/index.ts";
import { createEvmLaneSigner } from "../signers/evm/lane-signer.ts";
import type { LaneSigner } from "../signers/port.ts";
import { DEFAULT_LANE_LIMITS, lookAtLane } from "../transactions/index.ts";
import { getChain, type RoleContext, type RunningRole, TOPICS } from "./context.ts";
import { createSettlementDeps, POLL_MS } from "./settlement-deps.ts";

/** Deployments, settlements and payouts use different lanes, so that one stuck nonce does not stop all. */
interface ChainLanes {
  readonly deploy: LaneSigner;
  /** Settlements and claims: the relayer. */
  readonly settle: LaneSigner;
  readonly deliver: LaneSigner;
}

const LANE_POLL_MS = 250;
const UNSETTLED_POLL_MS = 5_000;
const REFILL_POLL_MS = 5_000;

export function startSettler(context: RoleContext): RunningRole {
  const { clock, log, wakeups } = context;
  const lanes = new Map(context.config.chains.map((chain) => [chain.chainId, openLanes(chain)]));
  const settlements = createSettlementDeps(
    context,
    new Map(
      [...lanes].map(([chainId, lane]) => [
        chainId,
        { deploy: lane.deploy.address, settle: lane.settle.address },
      ]),
    ),
  );
  const settlementLoops = [...lanes.keys()].map((chainId) =>
    startLoop({
      name: `settlements of chain ${chainId}`,
      intervalMs: POLL_MS,
      clock,
      log,
      look: () => lookAtDueSettlements(settlements, chainId),
    }),
  );
  const unsettledLoop = startLoop({
    name: "unsettled deposits",
    intervalMs: UNSETTLED_POLL_MS,
    clock,
    log,
    async look() {
      await followCompleted(settlements);
      return lookAtUnsettled(settlements);
    },
  });
  const refillLoop = startLoop({
    name: "refills of inventory",
    intervalMs: REFILL_POLL_MS,
    clock,
    log,
    async look() {
      await lookForRefills(settlements);
      return false;
    },
  });
  const deliveryLoops = startDeliveries(context, lanes);
  const laneLoops = startLanes(context, lanes);

  const wakeAll = (loops: readonly Loop[]) => () => {
    for (const loop of loops) loop.wake();
  };
  wakeups.on(TOPICS.settlements, wakeAll(settlementLoops));
  wakeups.on(TOPICS.deliveries, wakeAll(deliveryLoops));
  wakeups.on(TOPICS.lanes, wakeAll(laneLoops));
  return {
    async stop() {
      const loops = [...settlementLoops, unsettledLoop, refillLoop, ...deliveryLoops, ...laneLoops];
      await Promise.all(loops.map((loop) => loop.stop()));
    },
  };
}

function startDeliveries(
  context: RoleContext,
  lanes: ReadonlyMap<number, ChainLanes>,
): readonly Loop[] {
  const { config, db, chains, clock, random, log, wakeups } = context;
  const deps: DeliveryDeps = {
    db,
    chains,
    clock,
    random,
    log,
    lanes: new Map(
      [...lanes].map(([chainId, lane]) => [
        chainId,
        { deliver: lane.deliver.address, claim: lane.settle.address },
      ]),
    ),
    deliveryConfirmations: new Map(
      config.chains.map((chain) => [chain.chainId, chain.deliveryConfirmations]),
    ),
    payoutWindowS: config.payoutWindowS,
    onChanged: (tx, settlementId) => putOffSettlement(tx, settlementId, clock.now()),
    onGivenBack: (tx, settlementId) => noteGivenBack(tx, { settlementId, nowMs: clock.now() }),
    wakeSettlements: () => wakeups.wake(TOPICS.settlements),
    wakeAttestor: () => wakeups.wake(TOPICS.attestations),
    wakeLanes: () => wakeups.wake(TOPICS.lanes),
    pollMs: POLL_MS,
  };
  return [...lanes.keys()].map((destChain) =>
    startLoop({
      name: `deliveries to chain ${destChain}`,
      intervalMs: POLL_MS,
      clock,
      log,
      look: () => lookAtDueDeliveries(deps, destChain),
    }),
  );
}

function startLanes(context: RoleContext, lanes: ReadonlyMap<number, ChainLanes>): Loop[] {
  const { db, clock, log, crashPoint, wakeups } = context;
  const loops: Loop[] = [];
  for (const [chainId, chainLanes] of lanes) {
    const chain = getChain(context.chains, chainId);
    for (const [purpose, signer] of Object.entries<LaneSigner>({ ...chainLanes })) {
      const deps = {
        db,
        chain,
        signer,
        purpose,
        clock,
        log: log.child({ lane: purpose, chainId }),
        crashPoint,
        limits: DEFAULT_LANE_LIMITS,
        async onChanged(tx: Tx, { settlementId }: { readonly settlementId: string | null }) {
          if (settlementId === null) return;
          await wakeDeliveryOfSettlement(tx, settlementId, clock.now());
          await putOffSettlement(tx, settlementId, clock.now());
        },
        wakeOwners() {
          wakeups.wake(TOPICS.settlements);
          wakeups.wake(TOPICS.deliveries);
        },
      };
      loops.push(
        startLoop({
          name: `lane ${purpose} of chain ${chainId}`,
          intervalMs: LANE_POLL_MS,
          clock,
          log,
          look: () => lookAtLane(deps),
        }),
      );
    }
  }
  return loops;
}

function openLanes(chain: ChainConfig): ChainLanes {
  const { chainId, evmChainId } = chain;
  const open = (purpose: keyof ChainLanes) =>
    createEvmLaneSigner({ key: chain.lanes[purpose], chainId, evmChainId });
  return { deploy: open("deploy"), settle: open("settle"), deliver: open("deliver") };
}
