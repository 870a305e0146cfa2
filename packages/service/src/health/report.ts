/** Renders the metrics of a process and the readiness of its roles. */
import type { Clock } from "../core/ports.ts";
import { chainLabel, type Metrics } from "../telemetry/metrics.ts";
import type { OpenRowGauge } from "../telemetry/row-gauge.ts";
import type { ReadingsOfChain } from "./readings.ts";
import type { Row, RowName, Rows } from "./rows.ts";
import { SCANNER_LATE_MS, type Vitals } from "./vitals.ts";

/** Whether a role can work, and why not. */
export interface RoleHealth {
  readonly ok: boolean;
  readonly reason: string | null;
}

/** Null while the node's newest block, or what was scanned, is not known. */
interface Lag {
  /** Blocks between the newest and the scanned. */
  readonly lagBlocks: number | null;
  /** Blocks between the newest and the final. */
  readonly finalLagBlocks: number | null;
}

export interface ChainHealth extends Lag {
  /** Seconds since a block was scanned. */
  readonly lastBlockSeconds: number;
}

/** A state that an operator must check and that no restart would change. */
export interface Warning {
  /** The metric without its prefix: `audit_breaches`, `audit_quarantines` or `claims_overdue`. */
  readonly kind: string;
  readonly chain: string;
  readonly count: number;
}

export interface Readiness {
  /** True when every role of the process can work. Warnings do not count. */
  readonly ok: boolean;
  /** Halted chains, wallets in quarantine and overdue claims, by the roles that count them. */
  readonly warnings: readonly Warning[];
  readonly roles: Readonly<Record<string, RoleHealth>>;
  /** The chains whose scanner is in this process. */
  readonly chains: Readonly<Record<string, ChainHealth>>;
}

export interface ReportDeps {
  readonly metrics: Metrics;
  /** Gauges of the route kinds; `rows` reads their rows. */
  readonly gauges: readonly OpenRowGauge[];
  readonly vitals: Vitals;
  readonly rows: Rows;
  readonly clock: Clock;
  /** Lanes and inventories of this process: how metrics name them. */
  readonly readings: readonly ReadingsOfChain[];
  /** The pools of this process and their names. */
  readonly pools: readonly (readonly [
    name: string,
    pool: {
      readonly totalCount: number;
      readonly idleCount: number;
      readonly waitingCount: number;
    },
  ])[];
  readonly countSockets: () => number | undefined;
}

/** A database that takes longer counts as away. */
const DATABASE_TIMEOUT_MS = 3_000;

/**
 * Returns the metrics in the text format of Prometheus. Without a database it omits the gauges of rows and sets
 * `sluice_database_up` to 0.
 */
export async function renderMetrics(deps: ReportDeps): Promise<string> {
  const { metrics, vitals, pools, countSockets } = deps;
  const rows = await readRows(deps);
  metrics.databaseUp.set(rows ? 1 : 0);
  showRows(deps, rows);
  for (const role of vitals.roles) {
    metrics.roleRunning.set({ role }, vitals.isStarted(role) ? 1 : 0);
  }
  for (const [chainId, scanner] of vitals.scanners) {
    metrics.scannerBlockAge.set({ chain: chainLabel(chainId) }, scanner.idleMs() / 1000);
  }
  await showGaps(deps);
  for (const [name, pool] of pools) {
    metrics.databaseConnections.set({ pool: name, state: "idle" }, pool.idleCount);
    metrics.databaseConnections.set(
      { pool: name, state: "busy" },
      pool.totalCount - pool.idleCount,
    );
    metrics.databaseWaiting.set({ pool: name }, pool.waitingCount);
  }
  const sockets = countSockets();
  if (sockets !== undefined) metrics.streamSockets.set(sockets);
  return metrics.registry.metrics();
}

/** Returns whether each role of this process can work, and the lag of its scanners. */
export async function reportReadiness(deps: ReportDeps): Promise<Readiness> {
  const { vitals } = deps;
  const rows = await readRows(deps);
  showRows(deps, rows);
  const lags = await showGaps(deps);
  const roles = Object.fromEntries(
    vitals.roles.map((role) => {
      const reason = rows ? findFailure(vitals, role) : "the database does not answer";
      return [role, { ok: reason === null, reason }];
    }),
  );
  const chains = Object.fromEntries(
    [...vitals.scanners].map(([chainId, scanner]) => {
      const chain = chainLabel(chainId);
      const lastBlockSeconds = Math.round(scanner.idleMs() / 1000);
      const lag = lags.get(chain) ?? { lagBlocks: null, finalLagBlocks: null };
      return [chain, { ...lag, lastBlockSeconds }];
    }),
  );
  const ok = Object.values(roles).every((role) => role.ok);
  return { ok, warnings: listWarnings(deps, rows ?? []), roles, chains };
}

