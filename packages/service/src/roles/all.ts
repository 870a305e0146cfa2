/** Roles in one process: all of them on a laptop and in the sandbox, some of them where each has its own machine. */
import { type Config, ROLE_NAMES, type RoleName, type SignerName } from "../config/index.ts";
import { claimRoles, EXCLUSIVE_ROLES } from "../db/instance.ts";
import { createWakeups } from "../jobs/wakeups.ts";
import { createLog } from "../telemetry/log.ts";
import { OperatingError } from "../core/errors.ts";
import { addressFormat } from "./address-format.ts";
import { startApi, startQuoteServer } from "./api.ts";
import { startAttestor } from "./attestor.ts";
import { startAuditor } from "./auditor.ts";
import { openAttestations } from "./attestations.ts";
import { createAttestorChains, createChains } from "./chains.ts";
import { type RoleContext, type RunningRole, TOPICS } from "./context.ts";
import { createConfiguredPrices } from "./prices.ts";
import { openServiceDatabase } from "./database.ts";
import { askEarly, type AskPassphrase, getSigners, getVaultSigner } from "./keys.ts";
import { startScanner } from "./scanner.ts";
import { startSettler } from "./settler.ts";
import { createCrashPoint, systemClock, systemHttp, systemRandom } from "./system-ports.ts";
import { countRefusals, createWatch, serveWatch } from "./health.ts";
import { createRoutes } from "../routes/index.ts";

export interface RunningService {
  /** Undefined without the role `api`. */
  readonly apiUrl: string | undefined;
  /** Undefined without the role `quoter`. */
  readonly quoteUrl: string | undefined;
  /** Where metrics and health are; undefined where the configuration has no listener for them. */
  readonly telemetryUrl: string | undefined;
  /** Ends every role, then the database connections and the embedded server. */
  stop(): Promise<void>;
}

/**
 * Starts the roles. What was started is stopped again when a later part cannot start.
 * @throws OperatingError that says what to do about it.
 */
export async function startRoles(
  config: Config,
  options: {
    readonly roles: readonly RoleName[];
    readonly standby: boolean;
    readonly askPassphrase: AskPassphrase;
  },
): Promise<RunningService> {
  const { roles, standby } = options;
  const askPassphrase = await askEarly(config, options.askPassphrase);
  const isAll = roles.length === ROLE_NAMES.length;
  const log = createLog({ level: config.logLevel, role: isAll ? "all" : roles.join(",") });
  const clock = systemClock;
  const watch = createWatch(config, clock, roles);
  const cleanups: (() => Promise<void>)[] = [];
  const stop = async () => {
    for (const cleanup of cleanups.splice(0).toReversed()) await cleanup();
  };
  try {
    const database = await openServiceDatabase(config, log);
    const { db, pool, address } = database;
    cleanups.push(async () => {
      await database.close();
      if (mayStopServer) await database.stopServer();
    });
    let mayStopServer = database.startedServer;
    // From here on, so that a standby that waits can be watched as well.
    const telemetry = await serveWatch({ config, clock, log, watch }, { db, pool });
    if (telemetry) cleanups.push(() => telemetry.stop());
    const claimed = EXCLUSIVE_ROLES.filter((role) => roles.includes(role));
    if (standby) log.info({ roles: claimed }, "waiting until nobody else has the roles");
    if (claimed.length > 0) {
      const instance = await claimRoles(pool, claimed, {
        standby,
        onLost() {
          log.fatal(
            "the claim on the database was lost: stopping before another service works on it",
          );
          process.exit(1);
        },
      });
      // An embedded server that was left behind is ours only if the whole service is.
      mayStopServer ||= isAll;
      cleanups.push(() => instance.release());
    }
    const wakeups = createWakeups({ address, pool, clock, log });
    cleanups.push(() => wakeups.close());

    const signersOf = async (name: SignerName) => {
      const signers = await getSigners(config, name, { clock, askPassphrase, log });
      cleanups.push(async () => signers.close());
      return countRefusals(watch.metrics, signers);
    };
    const settler = roles.includes("settler") ? await signersOf("settler") : null;
    const chains = createChains(config, { clock, log, db, lanes: settler?.lanes });
    const http = systemHttp;
    const { metrics } = watch;
    const prices = createConfiguredPrices(config, { chains, http, clock, log, metrics });
    const attestations = openAttestations(config, { http, clock, log, metrics });
    const vaults =
      settler?.vaults ??
      (roles.includes("quoter") ? await getVaultSigner(config, { clock, log }) : null);
    const context: RoleContext = {
      config,
      db,
      clock,
      random: systemRandom,
      log,
      watch,
      crashPoint: createCrashPoint(config.crashAt),
      wakeups,
      chains,
      http,
      prices,
      routes: createRoutes(config, {
        db,
        clock,
        random: systemRandom,
        log,
        metrics,
        chains,
        prices,
        attestations,
        wakeAttestor: () => wakeups.wake(TOPICS.attestations),
      }),
      attestations,
      format: addressFormat,
      ...(vaults && { findVault: (commitment) => vaults.deriveVault(commitment) }),
    };
    await checkChains(context);
    const started = <Role extends RunningRole>(name: RoleName, role: Role): Role => {
      cleanups.push(() => role.stop());
      watch.vitals.started(name);
      return role;
    };
    if (roles.includes("attestor")) {
      const { attestor } = await signersOf("attestor");
      if (!attestor) {
        throw new OperatingError(
          "CONFIG_MISSING",
          "signers.attestor: expected a signer with the attestor's key",
        );
      }
      started(
        "attestor",
        startAttestor(context, attestor, createAttestorChains(config, { clock, log })),
      );
    }
    if (settler) started("settler", startSettler(context, settler.lanes));
    if (roles.includes("scanner")) started("scanner", startScanner(context));
    if (roles.includes("auditor")) started("auditor", startAuditor(context));
    const quote = roles.includes("quoter")
      ? started("quoter", await startQuoteServer(context))
      : undefined;
    const api = roles.includes("api") ? started("api", await startApi(context)) : undefined;
    return { apiUrl: api?.url, quoteUrl: quote?.url, telemetryUrl: telemetry?.url, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Refuses to start on a node of another chain. One that does not answer now is looked at again by the loops. */
async function checkChains({ chains, log }: RoleContext): Promise<void> {
  for (const chain of chains.values()) {
    try {
      await chain.checkIdentity();
    } catch (error) {
      if (!(error instanceof OperatingError) || error.code !== "RPC_UNAVAILABLE") throw error;
      log.error({ err: error, chainId: chain.chainId }, "a chain's node does not answer");
    }
  }
}
