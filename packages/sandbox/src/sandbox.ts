/** The whole sandbox: chains, contracts, service, integrators, descriptor. */
import { type AttestationService, startAttestationService } from "./attestation-service.ts";
import type { ChainName } from "./chain-specs.ts";
import { type ChainsOptions, type SandboxChains, startChains } from "./chains.ts";
import { stopLeftDatabase } from "./clear-state.ts";
import { deployContracts } from "./contracts.ts";
import { watchNode } from "./detached-node.ts";
import { assertDeployed, type Deployment, readDeployment, writeDeployment } from "./deployment.ts";
import { type Descriptor, writeDescriptor } from "./descriptor.ts";
import { SandboxError } from "./errors.ts";
import { ensureIntegrators } from "./integrators.ts";
import { loadKeys, type SandboxKeys } from "./keys.ts";
import { assertPortFree, findFreePort } from "./ports.ts";
import { type RunningService, startService, stopLeftService } from "./service.ts";
import { type ServiceConfigOptions, writeServiceConfig } from "./service-config.ts";
import { deriveSolanaAccounts, deriveSolanaTreasury } from "./solana/accounts.ts";
import { openSolanaNode, type SolanaNode, type SolanaNodeOptions } from "./solana/node.ts";
import { fundSolanaPayers, loadSolanaPayers, type SolanaPayer } from "./solana/payers.ts";
import { fundServiceAccounts } from "./solana/service-accounts.ts";
import { SOLANA_SPEC } from "./solana/spec.ts";
import { statePaths } from "./state-paths.ts";

/** Ports of the service unless others are asked for. */
export const DEFAULT_SERVICE_PORTS = { api: 3400, quote: 3401, telemetry: 3402 } as const;

/** How to start a sandbox. */
export interface SandboxOptions extends Omit<ChainsOptions, "ports" | "onProblem"> {
  /** Ports; 0 for any. */
  readonly ports?: Partial<
    Readonly<
      Record<ChainName | typeof SOLANA_SPEC.name | keyof typeof DEFAULT_SERVICE_PORTS, number>
    >
  >;
  /** How fast slots of the Solana chain pass. */
  readonly solana?: Pick<SolanaNodeOptions, "slotMs" | "idleSlotMs">;
  /** Added to the service's environment. */
  readonly env?: Readonly<Record<string, string>>;
  /** How often the service looks for blocks. Default 250. */
  readonly pollIntervalMs?: number;
  /** Nodes as the service sees them, for a proxy in front of them. */
  readonly rpcUrls?: NonNullable<ServiceConfigOptions["rpcUrls"]>;
  /** How long additions to the contracts wait, in seconds. Default 60. */
  readonly delaySeconds?: number;
  /** Ends an unfinished start. */
  readonly signal?: AbortSignal;
  /** What was just done. */
  readonly onStep?: (step: string, text: string) => void;
  /** Something stopped by itself that should be running. */
  readonly onFailure?: (failure: SandboxError) => void;
}

/** A running sandbox. */
export interface Sandbox {
  readonly stateDir: string;
  readonly chains: SandboxChains;
  readonly solana: SolanaNode;
  readonly deployment: Deployment;
  readonly keys: SandboxKeys;
  readonly descriptor: Descriptor;
  /** The stand-in for Circle's attestation service. */
  readonly attestations: AttestationService;
  /** Path of the service's configuration. */
  readonly configPath: string;
  /** True when it went on from what was there. */
  readonly resumed: boolean;
  /** The service that was started last. */
  readonly service: RunningService;
  /** Starts the service again after it was killed or stopped, on the same ports. */
  restartService(env?: Readonly<Record<string, string>>): Promise<RunningService>;
  /** Stops everything; the nodes may be kept for the next start. */
  stop(options?: { readonly keepNodes?: boolean }): Promise<void>;
}

