/** Finds settings that contradict each other, which a schema cannot express. */
import { isAddress } from "@sluice/sdk/address";
import {
  type Address,
  isEvmAddress,
  isNative,
  NATIVE_SOL,
  NATIVE_TOKEN,
  nativeOf,
} from "../core/hex.ts";
import { findWalletFault } from "../core/solana-wallet.ts";
import {
  type ChainConfig,
  isLocal,
  listEvmChains,
  listLaneKeys,
  listSolanaChains,
} from "./chains.ts";
import { DELAY_MIN_S } from "./deployment.ts";
import type { EvmChain } from "./evm-chain.ts";
import { isSameKey } from "./keys.ts";
import { isTest } from "./presets/index.ts";
import type { Config } from "./config.ts";
import type { NodesConfig } from "./nodes.ts";
import { findPlaceProblems } from "./route-checks.ts";
import type { RouteDefinition } from "./route-definition.ts";
import type { TokenConfig } from "./tokens.ts";
import { definitionOf, keyOf, type PlacedRoute } from "./routes.ts";
import { SOLANA_DECIMALS } from "./solana-chain.ts";

/** Returns every contradiction, one line each, naming the setting. */
export function findContradictions(
  config: Config,
  /** The routes of the configuration, with the settings that define them. */
  routes: readonly PlacedRoute[],
  {
    definitions,
    accountsLater,
  }: { readonly definitions: readonly RouteDefinition[]; readonly accountsLater: boolean },
): string[] {
  return [
    ...config.chains.flatMap((chain, index) => checkChain(config, chain, index)),
    ...checkNetworks(config),
    ...checkDelay(config),
    ...checkSolana(config, accountsLater),
    ...checkSigners(config),
    ...checkAttestor(config),
    ...checkAttestors(config),
    ...checkGas(config),
    ...checkRefills(config),
    ...routes.flatMap((placed, index) =>
      checkRoute(config, placed, { earlier: routes.slice(0, index), definitions }),
    ),
  ];
}

/** Checks that an inventory with a target has a treasury that can refill it. */
function checkRefills({ chains }: Config): string[] {
  return chains.flatMap((chain, index) =>
    chain.tokens.flatMap(({ symbol, inventoryMin, inventoryTarget }) => {
      if (inventoryTarget === undefined) return [];
      const setting = `chains[${index}].tokens.${symbol}`;
      if (chain.kind !== "evm") {
        return [
          `${setting}.inventoryTarget: expected none on Solana, which no treasury contract refills`,
        ];
      }
      const problems: string[] = [];
      if (chain.contracts.treasury === undefined) {
        problems.push(
          `${setting}.inventoryTarget: expected contracts.treasury, or a deployment without treasury: the contract refills it`,
        );
      }
      if (inventoryMin === undefined || inventoryMin > inventoryTarget) {
        problems.push(`${setting}.inventoryTarget: expected inventoryMin, and not less than it`);
      }
      return problems;
    }),
  );
}

/** Checks that main and test networks are apart: money without a value would buy some that has one. */
function checkNetworks({ chains }: Config): string[] {
  const presets = chains.flatMap(({ preset }) => preset ?? []);
  const tests = presets.filter(isTest).map(({ name }) => name);
  const mains = presets.filter((preset) => !isTest(preset)).map(({ name }) => name);
  if (tests.length === 0 || mains.length === 0) return [];
  return [
    `chains: expected main networks (${mains.join(", ")}) or test networks (${tests.join(", ")}), not both`,
  ];
}

/** Checks that the contracts can be deployed with the owner's delay: elsewhere their constructors revert. */
function checkDelay(config: Config): string[] {
  const { deployment } = config;
  if (!deployment || deployment.delaySeconds >= DELAY_MIN_S) return [];
  if (listEvmChains(config).every((chain) => isLocal(chain))) return [];
  return [
    `deployment.delaySeconds: expected at least ${DELAY_MIN_S} (7 days), the contracts refuse ${deployment.delaySeconds}`,
  ];
}