/** Rows of our own that are a warning when they count something, with the metric that shows them. */
const WARNINGS: ReadonlyMap<string, string> = new Map([
  ["breaches", "audit_breaches"],
  ["quarantines", "audit_quarantines"],
  ["governance", "governance_unexpected_changes"],
]);

function listWarnings({ gauges }: ReportDeps, rows: readonly Row[]): readonly Warning[] {
  const warnsOf = new Map(gauges.map((gauge) => [gauge.name, gauge.warnsOf]));
  return rows.flatMap(({ name, chainId, label, value: count }) => {
    const kind =
      WARNINGS.get(name) ?? (label !== null && warnsOf.get(name) === label ? name : null);
    if (kind === null || chainId === null || count === 0) return [];
    return [{ kind, chain: chainLabel(chainId), count }];
  });
}

/** Returns the reason that a role cannot work, or null. */
function findFailure(vitals: Vitals, role: string): string | null {
  if (!vitals.isStarted(role)) return "not started: it waits for the database, or another process";
  const [overdue] = vitals.listOverdue(role);
  if (overdue) {
    const seconds = Math.round(overdue.forMs / 1000);
    return `the loop "${overdue.name}" has finished no poll for ${seconds} s`;
  }
  if (role !== "scanner") return null;
  for (const [chainId, scanner] of vitals.scanners) {
    const chain = chainLabel(chainId);
    if (scanner.behindMs() > SCANNER_LATE_MS) {
      return `the scanner of ${chain} is behind for ${Math.round(scanner.behindMs() / 1000)} s`;
    }
    if (scanner.idleMs() > SCANNER_LATE_MS) {
      return `no block of ${chain} for ${Math.round(scanner.idleMs() / 1000)} s`;
    }
  }
  return null;
}

/** Returns the rows, or null when the database does not answer in time. */
async function readRows({ rows, vitals, clock }: ReportDeps): Promise<readonly Row[] | null> {
  const waiting = new AbortController();
  const started = vitals.roles.filter((role) => vitals.isStarted(role));
  try {
    // The loops query the database too and log its error.
    return await Promise.race([
      rows.read(started).catch(() => null),
      clock.sleep(DATABASE_TIMEOUT_MS, waiting.signal).then(() => null),
    ]);
  } finally {
    waiting.abort();
  }
}

