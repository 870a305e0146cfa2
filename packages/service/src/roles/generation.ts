/**
 * The workers of a process under one configuration. They are replaced together when the configuration is read again: the
 * connections of the database, the claim on the roles and the listeners stay.
 */
import { listRetiredChains } from "../addresses/index.ts";
import { type Config, type RoleName, type SignerName, withoutChains } from "../config/index.ts";
import { assert, Bug } from "../core/assert.ts";
import { OperatingError } from "../core/errors.ts";
import type { Wakeups } from "../jobs/wakeups.ts";
import type { AttestorSigner, LaneSigner } from "../signers/port.ts";
import type { Log } from "../telemetry/log.ts";
import { startCounters } from "../telemetry/metrics.ts";
import { ATTESTOR_PARTS, startAttestor } from "./attestor.ts";
import { AUDITOR_PARTS, startAuditor } from "./auditor.ts";
import { createBlockStreams } from "./block-streams.ts";
import { createAttestorChains, createScannerChains, withReserve } from "./chains.ts";
import { type Parts, type RoleContext, type RunningRole, takeParts } from "./context.ts";
import type { ServicePools } from "./database.ts";
import { countRefusals, type Health } from "./health.ts";
import type { AskPassphrase } from "./key-opener.ts";
import { getSigners, getVaultSigner } from "./keys.ts";
import type { createNodeMeter } from "./node-meter.ts";
import { createParts } from "./parts.ts";
import { SCANNER_PARTS, startScanner } from "./scanner.ts";
import { SETTLER_PARTS, startSettler } from "./settler.ts";
import { createSignerReads, type SignerReads } from "./signer-reads.ts";
import { systemClock } from "./system-ports.ts";
import { startWebhooks, WEBHOOKS_PARTS } from "./webhooks.ts";

/** What stays while generations follow one another. */
export interface Lasting {
  readonly roles: readonly RoleName[];
  /** Chains of scanner and settler; all of the configuration if undefined. */
  readonly workedChains: readonly number[] | undefined;
  readonly log: Log;
  readonly health: Health;
  readonly askPassphrase: AskPassphrase;
  readonly pools: ServicePools;
  readonly wakeups: Wakeups;
  readonly nodeMeter: ReturnType<typeof createNodeMeter>;
}

/** Running workers, and the parts under the same configuration. */
export interface Generation {
  readonly partsOf: (role: RoleName) => RoleContext;
  /** Ends the workers after their current polls, and closes their signers. */
  stop(): Promise<void>;
}

/**
 * Starts the workers of the process's roles. If one cannot start, stops those before it.
 * @throws OperatingError whose message names the setting to correct.
 */
