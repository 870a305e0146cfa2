/** Starts roles in one process: all of them on a laptop and in the sandbox, or some of them per machine. */
import {
  compareConfigs,
  type Config,
  ROLE_NAMES,
  type RoleName,
  withoutChains,
} from "../config/index.ts";
import { KNOWN_CHAINS } from "../core/chain-registry.ts";
import { claimRoles, EXCLUSIVE_ROLES } from "../db/instance.ts";
import { createWakeups, type Wakeups } from "../jobs/wakeups.ts";
import type { Examinations } from "../console/index.ts";
import { appendToLog } from "../operators/index.ts";
import {
  createIndexRequests,
  createRefundDesk,
  type SettlementDeps,
} from "../settlements/index.ts";
import { createLog, type Log } from "../telemetry/log.ts";
import { API_PARTS, type ApiContext, startApi, startQuoteServer } from "./api.ts";
import { createChains } from "./chains.ts";
import { CONSOLE_PARTS, startConsole } from "./console.ts";
import { type RoleContext, takeParts } from "./context.ts";
import { openPools, openServiceDatabase } from "./database.ts";
import {
  checkChains,
  findReader,
  type Generation,
  listRetired,
  startGeneration,
} from "./generation.ts";
import { createHealth, serveHealth, type Health } from "./health.ts";
import { askEarly, type AskPassphrase } from "./key-opener.ts";
import { createNodeMeter } from "./node-meter.ts";
import { createCommandTraffic } from "./command-traffic.ts";
import { createReload } from "./reload.ts";
import { createQuoter, QUOTER_PARTS } from "./quoter.ts";
import { createSettlementDeps, INTAKE_PARTS, listRefundLanes } from "./settlement-deps.ts";
import { systemClock } from "./system-ports.ts";
import { readVersion } from "./version.ts";

/** A process with running roles. */
export interface RunningService {
  /** Undefined without the role `api`. */
  readonly apiUrl: string | undefined;
  /** Undefined without the role `quoter`. */
  readonly quoteUrl: string | undefined;
  /** Origin of the operators' console; undefined if it is not served. */
  readonly consoleUrl: string | undefined;
  /** Base URL of metrics and health; undefined if the configuration has no listener for them. */
  readonly telemetryUrl: string | undefined;
  /**
   * Continues with another configuration, if only settings differ that may change while the process runs; logs the outcome.
   * Workers end after their current polls and start again; listeners, connections and the claim on the roles stay.
   * `read` throws where the configuration has a mistake; `operator` is on record for what changed.
   */
  reload(read: () => Config, operator: string): Promise<void>;
  /** Stops every role, then closes the database connections and the embedded server. */
  stop(): Promise<void>;
}

/**
 * Starts the roles. If a part cannot start, stops the parts that were started before it.
 * @throws OperatingError whose message names the setting to correct.
 */
