/** Starts the whole sandbox: chains, contracts, service, integrators, descriptor. */
import {
  type BridgeAttestationService,
  startBridgeAttestationService,
} from "./bridge-attestation-service.ts";
import type { ChainName } from "./chain-specs.ts";
import { type ChainsOptions, type SandboxChains, startChains } from "./chains.ts";
import { stopLeftoverDatabase } from "./clear-state.ts";
import { planContracts } from "./contracts.ts";
import { watchNode } from "./detached-node.ts";
import { assertDeployed, type Deployment, readDeployment, writeDeployment } from "./deployment.ts";
import { type Descriptor, writeDescriptor } from "./descriptor.ts";
import { SandboxError } from "./errors.ts";
import { ensureIntegrators } from "./integrators.ts";
import { loadKeys, type SandboxKeys } from "./keys.ts";
import { assertPortFree, findFreePort } from "./ports.ts";
import { type Control, startControl } from "./scenarios/control.ts";
import { createPlayer, type Player, type PlayOptions, type PlayResult } from "./scenarios/play.ts";
import type { ScenarioName } from "./scenarios/table.ts";
import {
  type PreparedService,
  prepareService,
  type RunningService,
  startService,
  stopLeftoverService,
} from "./service.ts";
import { type ServiceConfigOptions, writeServiceConfig } from "./service-config.ts";
import { deriveSolanaAccounts, deriveSolanaTreasury } from "./solana/accounts.ts";
import { openSolanaNode, type SolanaNode, type SolanaNodeOptions } from "./solana/node.ts";
import { fundSolanaPayers, loadSolanaPayers, type SolanaPayer } from "./solana/payers.ts";
import { fundServiceAccounts } from "./solana/service-accounts.ts";
import { SOLANA_SPEC } from "./solana/spec.ts";
import { claimStateDir, statePaths } from "./state-paths.ts";

/** Default ports of the service. */
export const DEFAULT_SERVICE_PORTS = {
  api: 3400,
  quote: 3401,
  telemetry: 3402,
  console: 3404,
} as const;
/** Block interval of a sandbox while there is work, in milliseconds: that of Arbitrum. */
const BLOCK_MS = 250;
/** Default port of the control endpoint. */
export const DEFAULT_CONTROL_PORT = 3403;

/** Options of `startSandbox`. */
export interface SandboxOptions extends Omit<ChainsOptions, "ports" | "onProblem"> {
  /** Ports; 0 for any free port. */
  readonly ports?: Partial<
    Readonly<
      Record<
        ChainName | typeof SOLANA_SPEC.name | keyof typeof DEFAULT_SERVICE_PORTS | "control",
        number
      >
    >
  >;
  /** Slot times of the Solana chain. */
  readonly solana?: Pick<SolanaNodeOptions, "slotMs" | "idleSlotMs">;
  /** Added to the service's environment. */
  readonly env?: Readonly<Record<string, string>>;
  /** Poll interval of the service's scanners, in milliseconds. Default 250. */
  readonly pollIntervalMs?: number;
  /** Node URLs for the service, to put a proxy in front of the nodes. */
  readonly rpcUrls?: NonNullable<ServiceConfigOptions["rpcUrls"]>;
  /** Whether and how locks of the EVM chains are paid before they are final. Default: once final. */
  readonly earlyPayouts?: NonNullable<ServiceConfigOptions["earlyPayouts"]>;
  /** Delay of additions to the contracts, in seconds. Default 60. */
  readonly delaySeconds?: number;
  /** Aborts an unfinished start. */
  readonly signal?: AbortSignal;
  /** Called after each step. */
  readonly onStep?: (step: string, text: string) => void;
  /** Called when a node or the service has ended unexpectedly. */
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
  readonly attestations: BridgeAttestationService;
  /** Path of the service's configuration. */
  readonly configPath: string;
  /** True if saved state was resumed. */
  readonly resumed: boolean;
  /** The service that was started most recently. */
  readonly service: RunningService;
  /**
   * Plays a scenario and waits until its documented sequence of events is complete. Plays wait for one another.
   * @throws SandboxError if the events differ, or the name is unknown.
   */
  play(name: ScenarioName, options?: PlayOptions): Promise<PlayResult>;
  /** Starts the service again after it was killed or stopped, on the same ports. */
  restartService(env?: Readonly<Record<string, string>>): Promise<RunningService>;
  /** Stops everything; with `keepNodes` the nodes keep running for the next start. */
  stop(options?: { readonly keepNodes?: boolean }): Promise<void>;
}

const NODE_MIN = 22;

function assertNode(): void {
  const { node } = process.versions;
  if (Number.parseInt(node, 10) >= NODE_MIN) return;
  throw new SandboxError(`@sluice/sandbox needs Node ${NODE_MIN} or newer, this is v${node}`);
}

