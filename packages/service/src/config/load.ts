/** Reads, checks and resolves the configuration. Every mistake is named by its setting; nothing starts with one. */
import { readFileSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { Type } from "typebox";
import { Value } from "typebox/value";
import { parseUnits } from "../core/amounts.ts";
import { type ChainKind, findChainById } from "../core/chain-registry.ts";
import { type EvmAddress, toEvmAddress } from "../core/hex.ts";
import { Secret } from "../core/secret.ts";
import { type AwsCredentials, createKeyResolver, type KeyConfig, type SignerName } from "./keys.ts";
import { type DeploymentConfig, deploymentOf } from "./deployment.ts";
import { findBadChecksums, findContradictions } from "./contradictions.ts";
import { type NodesConfig, nodesOf } from "./nodes.ts";
import { completeChain } from "./complete-chain.ts";
import { findPreset, type Preset } from "./presets/index.ts";
import { listProblems } from "./problems.ts";
import { type PriceConfig, priceOf } from "./prices.ts";
import { resolveRoutes } from "./routes.ts";
import {
  completeSolanaChain,
  isSolanaEntry,
  resolveSolanaChain,
  SolanaChain,
  type SolanaChainFile,
  type SolanaConfig,
  WrittenSolanaChain,
} from "./solana.ts";
import {
  Chain,
  type ChainFile,
  ConfigFile,
  type GAS_POLICIES,
  type KeyRef,
  LOG_LEVELS,
  type SecretRef,
  WrittenChain,
} from "./schema.ts";

/** What the contracts and the refund authority's 72 hours leave room for. */
const PAYOUT_WINDOW_MAX_S = 43_200;

/** A configuration that cannot be used; one problem a line, each naming a setting and what was expected. */
export class ConfigError extends Error {
  override readonly name = "ConfigError";
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(problems.join("\n"));
    this.problems = problems;
  }
}

export interface TokenConfig {
  readonly symbol: string;
  readonly address: EvmAddress;
  readonly decimals: number;
  /** Base units; undefined where no minimum is set. */
  readonly minDeposit: bigint | undefined;
  /** The minimum as written, in whole units. */
  readonly minDepositUnits: string | undefined;
  /** Base units of inventory below which an alert goes out; undefined where none does. */
  readonly inventoryMin: bigint | undefined;
  /** Where its price comes from; undefined where it has none. */
  readonly price: PriceConfig | undefined;
}

/** Who pays for the gas of a settlement: the operator, or the deposit under its committed cap. */
export type GasPolicy = (typeof GAS_POLICIES)[number];

/** Deployments, settlements and payouts use different lanes, so that one stuck nonce does not stop all. */
export const LANE_PURPOSES = ["deploy", "settle", "deliver"] as const;
export type LanePurpose = (typeof LANE_PURPOSES)[number];

/** Circle's CCTP, version 2, on one chain. */
export interface CctpConfig {
  /** Circle's own id of the chain. */
  readonly domain: number;
  /** `TokenMessengerV2`. */
  readonly messenger: EvmAddress;
  /** `MessageTransmitterV2`. */
  readonly transmitter: EvmAddress;
}

/** Uniswap v3 on one chain. */
export interface UniswapV3Config {
  /** `SwapRouter02`. */
  readonly router: EvmAddress;
  /** `QuoterV2`; undefined where nothing is swapped. */
  readonly quoter?: EvmAddress;
  /** The wrapped native coin. */
  readonly weth: EvmAddress;
}