/** Sets the gauges of rows. Resets them first: values without a row disappear, and all while the database is away. */
function showRows({ metrics, gauges, readings }: ReportDeps, rows: readonly Row[] | null): void {
  for (const gauge of [
    metrics.scannerScanned,
    metrics.scannerFinal,
    metrics.settlements,
    metrics.settlementsOldest,
    metrics.inventoryReserved,
    metrics.laneOpen,
    metrics.laneQueued,
    metrics.laneOldest,
    metrics.settlementsHeld,
    metrics.laneStuck,
    metrics.laneNextNonce,
    metrics.auditBreaches,
    metrics.auditQuarantines,
    metrics.auditUnproved,
    metrics.auditAge,
    metrics.governanceUnexpected,
    metrics.governanceAge,
    ...gauges,
  ]) {
    gauge.reset();
  }
  if (!rows) return;
  const lanes = readings.flatMap(({ chain, lanes: ofChain }) =>
    ofChain.map(({ purpose, address }) => {
      return { chain: chainLabel(chain.chainId), purpose, account: address };
    }),
  );
  const laneOf = (chain: string, account: string) =>
    lanes.find((lane) => lane.chain === chain && lane.account === account) ?? {
      chain,
      purpose: "unknown",
      account,
    };
  // Lanes without open transactions show zero.
  for (const lane of lanes) {
    metrics.laneOpen.set(lane, 0);
    metrics.laneQueued.set(lane, 0);
    metrics.laneStuck.set(lane, 0);
  }
  const inventories = readings.flatMap(({ chain, inventory }) =>
    inventory.map((held) => ({ chain: chainLabel(chain.chainId), ...held })),
  );
  for (const { chain, symbol, min } of inventories) {
    metrics.inventoryReserved.set({ chain, token: symbol }, 0);
    if (min !== undefined) metrics.inventoryMin.set({ chain, token: symbol }, Number(min));
  }
  const oldest = new Map<string, number>();
  type Show = (row: Row, chain: string, label: string) => void;
  const own: Readonly<Record<RowName, Show>> = {
    scanned: ({ value }, chain) => metrics.scannerScanned.set({ chain }, value),
    final: ({ value }, chain) => metrics.scannerFinal.set({ chain }, value),
    settlements({ value, oldestS }, chain, status) {
      metrics.settlements.set({ chain, status }, value);
      oldest.set(chain, Math.max(oldest.get(chain) ?? 0, oldestS ?? 0));
    },
    held: ({ value }, chain, reason) => metrics.settlementsHeld.set({ chain, reason }, value),
    reserved({ value }, chain, address) {
      const held = inventories.find((known) => known.chain === chain && known.token === address);
      metrics.inventoryReserved.set({ chain, token: held?.symbol ?? "unknown" }, value);
    },
    nonces({ value, oldestS }, chain, account) {
      const lane = laneOf(chain, account);
      metrics.laneOpen.set(lane, value);
      metrics.laneOldest.set(lane, oldestS ?? 0);
    },
    queued: ({ value }, chain, account) => metrics.laneQueued.set(laneOf(chain, account), value),
    stuck: ({ value }, chain, account) => metrics.laneStuck.set(laneOf(chain, account), value),
    next_nonce({ value }, chain, account) {
      // Lanes whose keys are gone from the configuration have their row permanently.
      const lane = lanes.find((known) => known.chain === chain && known.account === account);
      if (lane) metrics.laneNextNonce.set(lane, value);
    },
    breaches: ({ value }, chain) => metrics.auditBreaches.set({ chain }, value),
    quarantines: ({ value }, chain) => metrics.auditQuarantines.set({ chain }, value),
    unproved: ({ value }, chain) => metrics.auditUnproved.set({ chain }, value),
    audited: ({ value }, chain) => metrics.auditAge.set({ chain }, value),
    governance: ({ value }, chain) => metrics.governanceUnexpected.set({ chain }, value),
    watched: ({ value }, chain) => metrics.governanceAge.set({ chain }, value),
  };
  const show = new Map<string, Show>([
    ...Object.entries(own),
    ...gauges.map((gauge): [string, Show] => [
      gauge.name,
      ({ chainId, value, oldestS }, chain, label) =>
        gauge.show(chainId === null ? [label] : [chain, label], value, oldestS ?? 0),
    ]),
  ]);
  for (const row of rows) {
    const chain = row.chainId === null ? "" : chainLabel(row.chainId);
    show.get(row.name)?.(row, chain, row.label ?? "");
  }
  for (const [chain, age] of oldest) metrics.settlementsOldest.set({ chain }, age);
}

/** Sets the lag of scanners behind the newest block read, and the gap between used and assigned nonces. */
async function showGaps({ metrics }: ReportDeps): Promise<ReadonlyMap<string, Lag>> {
  const lags = new Map<string, Lag>();
  for (const gauge of [metrics.scannerLag, metrics.scannerFinalLag, metrics.laneNonceGap]) {
    gauge.reset();
  }
  const { values: heads } = await metrics.scannerHead.get();
  const { values: scanned } = await metrics.scannerScanned.get();
  const { values: final } = await metrics.scannerFinal.get();
  for (const { labels, value: head } of heads) {
    const chain = String(labels.chain);
    // The head is read on a schedule, so the scanner may be past it.
    const behind = (heights: typeof heads) => {
      const height = heights.find((known) => known.labels.chain === chain);
      return height ? Math.max(0, head - height.value) : null;
    };
    const lag = { lagBlocks: behind(scanned), finalLagBlocks: behind(final) };
    lags.set(chain, lag);
    if (lag.lagBlocks !== null) metrics.scannerLag.set({ chain }, lag.lagBlocks);
    if (lag.finalLagBlocks !== null) metrics.scannerFinalLag.set({ chain }, lag.finalLagBlocks);
  }
  const { values: used } = await metrics.laneChainNonce.get();
  for (const { labels, value: next } of (await metrics.laneNextNonce.get()).values) {
    const known = used.find(
      (one) => one.labels.account === labels.account && one.labels.chain === labels.chain,
    );
    if (known) metrics.laneNonceGap.set(labels, next - known.value);
  }
  return lags;
}