export async function startGeneration(lasting: Lasting, given: Config): Promise<Generation> {
  const { roles, workedChains, log, health, pools, nodeMeter } = lasting;
  const { wakeups, ignore } = scopeWakeups(lasting.wakeups);
  const cleanups: (() => Promise<void>)[] = [];
  // In reverse order: roles end before the signers that they use.
  const stop = async () => {
    ignore();
    for (const cleanup of cleanups.splice(0).toReversed()) await cleanup();
    health.readings.splice(0);
    for (const role of WORKERS) health.vitals.ended(role);
  };
  try {
    const retired = await listRetired(lasting);
    const config = withoutChains(given, retired);
    const starting = { ...lasting, wakeups, config, cleanups };
    // Of a chain that was added; the others have theirs.
    startCounters(
      health.metrics,
      config.chains.map(({ chainId }) => chainId),
    );
    const late: { parts?: () => RoleContext } = {};
    const reads = createSignerReads(config, () => {
      assert(late.parts, "nothing is signed before the roles start");
      return late.parts();
    });
    const settler = roles.includes("settler")
      ? await openSigners(starting, "settler", reads)
      : null;
    const vaults =
      settler?.vaults ??
      (roles.includes("quoter") ? await getVaultSigner(config, { clock: systemClock, log }) : null);
    const lanes = settler?.lanes.filter(({ chainId }) => !retired.has(chainId));
    const partsOf = createParts({
      config,
      dbOf: pools.dbOf,
      log,
      health,
      wakeups,
      lanes,
      findVault: vaults ? (commitment) => vaults.deriveVault(commitment) : undefined,
      nodeMeter,
      workedChains,
    });
    // The attestor reads through its own nodes.
    const reader = findReader(roles);
    if (reader) {
      late.parts = () => partsOf(reader);
      await checkChains(partsOf(reader));
    }
    await startWorkers(starting, partsOf, lanes ?? []);
    return { partsOf, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Returns a role of the process that reads the chains with the service's nodes. */
export function findReader(roles: readonly RoleName[]): RoleName | undefined {
  return roles.find((role) => role !== "attestor" && role !== "webhooks");
}

/**
 * Returns the chains that an operator retired. An attestor with a user of its own may not read them, and gets no requests from
 * a retired chain.
 */
export async function listRetired({
  roles,
  pools,
}: Pick<Lasting, "roles" | "pools">): Promise<ReadonlySet<number>> {
  const reader = findReader(roles);
  return reader ? listRetiredChains(pools.dbOf(reader)) : new Set();
}

/** The roles whose loops belong to a generation. Those of the servers stay. */
const WORKERS = ["attestor", "settler", "scanner", "auditor", "webhooks"] as const;

/** Wake-ups of a generation; none reaches it after `ignore`. */
function scopeWakeups(all: Wakeups): { readonly wakeups: Wakeups; ignore(): void } {
  const ends: (() => void)[] = [];
  return {
    wakeups: {
      wake: (...args) => all.wake(...args),
      on(topic, listener) {
        const end = all.on(topic, listener);
        ends.push(end);
        return end;
      },
      close: () => Promise.reject(new Bug("wake-ups outlast the workers")),
    },
    ignore() {
      for (const end of ends.splice(0)) end();
    },
  };
}

interface StartingWorkers extends Lasting {
  readonly config: Config;
  readonly cleanups: (() => Promise<void>)[];
}

/** Opens the signers of a role, and counts their refusals. */
async function openSigners(
  { config, log, health, cleanups, askPassphrase }: StartingWorkers,
  name: SignerName,
  reads: SignerReads,
) {
  const deps = { clock: systemClock, askPassphrase, log, ...reads };
  const signers = await getSigners(config, name, deps);
  cleanups.push(async () => signers.close());
  return countRefusals(health.metrics, signers);
}

/** Starts each worker with the parts that it declares. */
async function startWorkers(
  starting: StartingWorkers,
  partsOf: (role: RoleName) => RoleContext,
  lanes: readonly LaneSigner[],
): Promise<void> {
  const { config, roles, cleanups, health } = starting;
  const started = (name: RoleName, role: RunningRole): void => {
    cleanups.push(() => role.stop());
    health.vitals.started(name);
  };
  // Each role gets its declared parts only. Attestor and scanner get their own readers.
  if (roles.includes("attestor")) {
    const signer = await openAttestorSigner(starting);
    const parts = partsOf("attestor");
    const { trafficOf, ...reading } = takeParts(parts, ["clock", "log", "trafficOf"]);
    const open = (limits: typeof trafficOf) =>
      createAttestorChains(config, { ...reading, trafficOf: limits });
    const readers = { chains: open(trafficOf), endingChains: open(withReserve(trafficOf)) };
    started("attestor", startAttestor(takeParts(parts, ATTESTOR_PARTS), signer, readers));
  }
  if (roles.includes("settler")) {
    started("settler", startSettler(takeParts(partsOf("settler"), SETTLER_PARTS), lanes));
  }
  if (roles.includes("scanner")) {
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
}

async function openAttestorSigner(starting: StartingWorkers): Promise<AttestorSigner> {
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
 * Refuses to start on a node of another chain. A node that does not answer is only logged: the loops retry it. All chains are
 * asked at once, so that a start waits for the slowest node and not for the sum of them.
 */
export async function checkChains({ chains, log }: Parts<"chains" | "log">): Promise<void> {
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