/** Checks one chain against the chains before it in the list, so that each contradiction is reported once. */
function checkChain(config: Config, chain: ChainConfig, index: number): string[] {
  const problems: string[] = [];
  const setting = `chains[${index}]`;
  const chains = config.chains.slice(0, index);
  // Rows, addresses and routes name a chain by this id alone.
  if (chains.some(({ chainId }) => chainId === chain.chainId)) {
    problems.push(`${setting}.chainId: expected each chain once, ${chain.chainId} is there twice`);
  }
  // A token listed twice could have two minimums and two prices.
  const seen = new Set<string>();
  for (const [position, token] of chain.tokens.entries()) {
    const at = `${setting}.tokens[${position}]`;
    if (seen.has(token.address)) problems.push(`${at}.address: expected each token once`);
    if (isNative(token.address)) problems.push(...checkNative(chain, token, at));
    seen.add(token.address);
  }
  for (const { grpcUrl, grpcToken } of chain.nodes.all) {
    if (grpcUrl !== undefined && chain.kind === "evm") {
      problems.push(`${setting}.rpcUrls: expected no grpcUrl, only Solana has streams`);
    }
    if (grpcToken !== undefined && grpcUrl === undefined) {
      problems.push(`${setting}.rpcUrls: expected a grpcUrl beside grpcToken`);
    }
  }
  if (chain.kind === "evm") {
    problems.push(...checkEvmChain(listEvmChains({ chains }), chain, setting));
  }
  return problems;
}

/** Checks ids that Ethereum and Circle assign, addresses that were left at zero, and the accounts of lanes. */
function checkEvmChain(earlier: readonly EvmChain[], chain: EvmChain, setting: string): string[] {
  const problems: string[] = [];
  if (earlier.some(({ evmChainId }) => evmChainId === chain.evmChainId)) {
    problems.push(`${setting}.evmChainId: expected one of its own, another chain has it too`);
  }
  // A burn names its destination by the domain: with two chains of one domain, USDC would be minted on the other.
  if (chain.cctp && earlier.some(({ cctp }) => cctp?.domain === chain.cctp?.domain)) {
    problems.push(`${setting}.cctp.domain: expected one of its own, another chain has it too`);
  }
  for (const group of ["contracts", "cctp", "uniswapV3"] as const) {
    for (const [name, value] of Object.entries(chain[group] ?? {})) {
      if (value === NATIVE_TOKEN) {
        problems.push(`${setting}.${group}.${name}: expected a contract, not the zero address`);
      }
    }
  }
  // An account has one nonce sequence; two lanes on it would assign the same nonces.
  const lanes = Object.values(chain.lanes).flat();
  for (const [position, key] of lanes.entries()) {
    if (lanes.slice(0, position).some((other) => isSameKey(other, key))) {
      problems.push(`${key.setting}: expected a key that no other lane uses`);
    }
  }
  for (const [purpose, keys] of Object.entries(chain.lanes)) {
    // A retired lane takes no new work, so the purpose would have none.
    if (keys.length > 0 && keys.every(({ retired }) => retired)) {
      problems.push(`${setting}.lanes.${purpose}: expected a key that is not retired`);
    }
  }
  return problems;
}

/** Checks that the native coin has the chain's name as its symbol, as on the wire, and the decimals of its family. */
function checkNative(chain: ChainConfig, token: TokenConfig, setting: string): string[] {
  const symbol = chain.name.toUpperCase();
  return [
    ...(token.symbol === symbol
      ? []
      : [`${setting}.symbol: expected ${symbol}, as the native coin is called`]),
    ...(token.decimals === NATIVE_DECIMALS[chain.kind]
      ? []
      : [`${setting}.decimals: expected ${NATIVE_DECIMALS[chain.kind]}, as the native coin has`]),
  ];
}

const NATIVE_DECIMALS = { evm: 18, svm: SOLANA_DECIMALS } as const;