/** Starts a sandbox, or resumes the one of this state directory. If it fails, no process is left running. */
export async function startSandbox(options: SandboxOptions): Promise<Sandbox> {
  assertNode();
  let service: RunningService | undefined;
  let attestations: BridgeAttestationService | undefined;
  let control: Control | undefined;
  let player: Player | undefined;
  let solanaSetup: Promise<SolanaSetup> | undefined;
  let stopWatching = (): void => undefined;
  /** False while the service is being stopped on purpose. */
  let shouldRun = false;
  // Before anything is read from it.
  claimStateDir(options.stateDir, options);
  const resumed = !options.fresh && isSetUp(options.stateDir);
  report(options, "starting chains", `${resumed ? "saved" : "new"} state in ${options.stateDir}`);
  let prepared: PreparedService | undefined;
  const chains = await startChains({
    ...options,
    mining: options.mining !== false && { intervalMs: BLOCK_MS, ...options.mining },
    fresh: !resumed,
    onProblem: (problem, ended) => {
      if (ended) options.onFailure?.(problem);
    },
    async onClaimed(stateDir) {
      await stopLeftoverService(stateDir);
      // Loads while the chains start.
      prepared = prepareService({ stateDir, ...(options.env && { env: options.env }) });
    },
  }).catch(async (error: unknown) => {
    await prepared?.cancel();
    throw error;
  });
  const stop: Sandbox["stop"] = async (stopOptions) => {
    shouldRun = false;
    await control?.stop();
    await service?.stop();
    await stopLeftoverDatabase(statePaths(chains.stateDir).database);
    await attestations?.stop();
    stopWatching();
    // If the setup failed, there is no node to stop, and the start has already failed with that error.
    const solana = await solanaSetup?.catch(() => undefined);
    if (!stopOptions?.keepNodes) await solana?.node.stop();
    await chains.stop(stopOptions);
  };
  const watch = (started: RunningService) => {
    service = started;
    shouldRun = true;
    void started.exited.then(({ code, signal }) => {
      if (!shouldRun || service !== started) return;
      const log = statePaths(chains.stateDir).serviceLog;
      options.onFailure?.(
        new SandboxError(`the service exited with ${signal ?? `code ${code}`}: see ${log}`),
      );
    });
    return started;
  };

  try {
    const opened = openSolana(chains.stateDir, options);
    // Runs in parallel with the deployment of the contracts.
    solanaSetup = opened.then((node) => fundSolana(node, chains.stateDir));
    // The error comes from where it is awaited.
    solanaSetup.catch(() => undefined);
    const ports = await chooseServicePorts(options.ports);
    control = await openControl(options.ports?.control, () => player);
    const { deployment, keys, deploy, price } = await findContracts(chains, options);
    const bridge = await startBridgeAttestations({ chains, deployment, keys });
    attestations = bridge;
    const attestationsUrl = bridge.url;
    const parts = { chains, deployment, keys };
    const { rpcUrl: solanaRpcUrl, wsUrl } = await opened;
    const configPath = writeServiceConfig({
      ...options,
      ...parts,
      ports,
      feeToken: true,
      attestationsUrl,
      solanaRpcUrl,
      wsUrls: { ...listSockets(chains, options.rpcUrls), solana: wsUrl },
    });
    // Creates the database while the contracts are deployed.
    if (!prepared) throw new Error("the service is prepared before the chains start");
    const waiting = prepared;
    const ensuring = ensureIntegrators(chains.stateDir, waiting);
    // The error comes from where it is awaited.
    ensuring.catch(() => undefined);
    const [solana] = await Promise.all([solanaSetup, deploy()]);
    report(options, "chains", describeChains(chains, solana.node));
    const isNew = resumed ? ", resumed" : "";
    report(options, "contracts", `factory ${deployment.factory} on both EVM chains${isNew}`);
    stopWatching = watchNode(solana.node, () =>
      options.onFailure?.(
        new SandboxError(`the node of solana has exited: see ${solana.node.logPath}`),
      ),
    );
    report(options, "attestations", `stand-in for Circle's service at ${attestationsUrl}`);
    report(
      options,
      "starting service",
      `with its database, log in ${statePaths(chains.stateDir).serviceLog}`,
    );
    const integrators = await ensuring;
    const [started] = await Promise.all([waiting.serve(), price()]);
    const first = watch(started);
    report(
      options,
      "service",
      `api ${first.baseUrl}, quotes ${first.quoteUrl}, metrics ${first.telemetryUrl}/metrics`,
    );
    report(options, "integrators", integrators.map((one) => one.name).join(", "));
    const descriptor = writeDescriptor({
      ...parts,
      solana: { ...solana.node, payers: solana.payers },
      service: first,
      integrators,
      controlUrl: control.url,
    });
    const { stateDir } = chains;
    const restartService: Sandbox["restartService"] = async (env = options.env) => {
      shouldRun = false;
      await service?.stop();
      return watch(await startService({ stateDir, ...(env && { env }) }));
    };
    const play = createPlayer({
      ...parts,
      stateDir,
      descriptor,
      attestations: bridge,
      configPath,
      restartService: (added) => restartService(added && { ...options.env, ...added }),
    });
    player = play;
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
      play,
      get service() {
        return service ?? first;
      },
      restartService,
    };
  } catch (error) {
    if (!service) await prepared?.cancel();
    await stop();
    throw error;
  }
}

