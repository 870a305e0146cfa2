/** Opens a lane over a capricious node, with everything that it recorded. */
import { createMetrics } from "../../src/telemetry/metrics.ts";
import type { Db } from "../../src/db/schema.ts";
import { type Hex, toEvmAddress } from "../../src/core/hex.ts";
import {
  createLaneWaits,
  DEFAULT_LANE_LIMITS,
  type LaneDeps,
} from "../../src/transactions/lane-deps.ts";
import { pollLane, submitIntent } from "../../src/transactions/lane.ts";
import type { IntentName, TransactionFacts } from "../../src/transactions/types.ts";
import {
  createCapriciousNode,
  createCountingRandom,
  createKeepingLog,
  createReadableSigner,
  createStillClock,
  createStrictChain,
  LANE,
} from "./doubles.ts";

const TARGET = toEvmAddress(`0x${"2b".repeat(20)}`);

export function openLaneOn(db: Db) {
  const node = createCapriciousNode();
  const signer = createReadableSigner(2);
  const clock = createStillClock();
  const random = createCountingRandom();
  const metrics = createMetrics();
  const { log, lines } = createKeepingLog();
  /** Changes reported to owners, and the number of changes at each wake-up. */
  const changes: string[] = [];
  const told: TransactionFacts[] = [];
  const wakes: number[] = [];
  const crashPoints: string[] = [];
  const deps: LaneDeps = {
    db,
    chain: createStrictChain(node.members),
    signer,
    clock,
    random,
    log,
    metrics,
    crashPoint: (name) => void crashPoints.push(name),
    onChanged: async (_tx, transactions) => {
      changes.push(...transactions.map(({ intent, state }) => `${intent} ${state}`));
      told.push(...transactions);
      return [];
    },
    wakeOwners: () => void wakes.push(changes.length),
    limits: DEFAULT_LANE_LIMITS,
    follows: new Map(),
    waits: createLaneWaits(),
  };
  const submit = (intent: IntentName, data: Hex = "0x01") =>
    db.transaction().execute((tx) =>
      submitIntent(tx, random, {
        chainId: 2,
        lane: LANE,
        intent,
        settlementId: null,
        call: { to: TARGET, data, value: 0n },
        gas: 21_000n,
      }),
    );
  const poll = (changed: Partial<LaneDeps> = {}) => pollLane({ ...deps, ...changed });
  /** Lets the lowest nonce wait: the lane checks it once, then a block passes without it. */
  const stick = async (
    ms = DEFAULT_LANE_LIMITS.replaceAfterMs,
    changed: Partial<LaneDeps> = {},
  ) => {
    clock.advance(DEFAULT_LANE_LIMITS.resendAfterMs);
    await poll(changed);
    node.passBlock();
    clock.advance(ms - DEFAULT_LANE_LIMITS.resendAfterMs);
  };
  return {
    stick,
    node,
    signer,
    clock,
    deps,
    metrics,
    lines,
    changes,
    told,
    wakes,
    crashPoints,
    submit,
    poll,
  };
}