/** Checks the accounts, the seed and the daily caps that the Solana signer relies on. */
function checkSolana({ chains, attestor, routes }: Config, accountsLater: boolean): string[] {
  const [chain] = listSolanaChains({ chains });
  if (!chain) return [];
  const problems: string[] = [];
  const setting = `chains[${chains.indexOf(chain)}]`;
  if (listEvmChains({ chains }).length === 0) {
    problems.push(
      "chains: expected an EVM chain beside Solana: deliveries are named by the wallet of its factory",
    );
  }
  // Witnesses confirm by receipts and parents of blocks by height, which Solana has not.
  const isWitnessed = (nodes?: NodesConfig) => nodes?.all.some(({ role }) => role === "witness");
  for (const [at, nodes] of [
    [`${setting}.rpcUrls`, chain.nodes],
    [`attestor.rpcUrls.${chain.name}`, attestor.nodes.get(chain.chainId)],
  ] as const) {
    if (isWitnessed(nodes))
      problems.push(`${at}: expected full nodes only, Solana has no witnesses`);
  }
  const { binding, escrow, delivery, treasury } = chain.accounts;
  // Without the accounts (`sluice keys init` runs before they are known), they are zero and not compared.
  const accounts = Object.entries({ binding, escrow, delivery, treasury }).filter(
    ([, address]) => !(accountsLater && address === NATIVE_SOL),
  );
  for (const [position, [name, address]] of accounts.entries()) {
    // An address off the curve belongs to a program: nobody can sign for it.
    if (findWalletFault(address) !== undefined) {
      problems.push(
        `${setting}.contracts.${name}: expected an account with a private key (on the ed25519 curve)`,
      );
    }
    if (accounts.slice(0, position).some(([, other]) => other === address)) {
      problems.push(`${setting}.contracts.${name}: expected an account of its own`);
    }
  }
  // A thief of a lane's key must not have the seed with it.
  const keys = [attestor.key, ...listLaneKeys({ chains })];
  if (keys.some((key) => isSameKey(key, chain.seed))) {
    problems.push(`${setting}.seed: expected a secret that no key uses`);
  }
  for (const route of routes) {
    if (!route.fromInventory || route.destChain !== chain.chainId) continue;
    const token = chain.tokens.find(({ address }) => address === route.destToken);
    if (!token || chain.dailyCaps.has(token.address)) continue;
    problems.push(
      `${setting}.dailyCaps: expected a cap of ${token.symbol}, a route delivers it from inventory`,
    );
  }
  return [...new Set(problems)];
}

/** Checks that `vaults` has its own socket: the settler's signer limits a caller by the socket it uses. */
function checkSigners({ signers: { settler, attestor, vaults } }: Config): string[] {
  if (vaults === undefined) return [];
  if (settler === undefined) {
    return ["signers.vaults: expected signers.settler too: the same signer listens on both"];
  }
  return vaults === settler || vaults === attestor
    ? ["signers.vaults: expected a socket of its own"]
    : [];
}

/** Checks that there are enough attestors for the threshold, also in the list of Solana's signer. */
function checkAttestors({ attestors: { threshold, accounts }, chains }: Config): string[] {
  const problems: string[] = [];
  const named = new Set(accounts).size;
  if (accounts.length !== named) {
    problems.push("attestors.accounts: expected different addresses");
  }
  if (threshold > 1 && named < threshold) {
    problems.push(
      `attestors.accounts: expected at least ${threshold} addresses, as many as attestors.threshold`,
    );
  }
  for (const chain of chains) {
    if (chain.kind === "svm" && new Set(chain.attestors).size < threshold) {
      problems.push(
        `chain ${chain.chainId}: attestors: expected at least ${threshold} addresses, as many as attestors.threshold`,
      );
    }
  }
  return problems;
}