/** Returns the WebSockets of the nodes that the service uses directly; a proxy in front of a node may have none. */
function listSockets(
  { all }: SandboxChains,
  replaced: SandboxOptions["rpcUrls"],
): Partial<Record<ChainName, string>> {
  const direct = all.filter(({ name }) => replaced?.[name] === undefined);
  return Object.fromEntries(direct.map(({ name, wsUrl }) => [name, wsUrl]));
}

interface SolanaSetup {
  readonly node: SolanaNode;
  readonly payers: readonly SolanaPayer[];
}

/** Starts the Solana chain. */
function openSolana(stateDir: string, options: SandboxOptions): Promise<SolanaNode> {
  const port = options.ports?.solana;
  return openSolanaNode({
    dir: statePaths(stateDir).nodes,
    ...(port === undefined ? {} : { port }),
    ...options.solana,
  });
}

/** Funds the accounts of the Solana chain. If that fails, the node is stopped. */
async function fundSolana(node: SolanaNode, stateDir: string): Promise<SolanaSetup> {
  const paths = statePaths(stateDir);
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

/** Starts the stand-in for Circle's attestation service, for the EVM chains of a sandbox. */
export function startBridgeAttestations({
  chains,
  deployment,
  keys,
}: {
  readonly chains: SandboxChains;
  readonly deployment: Deployment;
  readonly keys: SandboxKeys;
}): Promise<BridgeAttestationService> {
  return startBridgeAttestationService({
    chains: chains.all.map(({ name, domain, client }) => ({
      domain,
      client,
      transmitter: deployment.chains[name].transmitter,
    })),
    attesters: keys.attesters.map(({ account }) => account),
    port: 0,
  });
}

/** Reports whether the state can be resumed. A start interrupted before the deployment left nothing to resume. */
function isSetUp(stateDir: string): boolean {
  return readDeployment(statePaths(stateDir).deployment) !== undefined;
}

/** Finds the deployed contracts, or plans them; `deploy` deploys planned ones, and records them. */
async function findContracts(chains: SandboxChains, options: SandboxOptions) {
  const paths = statePaths(chains.stateDir);
  const keys = loadKeys(paths.keys);
  const known = readDeployment(paths.deployment);
  if (known) {
    await assertDeployed(chains, known);
    const nothing = async () => undefined;
    return { deployment: known, keys, deploy: nothing, price: nothing };
  }
  const { delaySeconds } = options;
  const planned = await planContracts(
    chains,
    keys,
    delaySeconds === undefined ? {} : { delaySeconds },
  );
  return {
    ...planned,
    keys,
    async deploy() {
      await planned.deploy();
      writeDeployment(paths.deployment, planned.deployment);
    },
  };
}

/** Chooses the service's ports before its start, so that a restarted service keeps them. */
async function chooseServicePorts({
  api,
  quote,
  telemetry,
  console,
}: NonNullable<SandboxOptions["ports"]> = {}) {
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
      "metrics and health",
      "--telemetry-port",
    ),
    console: await choose(
      // A sandbox on any free port may run beside another one.
      console ?? (api === 0 ? 0 : DEFAULT_SERVICE_PORTS.console),
      "the operators' console",
      "--console-port",
    ),
  };
}

async function openControl(
  port: number | undefined,
  findPlayer: () => Player | undefined,
): Promise<Control> {
  const chosen = port ?? DEFAULT_CONTROL_PORT;
  await assertPortFree(chosen, "the control endpoint", "--control-port");
  return startControl(chosen, findPlayer);
}

function describeChains(chains: SandboxChains, solana: SolanaNode): string {
  const origin = { new: "", loaded: " (resumed)", adopted: " (was running)" } as const;
  return [...chains.all, { ...solana, name: SOLANA_SPEC.name }]
    .map((chain) => `${chain.name} ${chain.rpcUrl}${origin[chain.origin]}`)
    .join("; ");
}

function report(options: SandboxOptions, step: string, text: string): void {
  options.signal?.throwIfAborted();
  options.onStep?.(step, text);
}
