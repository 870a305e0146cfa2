/**
 * Compares a configuration with the one that a process runs with: which settings may change while it runs, and why others
 * may not. Every setting is listed, so that a new one cannot be forgotten.
 */
import { isDeepStrictEqual } from "node:util";
import { Secret } from "../core/secret.ts";
import type { ChainConfig } from "./chains.ts";
import type { Config } from "./config.ts";
import type { EvmChain } from "./evm-chain.ts";
import type { RouteConfig } from "./route-config.ts";
import type { SolanaChain } from "./solana-chain.ts";

/** Whether a setting may change while the process runs: the reason if it may not. */
type Rule = "live" | { readonly restart: string };

const LISTENER: Rule = { restart: "listeners are opened when the process starts" };
const DATABASE: Rule = { restart: "the database is connected when the process starts" };
const KEYS: Rule = { restart: "keys are opened when the process starts" };
const CONTRACT: Rule = {
  restart: "addresses and locks depend on it; it changes with a new deployment",
};
const NETWORK: Rule = { restart: "it names the network to which every record belongs" };

/** Settings of the file. `chains`, `routes` and `attestor` are compared by their parts. */
const SETTINGS: Readonly<Record<Exclude<keyof Config, "chains" | "routes" | "attestor">, Rule>> = {
  stateDir: DATABASE,
  databaseUrl: DATABASE,
  databaseConnections: DATABASE,
  api: LISTENER,
  quote: LISTENER,
  telemetry: LISTENER,
  telemetryHosts: LISTENER,
  console: LISTENER,
  trustedProxies: LISTENER,
  socketCaps: LISTENER,
  apiKeyPepper: { restart: "every API key depends on it" },
  keystorePassphrase: KEYS,
  aws: KEYS,
  google: KEYS,
  signers: KEYS,
  deployment: CONTRACT,
  payoutWindowS: CONTRACT,
  tracing: { restart: "traces are sent from the start of the process" },
  logLevel: { restart: "the log is opened when the process starts" },
  crashAt: { restart: "it is for tests" },
  shareRateLimits: { restart: "requests are counted in one place while the process runs" },
  rateLimits: "live",
  requestsAtOnce: "live",
  quotas: "live",
  publicUrls: "live",
  webhooks: "live",
  corsOrigins: "live",
  payPage: "live",
  feeBps: "live",
  gas: "live",
  maxFeeBps: "live",
  maxSlippageBps: "live",
  rateToleranceBps: "live",
  inventoryShares: "live",
  cctp: "live",
  attestors: "live",
  screening: "live",
  refunds: "live",
};

const ATTESTOR: Readonly<Record<keyof Config["attestor"], Rule>> = {
  key: KEYS,
  databaseUser: DATABASE,
  nodes: "live",
};

/** Settings of a chain. `tokens` are compared one by one. */
const CHAIN: Readonly<Record<Exclude<keyof EvmChain | keyof SolanaChain, "tokens">, Rule>> = {
  kind: NETWORK,
  chainId: NETWORK,
  name: NETWORK,
  evmChainId: NETWORK,
  genesisHash: NETWORK,
  preset: NETWORK,
  startBlock: { restart: "the scanner has begun: read blocks again with `sluice scanner reread`" },
  startSlot: { restart: "the scanner has begun: read slots again with `sluice scanner reread`" },
  contracts: CONTRACT,
  accounts: CONTRACT,
  seed: CONTRACT,
  explorerTxUrl: "live",
  nodes: "live",
  minDepositUsd: "live",
  pollIntervalMs: "live",
  balanceCheckIntervalMs: "live",
  traces: "live",
  deliveryConfirmations: "live",
  earlyPayouts: "live",
  cctp: "live",
  uniswapV3: "live",
  lanes: "live",
  dailyGasBudget: "live",
  gasPriceMax: "live",
  transactionSurcharge: "live",
  detectAt: "live",
  mints: "live",
  attestors: "live",
  dailyCaps: "live",
  priorityFeeMax: "live",
  dailyFeeBudget: "live",
};

/** A setting that may not change while the process runs. */
export interface Refused {
  readonly setting: string;
  readonly reason: string;
}

