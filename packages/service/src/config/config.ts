/** The resolved configuration: the file with defaults, secrets and overrides from the environment. */
import { resolve } from "node:path";
import type { Frozen } from "../core/frozen.ts";
import { parseSolanaAddress } from "../core/base58.ts";
import { isEvmAddress, toEvmAddress } from "../core/hex.ts";
import { Secret } from "../core/secret.ts";
import { type ChainConfig, listEvmChains } from "./chains.ts";
import { isTest } from "./presets/index.ts";
import { resolveConnections } from "./connections.ts";
import type { DeploymentConfig } from "./deployment.ts";
import {
  CIRCLE_API_URL,
  CIRCLE_TEST_API_URL,
  type ConfigFile,
  DEFAULTS,
  type GasPolicy,
  LOG_LEVELS,
} from "./file.ts";
import { readAwsCredentials, readGoogleCredentials, type SignerName } from "./keys.ts";
import { resolveRequestsAtOnce } from "./limits.ts";
import { type NodesConfig, resolveAttestorNodes } from "./nodes.ts";
import type { Readers } from "./readers.ts";
import { resolveRefunds } from "./refunds.ts";
import type { RouteConfig } from "./route-config.ts";
import { resolveWebhooks } from "./webhooks.ts";

/** A short pepper could be guessed from a database dump and a known API key. */
const PEPPER_LENGTH_MIN = 16;

/** The resolved configuration. */
export interface Config extends Frozen<ReturnType<typeof resolveConfig>> {}

/** Resolves the file. Adds mistakes to the problems of the readers. */
export function resolveConfig(
  file: ConfigFile,
  resolved: {
    readonly chains: readonly ChainConfig[];
    readonly deployment: DeploymentConfig | undefined;
    readonly routes: readonly RouteConfig[];
    readonly attestors: ReturnType<typeof resolveAttestors>;
  },
  readers: Readers,
) {
  const { chains, deployment, routes, attestors } = resolved;
  const { folder, env, problems } = readers;
  return {
    stateDir: resolve(folder, file.stateDir),
    /** The operator's PostgreSQL; undefined for the embedded one. */
    databaseUrl: readers.onlyKeys ? undefined : readDatabaseUrl(file, readers),
    ...resolveListeners(file, readers),
    /** Where traces are sent; undefined if none are made. */
    tracing: resolveTracing(file, readers),
    ...resolveLimits(file, problems),
    apiKeyPepper: readPepper(file, readers),
    ...resolveTerms(file, problems),
    /** Circle's attestation service; undefined if no route needs it. */
    cctp: file.cctp ?? findCircle(chains),
    attestor: {
      key: readers.keysOf("attestor")(file.attestor.key, "attestor.key"),
      /** The database user of the attestor's machine; undefined if it connects as the owner of the tables. */
      databaseUser: file.attestor.databaseUser,
      /** The attestor's nodes, by bridge chain id. */
      nodes: resolveNodesOfAttestor(file.attestor.rpcUrls, chains, problems),
    },
    attestors,
    /** The operator's screening before sweeps; undefined if every deposit may be swept. */
    screening: resolveScreening(file, readers),
    /** Refunds that the attestors sign. */
    refunds: resolveRefunds(file.refunds, problems),
    /** Passphrase of the keystores; undefined if the operator enters it at a prompt. */
    keystorePassphrase: readPassphrase(file, readers),
    /**
     * Sockets of signers that run as separate processes. The settler's signer also listens at `vaults`, where it
     * derives vaults and signs nothing.
     */
    signers: resolveSockets(file, folder),
    /** Undefined if the environment has none. */
    aws: readAwsCredentials(env),
    google: readGoogleCredentials(env),
    /** Constructor arguments of the contracts; undefined if the file names each contract. */
    deployment,
    chains,
    routes,
    logLevel: resolveLogLevel(file, readers),
    /** Tests only: the crash point at which the process kills itself. */
    crashAt: env.SLUICE_CRASH_AT,
  };
}

/** Returns the URL of the operator's PostgreSQL; the environment overrides the file. Never repeats it in a problem. */
function readDatabaseUrl(file: ConfigFile, { env, readSecret, problems }: Readers) {
  const [url, setting] = env.DATABASE_URL
    ? [new Secret(env.DATABASE_URL), "DATABASE_URL"]
    : [file.database && readSecret(file.database.url, "database.url"), "database.url"];
  if (url && url.reveal() !== "" && !/^postgres(ql)?:\/\//.test(url.reveal())) {
    problems.push(`${setting}: expected postgres://USER:PASSWORD@HOST:PORT/DATABASE`);
  }
  return url;
}

function resolveTracing({ tracing }: ConfigFile, { onlyKeys, readSecret }: Readers) {
  if (tracing === undefined) return undefined;
  const { url, token } = tracing;
  return {
    url,
    token: token && !onlyKeys ? readSecret(token, "tracing.token") : undefined,
  };
}