export interface ChainConfig {
  /** The preset that the chain was made of; undefined where the file says everything. */
  readonly preset: Preset | undefined;
  /** Bridge chain id. */
  readonly chainId: number;
  readonly name: string;
  readonly kind: ChainKind;
  /** EIP-155 id; 0 where the chain is not EVM. */
  readonly evmChainId: number;
  readonly nodes: NodesConfig;
  readonly startBlock: number;
  /** What a deposit must be worth, in US dollars times 1e18; undefined where nothing is asked. */
  readonly minDepositUsd: bigint | undefined;
  readonly pollIntervalMs: number;
  /** How often balances in the native coin are compared, where it is listed. */
  readonly balanceCheckIntervalMs: number;
  /** Whether the node may be asked for traces. */
  readonly traces: boolean;
  readonly deliveryConfirmations: number;
  readonly contracts: {
    readonly factory: EvmAddress;
    readonly escrow: EvmAddress;
    readonly delivery: EvmAddress;
  };
  /** Undefined where the chain has none. */
  readonly cctp: CctpConfig | undefined;
  /** Undefined where the chain has none. */
  readonly uniswapV3: UniswapV3Config | undefined;
  readonly tokens: readonly TokenConfig[];
  readonly lanes: Readonly<Record<LanePurpose, readonly KeyConfig[]>>;
  /** The most that one lane may commit to gas in 24 hours, in wei; undefined where nothing is set. */
  readonly dailyGasBudget: bigint | undefined;
  /** Wei that a transaction costs besides its gas, where gas is charged. */
  readonly transactionSurcharge: bigint;
  /** What Solana has beyond; absent of EVM chains. */
  readonly solana?: SolanaConfig;
}

/** A swap in one pool of Uniswap v3, at a price that the attestor signs. */
export interface SwapConfig {
  /** What comes out, on the chain of the deposit. */
  readonly tokenOut: EvmAddress;
  /** The pool's, in hundredths of a basis point. */
  readonly poolFee: number;
  /** How far the pool's answer may be from what is fair. */
  readonly maxImpactBps: number;
  /** How far the pool may move between its answer and the swap; never more than the address allows. */
  readonly slippageBps: number;
}

export type RouteConfig =
  | {
      readonly kind: "MONO_CHAIN";
      readonly chainId: number;
      readonly token: EvmAddress;
      readonly contract: EvmAddress;
      /** How another token is delivered than the deposited one. */
      readonly swap?: SwapConfig;
    }
  | {
      readonly kind: "SWIFT";
      readonly chainId: number;
      readonly token: EvmAddress;
      readonly destChain: number;
      readonly destToken: EvmAddress;
      readonly contract: EvmAddress;
      /** The pair is not the same asset: sweeps carry a price that the attestor signs. */
      readonly priced: boolean;
    }
  | {
      readonly kind: "FAST_MCTP";
      readonly chainId: number;
      readonly token: EvmAddress;
      readonly destChain: number;
      readonly destToken: EvmAddress;
      readonly contract: EvmAddress;
      /** How another token becomes what the bridge carries. */
      readonly swap?: SwapConfig;
    };

export interface Config {
  readonly stateDir: string;
  /** One's own PostgreSQL; undefined means the embedded one. */
  readonly databaseUrl: Secret | undefined;
  readonly api: { readonly host: string; readonly port: number };
  readonly quote: { readonly host: string; readonly port: number };
  /** Metrics and health; undefined where they are not served. */
  readonly telemetry: { readonly host: string; readonly port: number } | undefined;
  /** Requests per minute. */
  readonly rateLimits: {
    readonly perKey: number;
    readonly perAddress: number;
    readonly wrongKeyPerAddress: number;
    readonly requestIndexPerKey: number;
  };
  /** Sockets of the stream that may be open at once. */
  readonly socketCaps: { readonly perKey: number; readonly perAddress: number };
  readonly trustedProxies: readonly string[];
  /** Origins whose pages may call from a browser. */
  readonly corsOrigins: readonly string[];
  readonly apiKeyPepper: Secret;
  readonly feeBps: number;
  /** Who pays for gas where an integrator has no policy of its own. */
  readonly gas: GasPolicy;
  readonly maxFeeBps: number;
  readonly maxSlippageBps: number;
  /** How long after its lock a delivery from inventory may be made, in seconds. */
  readonly payoutWindowS: bigint;
  /** Where Circle's attestation service answers; undefined where no route needs it. */
  readonly cctp: { readonly apiUrl: string } | undefined;
  readonly attestor: {
    readonly key: KeyConfig;
    /** Its own, by bridge chain id. */
    readonly nodes: ReadonlyMap<number, NodesConfig>;
  };
  /** What opens keystores; undefined where a person is asked. */
  readonly keystorePassphrase: Secret | undefined;
  /**
   * Sockets of signers that are processes of their own. At `vaults` the settler's signer listens too, for whoever may have
   * vaults derived and nothing signed.
   */
  readonly signers: Readonly<Record<SignerName | "vaults", string | undefined>>;
  /** Undefined where the environment has none. */
  readonly aws: AwsCredentials | undefined;
  /** Whom the contracts were made for; undefined where the file names each contract. */
  readonly deployment: DeploymentConfig | undefined;
  readonly chains: readonly ChainConfig[];
  readonly routes: readonly RouteConfig[];
  readonly logLevel: string;
  /** Tests only: the crash point at which the process kills itself. */
  readonly crashAt: string | undefined;
}

