/** Creates the parts of a process from its configuration. */
import type { FindVault } from "../addresses/index.ts";
import type { Config } from "../config/index.ts";
import type { Db } from "../db/schema.ts";
import type { Wakeups } from "../jobs/wakeups.ts";
import { createRoutes } from "../routes/index.ts";
import { PACE } from "../scanner/index.ts";
import type { LaneSigner } from "../signers/port.ts";
import type { Log } from "../telemetry/log.ts";
import { addressFormat } from "./address-format.ts";
import { openBridgeAttestations } from "./bridge-attestations.ts";
import { createChains } from "./chains.ts";
import { type RoleContext, TOPICS } from "./context.ts";
import type { Health } from "./health.ts";
import { createTrafficOf } from "./node-traffic.ts";
import { createConfiguredPrices } from "./prices.ts";
import { createCrashPoint, systemClock, systemHttp, systemRandom } from "./system-ports.ts";

/**
 * Composes the parts of a process over the system ports. Readers, prices, routes and the bridge client are created when a
 * role first takes them, once per process.
 */
export function createParts(given: {
  readonly config: Config;
  readonly db: Db;
  readonly log: Log;
  readonly health: Health;
  readonly wakeups: Wakeups;
  /** Signers of the settler, if it runs in this process. */
  readonly lanes: readonly LaneSigner[] | undefined;
  readonly findVault: FindVault | undefined;
}): RoleContext {
  const { config, db, log, health, wakeups, lanes, findVault } = given;
  const { metrics } = health;
  const [clock, http, random] = [systemClock, systemHttp, systemRandom];
  const trafficOf = createTrafficOf({ clock, random, counted: { db, metrics } });
  const chains = once(() => createChains(config, { clock, log, db, lanes, trafficOf }));
  const prices = once(() =>
    createConfiguredPrices(config, { chains: chains(), http, clock, log, metrics }),
  );
  const attestations = once(() => openBridgeAttestations(config, { http, clock, log, metrics }));
  const routes = once(() =>
    createRoutes(config, {
      db,
      clock,
      random,
      log,
      metrics,
      chains: chains(),
      prices: prices(),
      attestations: attestations(),
      wakeAttestor: () => wakeups.wake(TOPICS.attestations),
    }),
  );
  return {
    config,
    db,
    clock,
    random,
    log,
    health,
    wakeups,
    trafficOf,
    http,
    crashPoint: createCrashPoint(config.crashAt),
    pace: PACE,
    format: addressFormat,
    findVault,
    // Getters: a part that no role of the process names is never created. An attestor alone opens no node of the service.
    get chains() {
      return chains();
    },
    get prices() {
      return prices();
    },
    get routes() {
      return routes();
    },
    get attestations() {
      return attestations();
    },
  };
}

/** Returns a function that makes a value at its first call and returns the same one later. */
function once<Made>(make: () => Made): () => Made {
  let made: { readonly value: Made } | undefined;
  return () => (made ??= { value: make() }).value;
}
