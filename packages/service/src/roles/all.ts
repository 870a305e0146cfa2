/** Starts roles in one process: all of them on a laptop and in the sandbox, or some of them per machine. */
import { listRetiredChains } from "../addresses/index.ts";
import {
  type Config,
  ROLE_NAMES,
  type RoleName,
  type SignerName,
  withoutChains,
} from "../config/index.ts";
import { assert, Bug } from "../core/assert.ts";
import { KNOWN_CHAINS } from "../core/chain-registry.ts";
import { OperatingError } from "../core/errors.ts";
import { claimRoles, EXCLUSIVE_ROLES } from "../db/instance.ts";
import { createWakeups } from "../jobs/wakeups.ts";
import type { Examinations } from "../console/index.ts";
import {
  createIndexRequests,
  createRefundDesk,
  type SettlementDeps,
} from "../settlements/index.ts";
import type { AttestorSigner, LaneSigner } from "../signers/port.ts";
import { createLog, type Log } from "../telemetry/log.ts";
import { API_PARTS, type RunningServer, startApi, startQuoteServer } from "./api.ts";
import { ATTESTOR_PARTS, startAttestor } from "./attestor.ts";
import { AUDITOR_PARTS, startAuditor } from "./auditor.ts";
import { createBlockStreams } from "./block-streams.ts";
import { createAttestorChains, createScannerChains, withReserve } from "./chains.ts";
import { CONSOLE_PARTS, startConsole } from "./console.ts";
import { type Parts, type RoleContext, type RunningRole, takeParts } from "./context.ts";
import { openPools, openServiceDatabase } from "./database.ts";
import { countRefusals, createHealth, serveHealth, type Health } from "./health.ts";
import { askEarly, type AskPassphrase } from "./key-opener.ts";
import { getSigners, getVaultSigner } from "./keys.ts";
import { createParts } from "./parts.ts";
import { createQuoter, QUOTER_PARTS } from "./quoter.ts";
import { SCANNER_PARTS, startScanner } from "./scanner.ts";
import { createSettlementDeps, INTAKE_PARTS, listRefundLanes } from "./settlement-deps.ts";
import { SETTLER_PARTS, startSettler } from "./settler.ts";
import { createSignerReads, type SignerReads } from "./signer-reads.ts";
import { startWebhooks, WEBHOOKS_PARTS } from "./webhooks.ts";
import { systemClock } from "./system-ports.ts";

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
    readonly standby: boolean;
    readonly askPassphrase: AskPassphrase;
    /** What operators may run from the console. */
    readonly examinations: Examinations;
  },
): Promise<RunningService> {
  const { roles } = options;
  // First of all: later the process may be a standby without a person at its terminal.
  const askPassphrase = await askEarly(config, options.askPassphrase);
  const log = createLog({ level: config.logLevel, role: isWhole(roles) ? "all" : roles.join(",") });
  const health = createHealth(config, systemClock, roles);
  const cleanups: Cleanups = [];
  // In reverse order: roles end before the connections that they use.
  const stop = async () => {
    for (const cleanup of cleanups.splice(0).toReversed()) await cleanup();
  };
  const given: StartingProcess = { ...options, config, log, health, cleanups, askPassphrase };
  try {
    const { pools, wakeups, telemetryUrl } = await openShared(given);
    const reader = roles.find((role) => role !== "attestor" && role !== "webhooks");
    // An attestor with a user of its own may not read them, and gets no requests from a retired chain.
    const retired = reader ? await listRetiredChains(pools.dbOf(reader)) : new Set<number>();
    const starting = { ...given, config: withoutChains(given.config, retired) };
    const late: { parts?: () => RoleContext } = {};
    const reads = createSignerReads(starting.config, () => {
      assert(late.parts, "nothing is signed before the roles start");
      return late.parts();
    });
    const settler = roles.includes("settler")
      ? await openSigners(starting, "settler", reads)
      : null;
    const vaults =
      settler?.vaults ??
      (roles.includes("quoter")
        ? await getVaultSigner(starting.config, { clock: systemClock, log })
        : null);
    const lanes = settler?.lanes.filter(({ chainId }) => !retired.has(chainId));
    const partsOf = createParts({
      config: starting.config,
      dbOf: pools.dbOf,
      log,
      health,
      wakeups,
      lanes,
      findVault: vaults ? (commitment) => vaults.deriveVault(commitment) : undefined,
    });
    // The attestor reads through its own nodes.
    if (reader) {
      late.parts = () => partsOf(reader);
      await checkChains(partsOf(reader));
    }
    const urls = await startEach(starting, partsOf, lanes ?? []);
    return { ...urls, telemetryUrl, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Opened resources in order; they are closed in reverse. */
type Cleanups = (() => Promise<void>)[];

/** A process whose roles are being started. */
interface StartingProcess {
  readonly config: Config;
  readonly roles: readonly RoleName[];
  readonly standby: boolean;
  readonly log: Log;
  readonly health: Health;
  readonly cleanups: Cleanups;
  readonly askPassphrase: AskPassphrase;
  readonly examinations: Examinations;
}

function isWhole(roles: readonly RoleName[]): boolean {
  return roles.length === ROLE_NAMES.length;
}

/** Opens the database, the listener of metrics, the claim on the exclusive roles, and the wake-ups. */
async function openShared({ config, roles, standby, log, health, cleanups }: StartingProcess) {
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

/** Opens the signers of a role, and counts their refusals. */
async function openSigners(
  { config, log, health, cleanups, askPassphrase }: StartingProcess,
  name: SignerName,
  reads: SignerReads,
) {
  const deps = { clock: systemClock, askPassphrase, log, ...reads };
  const signers = await getSigners(config, name, deps);
  cleanups.push(async () => signers.close());
  return countRefusals(health.metrics, signers);
}

/** Starts each role with the parts that it declares. */
async function startEach(
  starting: StartingProcess,
  partsOf: (role: RoleName) => RoleContext,
  lanes: readonly LaneSigner[],
): Promise<Pick<RunningService, "apiUrl" | "quoteUrl" | "consoleUrl">> {
  const { roles, cleanups, health } = starting;
  const started = <Role extends RunningRole>(name: RoleName, role: Role): Role => {
    cleanups.push(() => role.stop());
    health.vitals.started(name);
    return role;
  };
  // Each role gets its declared parts only. Attestor and scanner get their own readers.
  if (roles.includes("attestor")) {
    const signer = await openAttestorSigner(starting);
    const parts = partsOf("attestor");
    const { trafficOf, ...reading } = takeParts(parts, ["clock", "log", "trafficOf"]);
    const open = (limits: typeof trafficOf) =>
      createAttestorChains(starting.config, { ...reading, trafficOf: limits });
    const readers = { chains: open(trafficOf), endingChains: open(withReserve(trafficOf)) };
    started("attestor", startAttestor(takeParts(parts, ATTESTOR_PARTS), signer, readers));
  }
  if (roles.includes("settler")) {
    started("settler", startSettler(takeParts(partsOf("settler"), SETTLER_PARTS), lanes));
  }
  if (roles.includes("scanner")) {
    const { config } = starting;
    const parts = partsOf("scanner");
    const streams = new Map(
      config.chains.map((chain) => [chain.chainId, createBlockStreams(parts, chain)]),
    );
    const chains = createScannerChains(config, {
      ...takeParts(parts, ["db", "clock", "log", "trafficOf"]),
      streams,
    });
    started("scanner", startScanner({ ...takeParts(parts, SCANNER_PARTS), chains }, streams));
  }
  if (roles.includes("auditor")) {
    started("auditor", startAuditor(takeParts(partsOf("auditor"), AUDITOR_PARTS)));
  }
  if (roles.includes("webhooks")) {
    started("webhooks", startWebhooks(takeParts(partsOf("webhooks"), WEBHOOKS_PARTS)));
  }
  const quote = roles.includes("quoter")
    ? started("quoter", await startQuoteServer(takeParts(partsOf("quoter"), QUOTER_PARTS)))
    : undefined;
  if (!roles.includes("api")) {
    return { apiUrl: undefined, quoteUrl: quote?.url, consoleUrl: undefined };
  }
  const context = partsOf("api");
  const parts = takeParts(context, INTAKE_PARTS);
  const settlements = createSettlementDeps(parts, listRefundLanes(parts.config));
  const desk = await startConsole(
    takeParts(context, CONSOLE_PARTS),
    settlements,
    starting.examinations,
  );
  if (desk) cleanups.push(() => desk.stop());
  const api = started("api", await startApiOf(context, settlements));
  return { apiUrl: api.url, quoteUrl: quote?.url, consoleUrl: desk?.url };
}

async function openAttestorSigner(starting: StartingProcess): Promise<AttestorSigner> {
  const readNothing = () => Promise.reject(new Bug("only the signer of lanes reads chains"));
  const reads = { readLock: readNothing, checkRefund: readNothing };
  const { attestor } = await openSigners(starting, "attestor", reads);
  if (attestor) return attestor;
  throw new OperatingError(
    "CONFIG_MISSING",
    "signers.attestor: expected a signer with the attestor's key",
  );
}

/**
 * Starts the API with the functions that settle and refund by request. They read balances, prices and routes, to which the
 * API itself has no access. They sign nothing: attestors and lanes do.
 */
function startApiOf(context: RoleContext, deps: SettlementDeps): Promise<RunningServer> {
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
  return startApi(takeParts(context, API_PARTS), {
    ...quoter,
    requestIndex: createIndexRequests(deps),
    refunds: createRefundDesk({
      ...deps,
      evmChainIds,
      lists: (chainId, token) =>
        config.chains.some(
          (chain) =>
            chain.chainId === chainId && chain.tokens.some(({ address }) => address === token),
        ),
    }),
  });
}

/**
 * Refuses to start on a node of another chain. A node that does not answer is only logged: the loops retry it. All chains are
 * asked at once, so that a start waits for the slowest node and not for the sum of them.
 */
async function checkChains({ chains, log }: Parts<"chains" | "log">): Promise<void> {
  await Promise.all(
    [...chains.values()].map(async (chain) => {
      try {
        await chain.checkIdentity();
      } catch (error) {
        if (!(error instanceof OperatingError) || error.code !== "RPC_UNAVAILABLE") throw error;
        log.error({ err: error, chainId: chain.chainId }, "node does not answer");
      }
    }),
  );
}