type Environment = Readonly<Record<string, string | undefined>>;

const DEFAULT_HOST = "127.0.0.1";
const API = { port: 8080 };
const QUOTE = { port: 8081 };
const PEPPER_LENGTH_MIN = 16;

/** What a process can be. */
export const ROLE_NAMES = ["scanner", "settler", "attestor", "auditor", "quoter", "api"] as const;
export type RoleName = (typeof ROLE_NAMES)[number];

/** The process's environment; nothing else reads it. */
export const processEnvironment: Environment = process.env;

/** Where the configuration is, by flag, environment or default. */
export function findConfigPath(flag: string | undefined, env: Environment): string {
  return resolve(flag ?? env.SLUICE_CONFIG ?? "sluice.json");
}

/**
 * Loads the configuration. Secrets of roles that the process does not have are neither needed nor read, and empty.
 * @throws ConfigError with every problem found.
 */
export function loadConfig(args: {
  readonly path: string;
  readonly env: Environment;
  /** All of them unless given. */
  readonly roles?: readonly RoleName[];
  /** Only keys are read: those of one signer, or `all`. For processes that have no role. */
  readonly keysOf?: SignerName | "all";
}): Config {
  const { path, env, keysOf } = args;
  const roles = keysOf ? [] : (args.roles ?? ROLE_NAMES);
  const has = (...names: readonly RoleName[]) => names.some((name) => roles.includes(name));
  // Which accounts a seed has is known once the seed is made.
  const accountsLater = keysOf === "all";
  const { file, chains: entries } = readFile(path, { accountsLater });
  const problems: string[] = [];
  const resolver = createResolver(dirname(path), env, problems);
  const resolverFor =
    (...names: readonly RoleName[]): SecretReader =>
    (ref, setting) =>
      has(...names) ? resolver(ref, setting) : new Secret("");

  const readKey = createKeyResolver({
    folder: dirname(path),
    readSecret: resolver,
    problems,
  });
  /** Keys are read where they are used: by their signer, or by their role where it has none. */
  const isHere = (name: SignerName) =>
    keysOf ? keysOf === name || keysOf === "all" : has(name) && file.signers?.[name] === undefined;
  const keyFor =
    (name: SignerName): KeyReader =>
    (ref, setting) =>
      readKey(ref, setting, isHere(name));
  const socketOf = (name: SignerName | "vaults") => {
    const socket = file.signers?.[name];
    return socket === undefined ? undefined : resolve(dirname(path), socket);
  };

  const api = listenerOf(file.api ?? API, env.SLUICE_API_PORT, "SLUICE_API_PORT", problems);
  const quote = listenerOf(
    file.quote ?? QUOTE,
    env.SLUICE_QUOTE_PORT,
    "SLUICE_QUOTE_PORT",
    problems,
  );
  // Processes of one machine share the file, and each needs a port of its own.
  const telemetryPort = env.SLUICE_TELEMETRY_PORT;
  const telemetry =
    file.telemetry || telemetryPort
      ? listenerOf({ port: 0, ...file.telemetry }, telemetryPort, "SLUICE_TELEMETRY_PORT", problems)
      : undefined;
  const chains = entries.map((chain, index) =>
    resolveAnyChain(chain, `chains[${index}]`, {
      readKey: keyFor("settler"),
      readSecret: resolverFor("scanner", "settler", "attestor", "quoter", "api"),
      problems,
    }),
  );
  const deployment = deploymentOf(file.deployment, problems);
  const routes = resolveRoutes(file.routes, { chains, deployment, problems });
  const maxFeeBps = file.maxFeeBps ?? 50;
  if (file.feeBps > maxFeeBps) {
    problems.push(`feeBps: expected at most maxFeeBps (${maxFeeBps}), got ${file.feeBps}`);
  }
  const pepper = resolverFor("api", "quoter")(file.apiKeyPepper, "apiKeyPepper");
  if (pepper.reveal().length > 0 && pepper.reveal().length < PEPPER_LENGTH_MIN) {
    problems.push(`apiKeyPepper: expected at least ${PEPPER_LENGTH_MIN} characters`);
  }
  const config: Config = {
    stateDir: resolve(dirname(path), file.stateDir),
    databaseUrl: keysOf ? undefined : databaseUrlOf(file, env, resolver, problems),
    api,
    quote,
    telemetry,
    rateLimits: {
      perKey: 600,
      perAddress: 300,
      wrongKeyPerAddress: 60,
      requestIndexPerKey: 60,
      ...file.rateLimits,
    },
    socketCaps: { perKey: 100, perAddress: 500, ...file.socketCaps },
    trustedProxies: file.trustedProxies ?? [],
    corsOrigins: file.corsOrigins ?? [],
    apiKeyPepper: pepper,
    feeBps: file.feeBps,
    gas: file.gas ?? "sponsored",
    maxFeeBps,
    maxSlippageBps: file.maxSlippageBps ?? 100,
    payoutWindowS: BigInt(file.payoutWindowSeconds ?? PAYOUT_WINDOW_MAX_S),
    cctp: file.cctp ?? cctpOf(chains),
    attestor: {
      key: keyFor("attestor")(file.attestor.key, "attestor.key"),
      nodes: attestorNodesOf(file.attestor.rpcUrls, chains, problems),
    },
    keystorePassphrase:
      file.keystorePassphrase &&
      (isHere("settler") || isHere("attestor") || undefined) &&
      resolver(file.keystorePassphrase, "keystorePassphrase"),
    signers: {
      settler: socketOf("settler"),
      attestor: socketOf("attestor"),
      vaults: socketOf("vaults"),
    },
    aws: awsOf(env),
    chains,
    deployment,
    routes: routes.map(({ route }) => route),
    logLevel: logLevelOf(file, env, problems),
    crashAt: env.SLUICE_CRASH_AT,
  };
  problems.push(
    ...findBadChecksums(file),
    ...findContradictions(config, routes, { accountsLater }),
  );
  if (problems.length > 0) throw new ConfigError([...new Set(problems)]);
  return config;
}