/** What a configuration changes. */
export interface Comparison {
  /** Names of the settings that differ, never their values: some are secret. */
  readonly changed: readonly string[];
  readonly refused: readonly Refused[];
}

/** Compares the configuration of a running process with the next one. */
export function compareConfigs(running: Config, next: Config): Comparison {
  const found = [
    ...compareBy(SETTINGS, "", running, next),
    ...compareBy(ATTESTOR, "attestor.", running.attestor, next.attestor),
    ...compareLists("chains", { old: running.chains, next: next.chains }, (chain) => chain.name),
    ...running.chains.flatMap((chain) => {
      const changed = next.chains.find(({ chainId }) => chainId === chain.chainId);
      return changed ? compareChains(chain, changed) : [];
    }),
    ...compareLists("routes", { old: running.routes, next: next.routes }, nameRoute),
    ...running.routes.flatMap((route) => {
      const same = next.routes.find((one) => nameRoute(one) === nameRoute(route));
      return same && !isSame(route, same)
        ? [{ setting: `routes.${nameRoute(route)}`, rule: "live" as const }]
        : [];
    }),
  ];
  return {
    changed: found.map(({ setting }) => setting),
    refused: found.flatMap(({ setting, rule }) =>
      rule === "live" ? [] : [{ setting, reason: rule.restart }],
    ),
  };
}

interface Found {
  readonly setting: string;
  readonly rule: Rule;
}

function compareBy<Name extends string>(
  rules: Readonly<Record<Name, Rule>>,
  place: string,
  old: object,
  next: object,
): Found[] {
  return Object.entries<Rule>(rules).flatMap(([name, rule]) =>
    isSame(Reflect.get(old, name), Reflect.get(next, name))
      ? []
      : [{ setting: `${place}${name}`, rule }],
  );
}

/** Why an item must stay in its list: work of it may be in flight. */
const REMOVED: Readonly<Record<"chains" | "routes" | "tokens", string>> = {
  chains: "a chain leaves with `sluice chain retire`",
  routes: "a route is switched off with `sluice pause`",
  tokens: "deposits of a token that is not listed are not detected",
};

/** Finds the items that were added to a list or removed from it, by their names. */
function compareLists<Item>(
  list: keyof typeof REMOVED,
  { old, next, place = list }: { old: readonly Item[]; next: readonly Item[]; place?: string },
  nameOf: (item: Item) => string,
): Found[] {
  const [before, after] = [new Set(old.map(nameOf)), new Set(next.map(nameOf))];
  const added = [...after].filter((name) => !before.has(name));
  const removed = [...before].filter((name) => !after.has(name));
  return [
    ...added.map((name) => ({ setting: `${place}.${name}`, rule: "live" as const })),
    ...removed.map((name) => ({
      setting: `${place}.${name}`,
      rule: { restart: REMOVED[list] },
    })),
  ];
}

function compareChains(old: ChainConfig, next: ChainConfig): Found[] {
  const place = `chains.${old.name}`;
  const tokens = { old: old.tokens, next: next.tokens, place: `${place}.tokens` };
  return [
    ...compareBy(CHAIN, `${place}.`, old, next),
    ...compareLists("tokens", tokens, ({ address }) => address),
    ...old.tokens.flatMap((token) => {
      const same = next.tokens.find(({ address }) => address === token.address);
      if (!same || isSame(token, same)) return [];
      const rule: Rule = token.decimals === same.decimals ? "live" : NETWORK;
      return [{ setting: `${place}.tokens.${token.symbol}`, rule }];
    }),
  ];
}

function isSame(one: unknown, other: unknown): boolean {
  return isDeepStrictEqual(reveal(one), reveal(other));
}

/** Returns a value with its secrets as text, which only a comparison may see. */
function reveal(value: unknown): unknown {
  if (value instanceof Secret) return value.reveal();
  if (Array.isArray(value)) return value.map(reveal);
  if (value instanceof Map) return new Map([...value].map(([key, one]) => [key, reveal(one)]));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, reveal(one)]));
}

/** Names a route by what a settlement through it remembers. */
function nameRoute({ kind, chainId, token, destChain, destToken, contract }: RouteConfig): string {
  return [kind, chainId, token, destChain, destToken, contract].join(":");
}