/** Resolves the console's identity provider; undefined without one. */
function resolveProvider(
  provider: NonNullable<ConfigFile["console"]>["identityProvider"],
  { secretsOf }: Readers,
) {
  if (provider === undefined) return undefined;
  const { issuer, clientId, clientSecret } = provider;
  const setting = "console.identityProvider.clientSecret";
  return {
    issuer,
    clientId,
    clientSecret: clientSecret && secretsOf("api")(clientSecret, setting),
  };
}

/** Resolves the listeners. Ports from the environment allow several processes to share one file. */
function resolveListeners(file: ConfigFile, readers: Readers) {
  const { env, problems } = readers;
  const resolveOne = (
    listener: NonNullable<ConfigFile["api"]>,
    variable: "SLUICE_API_PORT" | "SLUICE_QUOTE_PORT" | "SLUICE_TELEMETRY_PORT",
  ) => {
    const host = listener.host ?? DEFAULTS.host;
    const override = env[variable];
    if (!override) return { host, port: listener.port };
    const port = /^\d{1,5}$/.test(override) ? Number(override) : Number.NaN;
    if (!(port <= 65_535)) problems.push(`${variable}: expected a TCP port, 0 for any`);
    return { host, port };
  };
  return {
    api: resolveOne(file.api ?? { port: DEFAULTS.apiPort }, "SLUICE_API_PORT"),
    quote: resolveOne(file.quote ?? { port: DEFAULTS.quotePort }, "SLUICE_QUOTE_PORT"),
    /** Metrics and health; undefined if not served. Processes on one machine share the file, not the port. */
    telemetry:
      file.telemetry || env.SLUICE_TELEMETRY_PORT
        ? resolveOne({ port: 0, ...file.telemetry }, "SLUICE_TELEMETRY_PORT")
        : undefined,
    /** The operators' console; undefined if not served. Without an origin it is the listener's, by the name localhost. */
    console: file.console
      ? {
          host: file.console.host ?? DEFAULTS.host,
          port: file.console.port,
          origin: file.console.origin,
          identityProvider: resolveProvider(file.console.identityProvider, readers),
        }
      : undefined,
  };
}

function resolveLimits(file: ConfigFile, problems: string[]) {
  return {
    /** Requests per minute. */
    rateLimits: { ...DEFAULTS.rateLimits, ...file.rateLimits },
    /** Maximum number of open sockets of the stream. */
    socketCaps: { ...DEFAULTS.socketCaps, ...file.socketCaps },
    /** Quotas of integrators without their own. */
    quotas: { ...DEFAULTS.quotas, ...file.quotas },
    /** As clients see them, through a proxy; undefined for those of the listeners. */
    publicUrls: { api: file.publicUrls?.api, quote: file.publicUrls?.quote },
    telemetryHosts: file.telemetryHosts ?? [],
    shareRateLimits: file.shareRateLimits ?? false,
    requestsAtOnce: resolveRequestsAtOnce(file.requestsAtOnce),
    /** The most database connections of each role. */
    databaseConnections: resolveConnections(file.databaseConnections),
    /** Where webhooks may be sent. */
    webhooks: resolveWebhooks(file.webhooks, problems),
    trustedProxies: file.trustedProxies ?? [],
    /** Origins whose pages may call the API from a browser. */
    corsOrigins: file.corsOrigins ?? [],
    payPage: { frameAncestors: file.payPage?.frameAncestors ?? [] },
  };
}

function readPepper(file: ConfigFile, { secretsOf, problems }: Readers): Secret {
  const pepper = secretsOf("api", "quoter", "webhooks")(file.apiKeyPepper, "apiKeyPepper");
  if (pepper.reveal().length > 0 && pepper.reveal().length < PEPPER_LENGTH_MIN) {
    problems.push(`apiKeyPepper: expected at least ${PEPPER_LENGTH_MIN} characters`);
  }
  return pepper;
}

/** Resolves fees and caps. A fee above the default cap could never be charged in full. */
function resolveTerms(file: ConfigFile, problems: string[]) {
  const { feeBps, maxFeeBps = DEFAULTS.maxFeeBps } = file;
  if (feeBps > maxFeeBps) {
    problems.push(`feeBps: expected at most maxFeeBps (${maxFeeBps}), got ${feeBps}`);
  }
  const gas: GasPolicy = file.gas ?? DEFAULTS.gas;
  return {
    feeBps,
    /** Gas policy of integrators without their own. */
    gas,
    maxFeeBps,
    maxSlippageBps: file.maxSlippageBps ?? DEFAULTS.maxSlippageBps,
    /** The most by which the attestor's rate may differ from the service's own, in basis points. */
    rateToleranceBps: file.rateToleranceBps ?? DEFAULTS.rateToleranceBps,
    inventoryShares: resolveShares(file),
    /** Seconds after its lock within which a delivery can be paid from inventory. */
    payoutWindowS: BigInt(file.payoutWindowSeconds ?? DEFAULTS.payoutWindowSeconds),
  };
}