/** The file, and its chains completed by their presets. */
interface ReadFile {
  readonly file: ConfigFile;
  readonly chains: readonly AnyChainFile[];
}

type AnyChainFile = ChainFile | SolanaChainFile;

function readFile(path: string, options: { readonly accountsLater: boolean }): ReadFile {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (cause) {
    const code = cause instanceof Error && "code" in cause ? String(cause.code) : "unreadable";
    throw new ConfigError([
      `--config: expected a readable configuration file at ${path} (${code})`,
    ]);
  }
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch (error) {
    // The parser's own text repeats what it read.
    const at = /line \d+ column \d+/.exec(error instanceof Error ? error.message : "")?.[0];
    throw new ConfigError([`${path}: expected JSON${at ? `, which it is not at ${at}` : ""}`]);
  }
  const problems = [...listProblems(ConfigFile, parsed), ...listChainProblems(parsed)];
  const chains = hasChains(parsed) ? completeChains(parsed, problems, options) : [];
  if (problems.length > 0 || !Value.Check(ConfigFile, parsed)) throw new ConfigError(problems);
  return { file: parsed, chains };
}

/** What is wrong with the entries of chains, each by the schema of its family. */
function listChainProblems(parsed: unknown): string[] {
  if (!Value.Check(Type.Object({ chains: Type.Array(Type.Object({})) }), parsed)) return [];
  return parsed.chains.flatMap((entry, index) => {
    const setting = `chains[${index}]`;
    if (!isSolanaEntry(entry)) return listProblems(WrittenChain, entry, setting);
    // The EIP-155 id of Ethereum is easily taken for its bridge id.
    if ("evmChainId" in entry) {
      return [
        `${setting}.chainId: expected the bridge chain id of an EVM chain, as evmChainId is given: Ethereum is 2, and 1 is Solana`,
      ];
    }
    return listProblems(WrittenSolanaChain, entry, setting);
  });
}