export async function startRoles(
  config: Config,
  options: {
    readonly roles: readonly RoleName[];
    /** Chains that scanner and settler of this process work on; all of the configuration if undefined. */
    readonly workedChains?: readonly number[] | undefined;
    readonly standby: boolean;
    readonly askPassphrase: AskPassphrase;
    /** What operators may run from the console. */
    readonly examinations: Examinations;
  },
): Promise<RunningService> {
  const { roles, workedChains, examinations } = options;
  // First of all: later the process may be a standby without a person at its terminal.
  const askPassphrase = await askEarly(config, options.askPassphrase);
  const log = createLog({ level: config.logLevel, role: isWhole(roles) ? "all" : roles.join(",") });
  const health = createHealth(config, systemClock, roles);
  const cleanups: Cleanups = [];
  if (config.tracing) cleanups.push(await startTraces(config.tracing, roles));
  // In reverse order: roles end before the connections that they use.
  const end = async () => {
    for (const cleanup of cleanups.splice(0).toReversed()) await cleanup();
  };
  try {
    const given = { ...options, config, log, health, cleanups };
    const { pools, wakeups, telemetryUrl } = await openShared(given);
    const nodeMeter = createNodeMeter();
    const lasting = { roles, workedChains, log, health, askPassphrase, pools, wakeups, nodeMeter };
    let running = { config, generation: await startGeneration(lasting, config) };
    cleanups.push(() => running.generation.stop());
    const servers = await startServers(running.generation, { ...given, wakeups, examinations });
    cleanups.push(() => servers.stop());

    // Half replaced, a process would look alive and do nothing: its supervisor starts it again.
    const endProcess = (error: unknown): never => {
      log.fatal({ err: error }, "configuration replaced in part, stopping");
      return process.exit(1);
    };
    const startWith = async (other: Config) => {
      running = { config: other, generation: await startGeneration(lasting, other) };
    };
    const goOn = async (next: Config) => {
      const before = running.config;
      await assertNodes(next, log);
      await running.generation.stop().catch(endProcess);
      let refusal: unknown = null;
      try {
        await startWith(next);
      } catch (error) {
        refusal = error;
        await startWith(before).catch(endProcess);
      }
      await servers.replace(running.generation).catch(endProcess);
      if (refusal !== null) throw refusal;
    };
    const compare = async (next: Config) => {
      const retired = await listRetired(lasting);
      // A chain that was retired may leave the file.
      return compareConfigs(withoutChains(running.config, retired), withoutChains(next, retired));
    };
    const record = async (changed: readonly string[], operator: string) => {
      // An attestor with a user of its own may not write the log.
      const reader = findReader(roles);
      if (!reader) return;
      const line = { operator, action: "change configuration", entry: { roles, changed } };
      await pools
        .dbOf(reader)
        .transaction()
        .execute((tx) => appendToLog(tx, line));
    };
    const reload = createReload({ log, health, compare, goOn, record });
    const stop = async () => {
      await reload.end();
      await end();
    };
    return { ...servers.urls, telemetryUrl, reload: reload.ask, stop };
  } catch (error) {
    await end();
    throw error;
  }
}

/** Starts sending traces. Loads OpenTelemetry's exporter only here: most processes have none. */
async function startTraces(
  tracing: NonNullable<Config["tracing"]>,
  roles: readonly RoleName[],
): Promise<() => Promise<void>> {
  const { startTracing } = await import("../telemetry/tracing.ts");
  const role = isWhole(roles) ? "all" : roles.join(",");
  const { stop } = startTracing(tracing, { role, version: readVersion() });
  return stop;
}

/** Opened resources in order; they are closed in reverse. */
type Cleanups = (() => Promise<void>)[];

/** A process whose roles are being started. */
interface StartingProcess {
  readonly config: Config;
  readonly roles: readonly RoleName[];
  readonly workedChains?: readonly number[] | undefined;
  readonly standby: boolean;
  readonly log: Log;
  readonly health: Health;
  readonly cleanups: Cleanups;
}

function isWhole(roles: readonly RoleName[]): boolean {
  return roles.length === ROLE_NAMES.length;
}

/** Opens the database, the listener of metrics, the claim on the exclusive roles, and the wake-ups. */
async function openShared({
  config,
  roles,
  workedChains,
  standby,
  log,
  health,
  cleanups,
}: StartingProcess) {
  const clock = systemClock;
  const limits = config.databaseConnections;
  const database = await openServiceDatabase(config, log, limits.shared);
  const { db, pool, address } = database;
  cleanups.push(async () => {
    await database.close();
    if (mayStopServer) await database.stopServer();
  });
  let mayStopServer = database.startedServer;
  const pools = await openPools(database, { limits, roles, log });
  cleanups.push(() => pools.close());
  // Starts before the claim, so that a waiting standby can be monitored too.
  const telemetry = await serveHealth({ config, clock, log, health }, { db, pools: pools.all });
  if (telemetry) cleanups.push(() => telemetry.stop());
  const claimed = EXCLUSIVE_ROLES.filter((role) => roles.includes(role));
  if (standby) log.info({ roles: claimed }, "standby: waiting for the roles");
  if (claimed.length > 0) {
    const instance = await claimRoles(pool, claimed, {
      standby,
      chains: workedChains,
      // Another process may have taken the roles over already: two settlers would send on the same lanes.
      onLost() {
        log.fatal("database claim lost, stopping");
        process.exit(1);
      },
    });
    // A leftover embedded server may be stopped only by a process that runs the whole service.
    mayStopServer ||= isWhole(roles);
    cleanups.push(() => instance.release());
  }
  const wakeups = createWakeups({ address, pool, clock, log });
  cleanups.push(() => wakeups.close());
  return { pools, wakeups, telemetryUrl: telemetry?.url };
}

