/** Monitoring of a process: the loops of its roles, chain readings for metrics, and the listener. */
import type { Config } from "../config/index.ts";
import { OperatingError } from "../core/errors.ts";
import type { Clock } from "../core/ports.ts";
import type { Db } from "../db/schema.ts";
import { type Loop, startLoop } from "../jobs/loop.ts";
import { BACKUP_GAUGES } from "../backups/index.ts";
import { MOVE_GAUGES } from "../rebalancing/index.ts";
import { ROUTE_GAUGES } from "../routes/index.ts";
import { WEBHOOK_GAUGES } from "../webhooks/index.ts";
import { SignerRefusal } from "../signers/refusal.ts";
import type { HeldSigners } from "../signers/server.ts";
import type { Log } from "../telemetry/log.ts";
import { openRowGauge } from "../telemetry/row-gauge.ts";
import {
  chainLabel,
  collectProcessMetrics,
  createMetrics,
  type Metrics,
  startCounters,
} from "../telemetry/metrics.ts";
import type { ServicePools } from "./database.ts";
import {
  createRows,
  createVitals,
  readChain,
  type ReadingsOfChain,
  startHealthServer,
  type Vitals,
} from "../health/index.ts";

/** Gauges over rows, of every role. */
const GAUGES = [...ROUTE_GAUGES, ...MOVE_GAUGES, ...WEBHOOK_GAUGES, ...BACKUP_GAUGES];

/** Receives what the roles report about themselves. */
export interface Health {
  readonly metrics: Metrics;
  readonly vitals: Vitals;
  /** Chain values that the roles of this process show; each role adds its own. */
  readonly readings: ReadingsOfChain[];
  /** Set by the role that has the stream. */
  countSockets: () => number | undefined;
}

/** Interval at which heads, balances and inventories are read for metrics. */
const READINGS_POLL_MS = 15_000;

/** Creates the metrics and vitals of a process, before its roles start: a standby reports too. */
export function createHealth(config: Config, clock: Clock, roles: readonly string[]): Health {
  const metrics = createMetrics();
  startCounters(
    metrics,
    config.chains.map(({ chainId }) => chainId),
  );
  return {
    metrics,
    vitals: createVitals(clock, roles),
    readings: [],
    countSockets: () => undefined,
  };
}

/** The parts that monitoring needs, as every role has them. */
interface HealthContext {
  readonly config: Config;
  readonly clock: Clock;
  readonly log: Log;
  readonly health: Health;
}

/** Starts a loop of a role, observed by metrics and health. */
export function startRoleLoop(
  { clock, health, ...context }: HealthContext,
  role: string,
  options: {
    readonly name: string;
    readonly intervalMs: number;
    readonly wakeGapMs?: number;
    readonly pauseMs?: () => number;
    readonly log?: Log;
    readonly poll: () => Promise<boolean>;
  },
): Loop {
  const { name, intervalMs, wakeGapMs, pauseMs, log = context.log, poll } = options;
  const finished = health.vitals.watchLoop({ role, name, intervalMs });
  const count = countPolls(health.metrics, name);
  return startLoop({
    name,
    intervalMs,
    wakeGapMs,
    pauseMs,
    clock,
    log,
    poll,
    onPoll(ended) {
      count(ended);
      if (!ended.failed) finished();
    },
  });
}

/** Starts a loop without which the role still works: its polls are counted, and failures do not make the role unready. */
export function startSideLoop(
  { clock, health, ...context }: Pick<HealthContext, "clock" | "health" | "log">,
  {
    name,
    intervalMs,
    log = context.log,
    poll,
  }: {
    readonly name: string;
    readonly intervalMs: number;
    readonly log?: Log;
    readonly poll: () => Promise<void>;
  },
): Loop {
  return startLoop({
    name,
    intervalMs,
    clock,
    log,
    onPoll: countPolls(health.metrics, name),
    async poll() {
      await poll();
      return false;
    },
  });
}