/** Whether the chains, and what they take from the file beside their own entries, have the right form. */
function hasChains(parsed: unknown): parsed is Pick<
  ConfigFile,
  "contracts" | "deployment" | "httpPrices"
> & {
  readonly chains: readonly (WrittenChain | WrittenSolanaChain)[];
} {
  const { deployment, contracts, httpPrices, chains } = ConfigFile.properties;
  const shared = Type.Object({ deployment, contracts, httpPrices, chains });
  return Value.Check(shared, parsed) && listChainProblems(parsed).length === 0;
}

/** Each chain completed; what is still missing in one becomes a problem of its own entry. */
function completeChains(
  {
    chains,
    ...shared
  }: Pick<ConfigFile, "contracts" | "deployment" | "httpPrices"> & {
    readonly chains: readonly (WrittenChain | WrittenSolanaChain)[];
  },
  problems: string[],
  { accountsLater }: { readonly accountsLater: boolean },
): AnyChainFile[] {
  // What is wrong with the deployment is named once, when it is resolved for the routes.
  const deployment = deploymentOf(shared.deployment, []);
  return chains.flatMap((written, index): AnyChainFile[] => {
    const setting = `chains[${index}]`;
    const { contracts, httpPrices = true } = shared;
    const given = { setting, contracts, deployment, httpPrices, problems, accountsLater };
    if (isSolanaEntry(written)) {
      const chain = completeSolanaChain(written, given);
      if (Value.Check(SolanaChain, chain)) return [chain];
      problems.push(...listProblems(SolanaChain, chain, setting));
      return [];
    }
    const chain = completeChain(written, given);
    if (Value.Check(Chain, chain)) return [chain];
    problems.push(...listProblems(Chain, chain, setting));
    return [];
  });
}

/** Reads a secret; names the setting among the problems where it cannot. */
export type SecretReader = (ref: SecretRef, setting: string) => Secret;
type KeyReader = (ref: KeyRef, setting: string) => KeyConfig;

/** Credentials for a KMS, from where every tool of AWS looks first. */
function awsOf(env: Environment): AwsCredentials | undefined {
  const { AWS_ACCESS_KEY_ID: id, AWS_SECRET_ACCESS_KEY: key, AWS_SESSION_TOKEN: token } = env;
  if (!id || !key) return undefined;
  return {
    accessKeyId: id,
    secretAccessKey: new Secret(key),
    sessionToken: token ? new Secret(token) : undefined,
  };
}

function createResolver(folder: string, env: Environment, problems: string[]): SecretReader {
  return (ref, setting) => {
    if ("env" in ref) {
      const value = env[ref.env];
      if (!value)
        problems.push(`${setting}: expected the environment variable ${ref.env} to be set`);
      return new Secret(value ?? "");
    }
    const path = resolve(folder, ref.file);
    try {
      return new Secret(readFileSync(path, "utf8").trim());
    } catch {
      problems.push(`${setting}: expected a readable file at ${path}`);
      return new Secret("");
    }
  };
}

function databaseUrlOf(
  file: ConfigFile,
  env: Environment,
  resolver: SecretReader,
  problems: string[],
): Secret | undefined {
  const [url, setting] = env.DATABASE_URL
    ? [new Secret(env.DATABASE_URL), "DATABASE_URL"]
    : [file.database && resolver(file.database.url, "database.url"), "database.url"];
  if (url && url.reveal() !== "" && !/^postgres(ql)?:\/\//.test(url.reveal())) {
    problems.push(`${setting}: expected postgres://USER:PASSWORD@HOST:PORT/DATABASE`);
  }
  return url;
}