/** Checks that the attestor, the second of two keys, has its own key and a node for every chain. */
function checkAttestor({ attestor, chains }: Config): string[] {
  const problems: string[] = [];
  // Every chain, since any can be the source or destination of a payout that it judges.
  for (const { chainId } of chains) {
    if (!attestor.nodes.has(chainId)) {
      problems.push(`attestor.rpcUrls: expected a node for chain ${chainId}`);
    }
  }
  for (const chainId of attestor.nodes.keys()) {
    if (!chains.some((chain) => chain.chainId === chainId)) {
      problems.push(`attestor.rpcUrls.${chainId}: expected a configured chain`);
    }
  }
  for (const [chainId, { all }] of attestor.databaseUser ? attestor.nodes : []) {
    // Counting them is a write that the attestor's user may not make.
    if (all.some(({ requestsPerDay }) => requestsPerDay !== undefined)) {
      problems.push(
        `attestor.rpcUrls.${chainId}: expected no requestsPerDay beside attestor.databaseUser, which may write attestations only`,
      );
    }
  }
  if (attestor.key.retired) problems.push("attestor.key.retired: expected nothing, a lane retires");
  // One thief would have both keys, and with them the inventory at its daily cap.
  if (listLaneKeys({ chains }).some((lane) => isSameKey(lane, attestor.key))) {
    problems.push("attestor.key: expected a key that no lane uses: it is the second of two keys");
  }
  return problems;
}

/** Checks that charged gas has the prices of the deposited tokens and of the native coins. */
function checkGas({ gas, chains, routes }: Config): string[] {
  if (gas !== "charged") return [];
  const nativeOfChain = (chainId: number) =>
    nativeOf(chains.find((chain) => chain.chainId === chainId)?.kind ?? "evm");
  const hasPrice = (chainId: number, token: Address) =>
    chains
      .find((chain) => chain.chainId === chainId)
      ?.tokens.some(({ address, price }) => address === token && price);
  // Gas is spent in native coin on both chains, and taken out of the deposit in its token.
  const unpriced = routes.flatMap((route) => {
    const { chainId, token } = route;
    const chainIds = [...new Set([chainId, route.destChain])];
    return [
      ...(hasPrice(chainId, token) ? [] : [`the token ${token} of chain ${chainId}`]),
      ...[...chainIds]
        .filter((id) => !hasPrice(id, nativeOfChain(id)))
        .map((id) => `the native coin of chain ${id}, listed as a token`),
    ];
  });
  return [...new Set(unpriced)].map((what) => `gas: expected a price of ${what}`);
}

/** Checks one route: its chain and token, the rules of its kind, its prices, and that no earlier route is the same. */
function checkRoute(
  config: Config,
  { route, setting }: PlacedRoute,
  {
    earlier,
    definitions,
  }: {
    readonly earlier: readonly PlacedRoute[];
    readonly definitions: readonly RouteDefinition[];
  },
): string[] {
  const definition = definitionOf(route, { definitions });
  const source = { chainId: route.chainId, token: route.token };
  const problems = [
    ...findPlaceProblems(config, source, [`${setting}.chainId`, `${setting}.token`]),
    ...definition.findContradictions(config, route, setting),
  ];
  for (const { chainId, token } of route.pricedIn ? [source, route.pricedIn] : []) {
    const listed = config.chains
      .find((known) => known.chainId === chainId)
      ?.tokens.find(({ address }) => address === token);
    if (listed && !listed.price) {
      problems.push(
        `${setting}.${definition.pricedBy}: expected a price of the token ${listed.symbol} of chain ${chainId}`,
      );
    }
  }
  if (earlier.some((other) => keyOf(other.route) === keyOf(route))) {
    problems.push(`${setting}: expected each route once, it is there twice`);
  }
  return problems;
}

/** Returns a problem for each address, at any depth, whose mixed case is not its EIP-55 checksum: a typing error. */
export function findBadChecksums(value: unknown, setting = ""): string[] {
  if (typeof value === "string") {
    const wrong = isEvmAddress(value) && !isAddress(value);
    return wrong ? [`${setting}: expected a right EIP-55 checksum, or lower case`] : [];
  }
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([name, item]) =>
    findBadChecksums(
      item,
      Array.isArray(value) ? `${setting}[${name}]` : setting ? `${setting}.${name}` : name,
    ),
  );
}