/** Refuses a configuration with a node of another chain, before anything is stopped. */
async function assertNodes(config: Config, log: Log): Promise<void> {
  const trafficOf = createCommandTraffic();
  await checkChains({ chains: createChains(config, { clock: systemClock, log, trafficOf }), log });
}

/** The listening servers of a process, which outlast its workers. */
interface Servers {
  readonly urls: Pick<RunningService, "apiUrl" | "quoteUrl" | "consoleUrl">;
  /** Answers by the parts of another generation from now on. */
  replace(next: Generation): Promise<void>;
  stop(): Promise<void>;
}

/** Starts the servers of the process's roles. If one cannot start, stops those before it. */
async function startServers(
  generation: Generation,
  {
    roles,
    health,
    wakeups,
    examinations,
  }: Pick<StartingProcess, "roles" | "health"> & {
    readonly wakeups: Wakeups;
    readonly examinations: Examinations;
  },
): Promise<Servers> {
  const cleanups: Cleanups = [];
  const stop = async () => {
    for (const cleanup of cleanups.splice(0).toReversed()) await cleanup();
  };
  const quoterOf = ({ partsOf }: Generation) => takeParts(partsOf("quoter"), QUOTER_PARTS);
  try {
    const quote = roles.includes("quoter") ? await startQuoteServer(quoterOf(generation)) : null;
    if (quote) {
      cleanups.push(() => quote.stop());
      health.vitals.started("quoter");
    }
    const replaceQuote = async (next: Generation) => quote?.replace(quoterOf(next));
    if (!roles.includes("api")) {
      const urls = { apiUrl: undefined, quoteUrl: quote?.url, consoleUrl: undefined };
      return { urls, replace: replaceQuote, stop };
    }
    const openDesk = async ({ partsOf }: Generation) => {
      const context = partsOf("api");
      const settlements = createSettlementsOf(context);
      const desk = await startConsole(takeParts(context, CONSOLE_PARTS), settlements, examinations);
      return { desk, settlements };
    };
    let { desk, settlements } = await openDesk(generation);
    cleanups.push(async () => desk?.stop());
    const consoleUrl = desk?.url;
    const api = await startApi(createApiContext(generation.partsOf("api"), settlements), wakeups);
    cleanups.push(() => api.stop());
    health.vitals.started("api");
    return {
      urls: { apiUrl: api.url, quoteUrl: quote?.url, consoleUrl },
      async replace(next) {
        await replaceQuote(next);
        await desk?.stop();
        ({ desk, settlements } = await openDesk(next));
        await api.replace(createApiContext(next.partsOf("api"), settlements));
      },
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

function createSettlementsOf(context: RoleContext): SettlementDeps {
  const parts = takeParts(context, INTAKE_PARTS);
  return createSettlementDeps(parts, listRefundLanes(parts.config));
}

/**
 * Creates the functions of the API that settle and refund by request. They read balances, prices and routes, to which the
 * API itself has no access. They sign nothing: attestors and lanes do.
 */
function createApiContext(context: RoleContext, deps: SettlementDeps): ApiContext {
  const parts = takeParts(context, INTAKE_PARTS);
  const { config } = parts;
  // Of configured chains by the configuration: a local chain has an id of its own.
  const evmChainIds = new Map(
    [...KNOWN_CHAINS, ...config.chains].flatMap((chain) =>
      chain.kind === "evm" && chain.evmChainId !== undefined
        ? [[chain.chainId, chain.evmChainId] as const]
        : [],
    ),
  );
  const quoter = createQuoter({
    ...parts,
    ...takeParts(context, ["findVault"]),
  });
  const refunds = createRefundDesk({
    ...deps,
    evmChainIds,
    lists: (chainId, token) =>
      config.chains.some(
        (chain) =>
          chain.chainId === chainId && chain.tokens.some(({ address }) => address === token),
      ),
  });
  const calls = { ...quoter, requestIndex: createIndexRequests(deps), refunds };
  return { parts: takeParts(context, API_PARTS), calls };
}