function logLevelOf(file: ConfigFile, env: Environment, problems: string[]): string {
  const level = env.SLUICE_LOG_LEVEL || (file.logLevel ?? "info");
  if (!LOG_LEVELS.some((known) => known === level)) {
    problems.push(`SLUICE_LOG_LEVEL: expected one of ${LOG_LEVELS.join(", ")}`);
  }
  return level;
}

function listenerOf(
  listener: { host?: string; port: number },
  override: string | undefined,
  variable: string,
  problems: string[],
): { host: string; port: number } {
  const host = listener.host ?? DEFAULT_HOST;
  if (!override) return { host, port: listener.port };
  const port = /^\d{1,5}$/.test(override) ? Number(override) : Number.NaN;
  if (!(port <= 65_535)) problems.push(`${variable}: expected a TCP port, 0 for any`);
  return { host, port };
}

interface GivenToChain {
  readonly readKey: KeyReader;
  /** Of the roles that read prices. */
  readonly readSecret: SecretReader;
  readonly problems: string[];
}

function resolveAnyChain(chain: AnyChainFile, setting: string, given: GivenToChain): ChainConfig {
  if (!("seed" in chain)) return resolveChain(chain, setting, given);
  const { problems, readSecret, readKey: readSeed } = given;
  return resolveSolanaChain(chain, setting, {
    nodes: chainNodesOf(chain, setting, problems),
    unitsOf: (token, name, at) => unitsOf(token, name, at, problems),
    readSeed,
    readSecret,
    problems,
  });
}

function resolveChain(chain: ChainFile, setting: string, given: GivenToChain): ChainConfig {
  const { readKey, readSecret, problems } = given;
  const known = findChainById(chain.chainId);
  if (!known) {
    problems.push(
      `${setting}.chainId: expected a bridge chain id of the registry, got ${chain.chainId}`,
    );
  }
  const lanesFor = (purpose: LanePurpose): readonly KeyConfig[] => {
    const where = `${setting}.lanes.${purpose}`;
    const refs = chain.lanes[purpose];
    if (!Array.isArray(refs)) return [readKey(refs, where)];
    return refs.map((ref, index) => readKey(ref, `${where}[${index}]`));
  };
  return {
    preset: chain.preset === undefined ? undefined : findPreset(chain.preset),
    chainId: chain.chainId,
    name: known?.name ?? String(chain.chainId),
    kind: "evm",
    evmChainId: chain.evmChainId,
    nodes: chainNodesOf(chain, setting, problems),
    startBlock: chain.startBlock,
    minDepositUsd:
      chain.minDepositUsd === undefined ? undefined : parseUnits(chain.minDepositUsd, 18),
    pollIntervalMs: chain.pollIntervalMs ?? 1_000,
    balanceCheckIntervalMs: chain.balanceCheckIntervalMs ?? 15_000,
    traces: chain.traces ?? true,
    deliveryConfirmations: chain.deliveryConfirmations ?? 1,
    contracts: {
      factory: toEvmAddress(chain.contracts.factory),
      escrow: toEvmAddress(chain.contracts.escrow),
      delivery: toEvmAddress(chain.contracts.delivery),
    },
    cctp: chain.cctp && {
      domain: chain.cctp.domain,
      messenger: toEvmAddress(chain.cctp.messenger),
      transmitter: toEvmAddress(chain.cctp.transmitter),
    },
    uniswapV3: chain.uniswapV3 && {
      router: toEvmAddress(chain.uniswapV3.router),
      ...(chain.uniswapV3.quoter && { quoter: toEvmAddress(chain.uniswapV3.quoter) }),
      weth: toEvmAddress(chain.uniswapV3.weth),
    },
    tokens: chain.tokens.map((token, index) => ({
      symbol: token.symbol,
      address: toEvmAddress(token.address),
      decimals: token.decimals,
      minDepositUnits: token.minDeposit,
      minDeposit: unitsOf(token, "minDeposit", `${setting}.tokens[${index}]`, problems),
      inventoryMin: unitsOf(token, "inventoryMin", `${setting}.tokens[${index}]`, problems),
      price:
        token.price &&
        priceOf(token.price, `${setting}.tokens[${index}].price`, { readSecret, problems }),
    })),
    lanes: {
      deploy: lanesFor("deploy"),
      settle: lanesFor("settle"),
      deliver: lanesFor("deliver"),
    },
    dailyGasBudget:
      chain.dailyGasBudget === undefined ? undefined : parseUnits(chain.dailyGasBudget, 18),
    transactionSurcharge: parseUnits(chain.transactionSurcharge ?? "0", 18),
  };
}