/** Starts a sandbox, or goes on with the one of this state directory. When it fails nothing is left running. */
export async function startSandbox(options: SandboxOptions): Promise<Sandbox> {
  let service: RunningService | undefined;
  let attestations: AttestationService | undefined;
  let opening: Promise<SolanaSetup> | undefined;
  let unwatch = (): void => undefined;
  /** True while the service is meant to run. */
  let wanted = false;
  const resumed = !options.fresh && isSetUp(options.stateDir);
  const chains = await startChains({
    ...options,
    fresh: !resumed,
    onProblem: (problem, ended) => {
      if (ended) options.onFailure?.(problem);
    },
  });
  const stop: Sandbox["stop"] = async (how) => {
    wanted = false;
    await service?.stop();
    await stopLeftDatabase(statePaths(chains.stateDir).database);
    await attestations?.stop();
    unwatch();
    // When it could not be started there is nothing to stop, and the start has failed for that.
    const solana = await opening?.catch(() => undefined);
    if (!how?.keepNodes) await solana?.node.stop();
    await chains.stop(how);
  };
  const start = async (env = options.env) => {
    const started = await startService({
      stateDir: chains.stateDir,
      ...(env === undefined ? {} : { env }),
    });
    service = started;
    wanted = true;
    void started.exited.then(({ code, signal }) => {
      if (!wanted || service !== started) return;
      const how = signal ?? `code ${code}`;
      const log = statePaths(chains.stateDir).serviceLog;
      options.onFailure?.(new SandboxError(`the service ended with ${how}: see ${log}`));
    });
    return started;
  };

  try {
    // Meanwhile the contracts are deployed.
    opening = setUpSolana(chains.stateDir, options);
    const ports = await chooseServicePorts(chains.stateDir, options.ports);
    const [solana, { deployment, keys, how }] = await Promise.all([
      opening,
      setUpContracts(chains, options),
    ]);
    tell(options, "chains", describeChains(chains, solana.node));
    tell(options, "contracts", `factory ${deployment.factory} on both EVM chains${how}`);
    unwatch = watchNode(solana.node, () =>
      options.onFailure?.(
        new SandboxError(`the node of solana has ended: see ${solana.node.logPath}`),
      ),
    );
    const bridge = await attestBurns({ chains, deployment, keys });
    attestations = bridge;
    tell(options, "attestations", `a stand-in for Circle's service at ${bridge.url}`);
    const attestationsUrl = bridge.url;
    const parts = { chains, deployment, keys };
    const configPath = writeServiceConfig({
      ...options,
      ...parts,
      ports,
      attestationsUrl,
      solanaRpcUrl: solana.node.rpcUrl,
    });
    const first = await start();
    tell(
      options,
      "service",
      `api ${first.baseUrl}, quotes ${first.quoteUrl}, metrics ${first.telemetryUrl}/metrics`,
    );
    const integrators = await ensureIntegrators(chains.stateDir, options.env);
    tell(options, "integrators", integrators.map((one) => one.name).join(", "));
    const descriptor = writeDescriptor({
      ...parts,
      solana: { rpcUrl: solana.node.rpcUrl, payers: solana.payers },
      service: first,
      integrators,
    });
    const { stateDir } = chains;
    return {
      stateDir,
      chains,
      solana: solana.node,
      deployment,
      keys,
      descriptor,
      attestations: bridge,
      configPath,
      resumed,
      stop,
      get service() {
        return service ?? first;
      },
      restartService: async (env) => {
        wanted = false;
        await service?.stop();
        return start(env);
      },
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

interface SolanaSetup {
  readonly node: SolanaNode;
  readonly payers: readonly SolanaPayer[];
}

/** Starts the Solana chain and funds its accounts; when that fails it does not run. */
async function setUpSolana(stateDir: string, options: SandboxOptions): Promise<SolanaSetup> {
  const paths = statePaths(stateDir);
  const port = options.ports?.solana;
  const node = await openSolanaNode({
    dir: paths.nodes,
    ...(port === undefined ? {} : { port }),
    ...options.solana,
  });
  try {
    const payers = await loadSolanaPayers(paths.keys);
    await fundSolanaPayers(node, payers);
    const { solanaSeed, solanaTreasury } = loadKeys(paths.keys);
    await fundServiceAccounts(node, {
      ...deriveSolanaAccounts(solanaSeed.privateKey),
      treasury: deriveSolanaTreasury(solanaTreasury.privateKey),
    });
    return { node, payers };
  } catch (error) {
    await node.stop();
    throw error;
  }
}

/** Starts the stand-in of Circle's attestation service over the chains of a sandbox. */
export function attestBurns({
  chains,
  deployment,
  keys,
}: {
  readonly chains: SandboxChains;
  readonly deployment: Deployment;
  readonly keys: SandboxKeys;
}): Promise<AttestationService> {
  return startAttestationService({
    chains: chains.all.map(({ name, domain, client }) => ({
      domain,
      client,
      transmitter: deployment.chains[name].transmitter,
    })),
    attesters: keys.attesters.map(({ account }) => account),
    port: 0,
  });
}

/** A start that was interrupted before the contracts stood left nothing worth keeping. */
function isSetUp(stateDir: string): boolean {
  return readDeployment(statePaths(stateDir).deployment) !== undefined;
}

async function setUpContracts(chains: SandboxChains, options: SandboxOptions) {
  const paths = statePaths(chains.stateDir);
  const keys = loadKeys(paths.keys);
  const known = readDeployment(paths.deployment);
  if (known) {
    await assertDeployed(chains, known);
    return { deployment: known, keys, how: ", as before" };
  }
  const { delaySeconds } = options;
  const deployment = await deployContracts(
    chains,
    keys,
    delaySeconds === undefined ? {} : { delaySeconds },
  );
  writeDeployment(paths.deployment, deployment);
  return { deployment, keys, how: "" };
}

/** Fixed before the start, so that a restarted service is found where it was. */
async function chooseServicePorts(
  stateDir: string,
  { api, quote, telemetry }: NonNullable<SandboxOptions["ports"]> = {},
) {
  await stopLeftService(stateDir);
  const choose = async (port: number, what: string, option: string) => {
    if (port === 0) return findFreePort();
    await assertPortFree(port, what, option);
    return port;
  };
  return {
    api: await choose(api ?? DEFAULT_SERVICE_PORTS.api, "the service", "--port"),
    quote: await choose(quote ?? DEFAULT_SERVICE_PORTS.quote, "the quote service", "--quote-port"),
    telemetry: await choose(
      telemetry ?? DEFAULT_SERVICE_PORTS.telemetry,
      "its metrics",
      "--telemetry-port",
    ),
  };
}

function describeChains(chains: SandboxChains, solana: SolanaNode): string {
  const origin = { new: "", loaded: ", resumed", adopted: ", still running" } as const;
  return [...chains.all, { ...solana, name: SOLANA_SPEC.name }]
    .map((chain) => `${chain.name} ${chain.rpcUrl}${origin[chain.origin]}`)
    .join("; ");
}

function tell(options: SandboxOptions, step: string, text: string): void {
  options.signal?.throwIfAborted();
  options.onStep?.(step, text);
}