/** Resolves the screening. An address that cannot be read would never be found among senders. */
function resolveScreening({ screening }: ConfigFile, { secretsOf, problems }: Readers) {
  if (screening === undefined) return undefined;
  const { url, token, denied = [], timeoutSeconds = DEFAULTS.screeningTimeoutSeconds } = screening;
  if (url === undefined && denied.length === 0) {
    problems.push("screening: expected a url, or denied senders");
  }
  const parsed = denied.map((text, index) => {
    const address = isEvmAddress(text) ? toEvmAddress(text) : parseSolanaAddress(text);
    if (!address) problems.push(`screening.denied[${index}]: expected an address, got ${text}`);
    return address ?? text;
  });
  return {
    url,
    token: token && secretsOf("settler")(token, "screening.token"),
    timeoutMs: timeoutSeconds * 1_000,
    denied: parsed,
  };
}

/** The most that one address and one integrator may reserve of an inventory, in basis points. */
export interface InventoryShares {
  readonly addressBps: number;
  readonly integratorBps: number;
}

function resolveShares({ inventoryShares = {} }: ConfigFile): InventoryShares {
  const { addressBps, integratorBps } = DEFAULTS.inventoryShares;
  return {
    addressBps: inventoryShares.addressBps ?? addressBps,
    integratorBps: inventoryShares.integratorBps ?? integratorBps,
  };
}

/**
 * Returns Circle's public service, for main or for test networks, if every chain with `cctp` takes it from its preset;
 * undefined otherwise, because the burns of other contracts are attested elsewhere.
 */
function findCircle(chains: readonly ChainConfig[]): { readonly apiUrl: string } | undefined {
  const bridges = listEvmChains({ chains }).filter(({ cctp }) => cctp);
  const areCircles = bridges.every(
    ({ cctp, preset }) =>
      preset?.cctp &&
      cctp &&
      preset.cctp.domain === cctp.domain &&
      toEvmAddress(preset.cctp.messenger) === cctp.messenger &&
      toEvmAddress(preset.cctp.transmitter) === cctp.transmitter,
  );
  if (bridges.length === 0 || !areCircles) return undefined;
  // Main and test networks together are a contradiction, which is reported by name.
  const areTests = bridges.some(({ preset }) => preset && isTest(preset));
  return { apiUrl: areTests ? CIRCLE_TEST_API_URL : CIRCLE_API_URL };
}

/** Resolves the attestors of the installation. */
export function resolveAttestors({ attestors = {}, attestor }: ConfigFile) {
  const {
    threshold = DEFAULTS.attestorThreshold,
    accounts = [],
    cold = [],
    databaseUsers = [],
  } = attestors;
  const own = attestor.databaseUser === undefined ? [] : [attestor.databaseUser];
  return {
    /** Signatures that an attestation needs. */
    threshold,
    /** Empty if any one attestor's signature counts. */
    accounts: accounts.map(toEvmAddress),
    /** Registered in the contracts and kept offline, until an attestor's key is lost. */
    cold: cold.map(toEvmAddress),
    /** Users of the database, one for each attestor that does not connect as the owner of the tables. */
    databaseUsers: [...new Set([...own, ...databaseUsers])],
  };
}

/** Returns the attestor's nodes by bridge chain id. The file names chains by id or by name. */
function resolveNodesOfAttestor(
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
    nodes.set(chainId, resolveAttestorNodes(urls, at, problems));
  }
  return nodes;
}

/** Returns the keystore passphrase; undefined if the file has none or this process opens no key. */
function readPassphrase(file: ConfigFile, { opens, readSecret }: Readers): Secret | undefined {
  if (!file.keystorePassphrase || (!opens("settler") && !opens("attestor"))) return undefined;
  return readSecret(file.keystorePassphrase, "keystorePassphrase");
}

/** Resolves the paths of the signers' sockets against the folder of the file. */
function resolveSockets({ signers }: ConfigFile, folder: string) {
  const pathOf = (name: SignerName | "vaults") => {
    const socket = signers?.[name];
    return socket === undefined ? undefined : resolve(folder, socket);
  };
  return {
    settler: pathOf("settler"),
    attestor: pathOf("attestor"),
    vaults: pathOf("vaults"),
  };
}

function resolveLogLevel(file: ConfigFile, { env, problems }: Readers): string {
  const level = env.SLUICE_LOG_LEVEL || (file.logLevel ?? DEFAULTS.logLevel);
  if (!LOG_LEVELS.some((known) => known === level)) {
    problems.push(`SLUICE_LOG_LEVEL: expected one of ${LOG_LEVELS.join(", ")}`);
  }
  return level;
}