function chainNodesOf(
  { rpcUrl, rpcUrls, quorum }: AnyChainFile,
  setting: string,
  problems: string[],
): NodesConfig {
  if (rpcUrl === undefined && rpcUrls === undefined) {
    problems.push(`${setting}.rpcUrl: expected an http or https URL, it is missing`);
    return { urls: [""], quorum: 1 };
  }
  if (rpcUrl !== undefined && rpcUrls !== undefined) {
    problems.push(`${setting}.rpcUrls: expected either rpcUrl or rpcUrls`);
  }
  const [urls, name] = rpcUrls ? [rpcUrls, "rpcUrls"] : [[rpcUrl ?? ""], "rpcUrl"];
  return nodesOf(
    { urls, quorum },
    { urls: `${setting}.${name}`, quorum: `${setting}.quorum` },
    problems,
  );
}

function unitsOf(
  token: { minDeposit?: string; inventoryMin?: string; decimals: number },
  name: "minDeposit" | "inventoryMin",
  setting: string,
  problems: string[],
): bigint | undefined {
  const { [name]: units, decimals } = token;
  if (units === undefined) return undefined;
  try {
    return parseUnits(units, decimals);
  } catch {
    problems.push(`${setting}.${name}: expected at most ${decimals} decimals, got "${units}"`);
    return undefined;
  }
}

/**
 * Circle's own service vouches for what its own contracts burn: where every bridge is a preset's, and so of a public chain
 * that is no test network, it need not be written down.
 */
function cctpOf(chains: readonly ChainConfig[]): Config["cctp"] {
  const bridges = chains.flatMap(({ cctp, preset }) => (cctp ? [{ cctp, preset }] : []));
  const areCircles = bridges.every(
    ({ cctp, preset }) =>
      preset?.cctp &&
      preset.cctp.domain === cctp.domain &&
      toEvmAddress(preset.cctp.messenger) === cctp.messenger &&
      toEvmAddress(preset.cctp.transmitter) === cctp.transmitter,
  );
  return bridges.length > 0 && areCircles ? { apiUrl: CIRCLE_API_URL } : undefined;
}

/** As https://developers.circle.com/cctp names it; of test networks the host is another. */
const CIRCLE_API_URL = "https://iris-api.circle.com";

/** The attestor's nodes by bridge chain id. The file names chains by id or by name. */
function attestorNodesOf(
  rpcUrls: ConfigFile["attestor"]["rpcUrls"],
  chains: readonly ChainConfig[],
  problems: string[],
): ReadonlyMap<number, NodesConfig> {
  const nodes = new Map<number, NodesConfig>();
  for (const [name, urls] of Object.entries(rpcUrls)) {
    const at = `attestor.rpcUrls.${name}`;
    const chainId = /^\d+$/.test(name)
      ? Number(name)
      : chains.find((chain) => chain.name === name)?.chainId;
    if (chainId === undefined) {
      problems.push(`${at}: expected a configured chain`);
      continue;
    }
    if (nodes.has(chainId)) problems.push(`${at}: expected each chain once, by id or by name`);
    const given = { urls: Array.isArray(urls) ? urls : [urls], quorum: undefined };
    nodes.set(chainId, nodesOf(given, { urls: at, quorum: at }, problems));
  }
  return nodes;
}
