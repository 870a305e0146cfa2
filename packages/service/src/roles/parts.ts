/** Creates the parts of a process from its configuration. */
import type { FindVault } from "../addresses/index.ts";
import type { Config, PoolName, RoleName } from "../config/index.ts";
import type { Db } from "../db/schema.ts";
import type { Wakeups } from "../jobs/wakeups.ts";
import { rememberPrices } from "../prices/index.ts";
import { createRoutes } from "../routes/index.ts";
import { PACE } from "../scanner/index.ts";
import type { LaneSigner } from "../signers/port.ts";
import type { Log } from "../telemetry/log.ts";
import { addressFormat } from "./address-format.ts";
import { openBridgeAttestations } from "./bridge-attestations.ts";
import { createChains, withReserve } from "./chains.ts";
import { type RoleContext, TOPICS } from "./context.ts";
import type { Health } from "./health.ts";
import { createAttestorSet } from "./keys.ts";
import { createNodeMeter } from "./node-meter.ts";
import { createTrafficOf } from "./node-traffic.ts";
import { createConfiguredPrices } from "./prices.ts";
import { rememberChains } from "./remembered-chains.ts";
import { createCrashPoint, systemClock, systemHttp, systemRandom } from "./system-ports.ts";

/**
 * Composes the parts of a process over the system ports, and returns the parts of each role: they differ in the connections
 * of the database, and those of the quoter in readers that remember. Readers, prices and the bridge client are created when a role first takes them, once per process; routes
 * once per role, since they read the database.
 */
export function createParts(given: {
  readonly config: Config;
  /** Returns the database over the connections of a pool. */
  readonly dbOf: (pool: PoolName) => Db;
  readonly log: Log;
  readonly health: Health;
  readonly wakeups: Wakeups;
  /** Signers of the settler, if it runs in this process. */
  readonly lanes: readonly LaneSigner[] | undefined;
  readonly findVault: FindVault | undefined;
  /** Chains of scanner and settler; all of the configuration by default. */
  readonly workedChains?: readonly number[] | undefined;
  /** Counts for callers whose work outlasts these parts; one of its own by default. */
  readonly nodeMeter?: ReturnType<typeof createNodeMeter>;
}): (role: RoleName) => RoleContext {
  const {
    config,
    dbOf,
    log,
    health,
    wakeups,
    lanes,
    findVault,
    workedChains,
    nodeMeter = createNodeMeter(),
  } = given;
  const { metrics } = health;
  const [clock, http, random] = [systemClock, systemHttp, systemRandom];
  const { onRequests } = nodeMeter;
  const counted = { db: dbOf("shared"), metrics, onRequests };
  const trafficOf = createTrafficOf({ clock, random, counted });
  const chains = once(() =>
    createChains(config, { clock, log, db: dbOf("shared"), lanes, trafficOf }),
  );
  const endingChains = once(() =>
    createChains(config, {
      clock,
      log,
      db: dbOf("shared"),
      lanes,
      trafficOf: withReserve(trafficOf),
    }),
  );
  const prices = once(() =>
    createConfiguredPrices(config, { chains: chains(), http, clock, log, metrics }),
  );
  const attestations = once(() => openBridgeAttestations(config, { http, clock, log, metrics }));
  const attestors = once(() => createAttestorSet(config));
  // Quotes promise nothing: a caller's questions are answered from the reads of the last seconds.
  const recent = once(() => ({
    chains: rememberChains(chains(), clock),
    prices: rememberPrices(prices(), clock),
  }));
  const readersOf = (role: RoleName) =>
    role === "quoter" ? recent() : { chains: chains(), prices: prices() };
  const createRoutesOver = (db: Db, role: RoleName) =>
    createRoutes(config, {
      db,
      clock,
      random,
      log,
      metrics,
      ...readersOf(role),
      attestations: attestations(),
      attestors: attestors(),
      wakeAttestor: () => wakeups.wake(TOPICS.attestations, "price"),
    });
  const crashPoint = createCrashPoint(config.crashAt);
  return (role) => {
    const routes = once(() => createRoutesOver(dbOf(role), role));
    return {
      config,
      db: dbOf(role),
      get streamDb() {
        return dbOf("stream");
      },
      clock,
      random,
      log,
      health,
      wakeups,
      trafficOf,
      nodeMeter,
      http,
      crashPoint,
      worksOn: (chainId) => workedChains?.includes(chainId) !== false,
      pace: PACE,
      format: addressFormat,
      findVault,
      // Getters: a part that no role of the process names is never created. An attestor alone opens no node of the service.
      get chains() {
        return readersOf(role).chains;
      },
      get endingChains() {
        return endingChains();
      },
      get prices() {
        return readersOf(role).prices;
      },
      get routes() {
        return routes();
      },
      get attestations() {
        return attestations();
      },
      get attestors() {
        return attestors();
      },
    };
  };
}

/** Returns a function that makes a value at its first call and returns the same one later. */
function once<Made>(make: () => Made): () => Made {
  let made: { readonly value: Made } | undefined;
  return () => (made ??= { value: make() }).value;
}