/** Starts the loops that read chains for metrics and for the console, if either is served. */
export function startReadings(
  context: HealthContext,
  readings: readonly ReadingsOfChain[],
): readonly Loop[] {
  const { config, health } = context;
  if (!config.telemetry && !config.console) return [];
  health.readings.push(...readings);
  return readings.map((wanted) =>
    startSideLoop(context, {
      name: `readings of chain ${wanted.chain.chainId}`,
      intervalMs: READINGS_POLL_MS,
      poll: () => readChain(health.metrics, wanted),
    }),
  );
}

/** Counts the polls of a loop. The failures begin at zero, so that an alert sees the first one. */
function countPolls({ pollSeconds, pollFailures }: Metrics, loop: string) {
  pollFailures.inc({ loop }, 0);
  return ({ failed, durationMs }: { readonly failed: boolean; readonly durationMs: number }) => {
    pollSeconds.observe({ loop }, durationMs / 1000);
    if (failed) pollFailures.inc({ loop });
  };
}

/** Wraps signers so that their refusals are counted. */
export function countRefusals<Signers extends HeldSigners>(
  { signerRefusals }: Metrics,
  signers: Signers,
): Signers {
  // Only refusals count: a signer that is unreachable, or that defers, decides nothing.
  const count = async <Signed>(chainId: number, purpose: string, sign: () => Promise<Signed>) => {
    try {
      return await sign();
    } catch (error) {
      if (error instanceof SignerRefusal)
        signerRefusals.inc({ chain: chainLabel(chainId), purpose });
      throw error;
    }
  };
  const lanes = signers.lanes.map((lane) => {
    const { chainId, purpose } = lane;
    return {
      ...lane,
      sign: (...args: Parameters<typeof lane.sign>) =>
        count(chainId, purpose, () => lane.sign(...args)),
    };
  });
  const { attestor } = signers;
  if (!attestor) return { ...signers, lanes };
  return {
    ...signers,
    lanes,
    attestor: {
      ...attestor,
      signDelivery: (destChain, order) =>
        count(destChain, "attest", () => attestor.signDelivery(destChain, order)),
      signClaim: (srcChain, claim) =>
        count(srcChain, "attest", () => attestor.signClaim(srcChain, claim)),
      signReturn: (srcChain, order) =>
        count(srcChain, "attest", () => attestor.signReturn(srcChain, order)),
      signPrice: (srcChain, order) =>
        count(srcChain, "attest", () => attestor.signPrice(srcChain, order)),
      signRefund: (chainId, proof) =>
        count(chainId, "attest", () => attestor.signRefund(chainId, proof)),
    },
  };
}

/** Serves metrics and health, if the configuration has a listener for them. Throws CONFIG_MISSING if it cannot listen. */
export async function serveHealth(
  { config, clock, log, health }: HealthContext,
  { db, pools }: { readonly db: Db; readonly pools: ServicePools["all"] },
): Promise<{ readonly url: string; stop(): Promise<void> } | undefined> {
  const { telemetry } = config;
  if (!telemetry) return undefined;
  const { metrics, vitals, readings } = health;
  collectProcessMetrics(metrics);
  const deps = {
    metrics,
    vitals,
    readings,
    gauges: GAUGES.map((gauge) => openRowGauge(metrics.registry, gauge)),
    rows: createRows({ db, clock, gauges: GAUGES }),
    clock,
    pools: [...pools].map(([name, { pool }]) => [name, pool] as const),
    countSockets: () => health.countSockets(),
  };
  try {
    return await startHealthServer(deps, { ...telemetry, hosts: config.telemetryHosts, log });
  } catch (cause) {
    throw new OperatingError(
      "CONFIG_MISSING",
      `telemetry.port: expected a free port, ${telemetry.host}:${telemetry.port} is not available.`,
      { cause },
    );
  }
}
