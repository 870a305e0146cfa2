/** The routes of the file: names become chains and tokens, groups become routes, and contracts follow from the deployment. */
import { parseSolanaAddress } from "../core/base58.ts";
import {
  type Address,
  isEvmAddress,
  isNative,
  NATIVE_TOKEN,
  nativeOf,
  toEvmAddress,
} from "../core/hex.ts";
import type { DeploymentConfig } from "./deployment.ts";
import { deriveRoute } from "./route-contracts.ts";
import type { RoutePair, RouteConfig, SwapConfig } from "./route-config.ts";
import { destinationOf } from "./destinations.ts";
import { type ChainConfig, listEvmChains } from "./chains.ts";
import { SWAP_IMPACT_MAX_BPS, SWAP_SLIPPAGE_BPS, type WrittenRoute } from "./route-schema.ts";

/** A route, and the setting that it came from. */
export interface PlacedRoute {
  readonly route: RouteConfig;
  readonly setting: string;
}

interface Given {
  readonly chains: readonly ChainConfig[];
  readonly deployment: DeploymentConfig | undefined;
  readonly problems: string[];
}

/** What needs no inventory and no judgement of what is worth the same: every token at home, and USDC by the bridge. */
const DEFAULT_GROUPS: readonly WrittenRoute[] = [{ kind: "MONO_CHAIN" }, { kind: "FAST_MCTP" }];

/** How a token of any chain is called that has no contract. */
const NATIVE_NAME = "native";
/** What Circle's bridge carries. */
const BRIDGED_SYMBOL = "USDC";

/** Every route, in the order of the file. A group leaves out what another entry says by itself. */
export function resolveRoutes(
  written: readonly WrittenRoute[] | undefined,
  given: Given,
): readonly PlacedRoute[] {
  if (!written) {
    return DEFAULT_GROUPS.flatMap((group) => placeGroup(listPairs(group, given), "routes", given));
  }
  const entries = written.map((entry, index) => ({ entry, setting: `routes[${index}]` }));
  const single = new Map(
    entries.flatMap(({ entry, setting }) =>
      isGroup(entry) ? [] : [[setting, resolveRoute(entry, setting, given)] as const],
    ),
  );
  const said = new Set([...single.values()].flatMap((placed) => placed.map(keyOfPlaced)));
  return entries.flatMap(({ entry, setting }) => {
    const own = single.get(setting);
    if (own) return own;
    const pairs = resolveGroup(entry, setting, given).filter((pair) => !said.has(keyOf(pair)));
    return placeGroup(pairs, setting, given);
  });
}

/** What makes two routes the same. */
export function keyOf(route: RoutePair): string {
  const { kind, chainId, token } = route;
  return JSON.stringify([kind, chainId, token, destinationOf(route)]);
}

const keyOfPlaced = ({ route }: PlacedRoute) => keyOf(route);

/** A group names no chain that its routes begin on. */
function isGroup(entry: WrittenRoute): boolean {
  const { chainId, token, contract } = entry;
  const destChain = entry.kind === "MONO_CHAIN" ? undefined : entry.destChain;
  const bridgeToken = entry.kind === "FAST_MCTP" ? entry.bridgeToken : undefined;
  return [chainId, token, contract, destChain, entry.destToken, bridgeToken].every(
    (value) => value === undefined,
  );
}

/** One route; none where something of it could not be understood, which then is among the problems. */
function resolveRoute(
  written: WrittenRoute,
  setting: string,
  given: Given,
): readonly PlacedRoute[] {
  const { problems } = given;
  const count = problems.length;
  for (const name of ["chains", "tokens"] as const) {
    if (name in written) problems.push(`${setting}.${name}: expected nothing beside one route`);
  }
  const chainId = resolveChain(written.chainId, `${setting}.chainId`, given);
  const token = resolveToken(written.token, chainId, `${setting}.token`, given);
  const source = { chainId, token };
  const pair: RoutePair =
    written.kind === "MONO_CHAIN"
      ? { kind: written.kind, ...source, ...resolveSwap(written, chainId, setting, given) }
      : resolvePair(written, source, setting, given);
  if (problems.length > count) return [];
  return placeRoute(pair, written.contract, setting, given);
}

/** What a route that swaps has beside the others; nothing where it swaps nothing. */
function resolveSwap(
  written: Exclude<WrittenRoute, { kind: "SWIFT" }>,
  chainId: number,
  setting: string,
  given: Given,
): { readonly swap?: SwapConfig } {
  const { problems } = given;
  const { poolFee, maxImpactBps, slippageBps } = written;
  const [name, tokenOut] =
    written.kind === "MONO_CHAIN"
      ? ["destToken", written.destToken]
      : ["bridgeToken", written.bridgeToken];
  if (tokenOut === undefined) {
    for (const [other, value] of Object.entries({ poolFee, maxImpactBps, slippageBps })) {
      if (value === undefined) continue;
      problems.push(`${setting}.${other}: expected nothing, a route without ${name} swaps nothing`);
    }
    return {};
  }
  if (poolFee === undefined) {
    problems.push(`${setting}.poolFee: expected the fee of the pool, as ${name} is given`);
  }
  return {
    swap: {
      tokenOut: resolveToken(tokenOut, chainId, `${setting}.${name}`, given),
      poolFee: poolFee ?? 0,
      maxImpactBps: maxImpactBps ?? SWAP_IMPACT_MAX_BPS,
      slippageBps: slippageBps ?? SWAP_SLIPPAGE_BPS,
    },
  };
}

function resolvePair(
  written: Exclude<WrittenRoute, { kind: "MONO_CHAIN" }>,
  source: { readonly chainId: number; readonly token: Address },
  setting: string,
  given: Given,
): RoutePair {
  const destChain = resolveChain(written.destChain, `${setting}.destChain`, given);
  const destToken = resolveToken(written.destToken, destChain, `${setting}.destToken`, given);
  const pair = { ...source, destChain, destToken };
  return written.kind === "SWIFT"
    ? { kind: written.kind, ...pair, priced: written.priced ?? false }
    : {
        kind: written.kind,
        ...pair,
        ...resolveSwap(written, source.chainId, setting, given),
      };
}

/** An id is taken as it is: whether the chain is configured is checked with everything else. */
function resolveChain(
  written: number | string | undefined,
  setting: string,
  { chains, problems }: Given,
): number {
  if (typeof written === "number") return written;
  const known = chains.find(({ name }) => name === written);
  if (known) return known.chainId;
  const names = chains.map(({ name }) => name).join(", ");
  const expected = `expected a bridge chain id, or the name of a configured chain (${names})`;
  problems.push(`${setting}: ${expected}${written === undefined ? ", it is missing" : ""}`);
  return NO_CHAIN;
}

/** An address is taken as it is: whether the chain lists it is checked with everything else. */
function resolveToken(
  written: string | undefined,
  chainId: number,
  setting: string,
  { chains, problems }: Given,
): Address {
  const chain = chains.find((known) => known.chainId === chainId);
  const { kind = "evm" } = chain ?? {};
  if (written === NATIVE_NAME) return nativeOf(kind);
  if (written !== undefined) {
    const address = kind === "evm" ? parseEvmAddress(written) : parseSolanaAddress(written);
    if (address !== undefined) return address;
  }
  // The chain is named first.
  if (!chain && written !== undefined) return NATIVE_TOKEN;
  const tokens = chain?.tokens ?? [];
  const found = tokens.filter(({ symbol }) => symbol === written);
  const [token] = found;
  if (token && found.length === 1) return token.address;
  const symbols = [...new Set(tokens.map(({ symbol }) => symbol)), NATIVE_NAME].join(", ");
  const problem =
    found.length > 1
      ? "expected an address, more than one token of the chain has the symbol"
      : `expected ${kind === "evm" ? "0x and 40 hex digits" : "32 bytes in base58"}, or one of ${symbols}`;
  problems.push(`${setting}: ${problem}${written === undefined ? ", it is missing" : ""}`);
  return NATIVE_TOKEN;
}

const parseEvmAddress = (text: string) => (isEvmAddress(text) ? toEvmAddress(text) : undefined);

/** Stands in for a chain that could not be found, and was named. */
const NO_CHAIN = 0;

/** The pairs of a group of the file; names that lead to nothing are problems. */
function resolveGroup(group: WrittenRoute, setting: string, given: Given): readonly RoutePair[] {
  const { problems } = given;
  const count = problems.length;
  const chainIds = group.chains?.map((chain, index) =>
    resolveChain(chain, `${setting}.chains[${index}]`, given),
  );
  const chains = given.chains.filter(({ chainId }) => chainIds?.includes(chainId) ?? true);
  for (const [index, chainId] of (chainIds ?? []).entries()) {
    if (chainId !== NO_CHAIN && !chains.some((chain) => chain.chainId === chainId)) {
      problems.push(`${setting}.chains[${index}]: expected a configured chain`);
    }
  }
  if (group.kind !== "SWIFT") resolveSwap(group, NO_CHAIN, setting, given);
  if (group.kind === "SWIFT") {
    if (!group.tokens) {
      problems.push(`${setting}.tokens: expected a list of symbols, it is missing`);
    }
    if (group.priced) {
      problems.push(`${setting}.priced: expected nothing in a group, its tokens are one asset`);
    }
  }
  for (const [index, name] of tokensOf(group)?.entries() ?? []) {
    const listing = chains.filter((chain) => findToken(chain, name));
    const enough = group.kind === "SWIFT" ? 2 : 1;
    const at = `${setting}.tokens[${index}]`;
    if (group.kind === "SWIFT" && name === NATIVE_NAME) {
      problems.push(`${at}: expected a symbol, native coins of two chains may be two assets`);
    } else if (listing.length < enough) {
      problems.push(
        enough === 1
          ? `${at}: expected a token of one of its chains, or native`
          : `${at}: expected a token of two of its chains`,
      );
    }
  }
  if (problems.length > count) return [];
  const pairs = listPairs(group, { ...given, chains });
  if (pairs.length === 0) {
    const what =
      group.kind === "FAST_MCTP"
        ? `two chains with cctp and ${BRIDGED_SYMBOL}`
        : "chains that list tokens";
    problems.push(`${setting}: expected ${what}`);
  }
  return pairs;
}

/** All pairs of the chains: of each token with itself, or of the same symbol on two of them. */
function listPairs(group: WrittenRoute, { chains }: Pick<Given, "chains">): readonly RoutePair[] {
  const { kind } = group;
  if (kind === "MONO_CHAIN") {
    return chains.flatMap((chain) => {
      const named = tokensOf(group)?.flatMap((name) => findToken(chain, name) ?? []);
      return (named ?? chain.tokens).map(({ address: token }) => ({
        kind,
        chainId: chain.chainId,
        token,
      }));
    });
  }
  const connected =
    kind === "FAST_MCTP" ? listEvmChains({ chains }).filter(({ cctp }) => cctp) : chains;
  const symbols = tokensOf(group) ?? [BRIDGED_SYMBOL];
  return connected.flatMap((source) =>
    symbols.flatMap((symbol) =>
      connected.flatMap((destination): RoutePair[] => {
        const token = findToken(source, symbol)?.address;
        const destToken = findToken(destination, symbol)?.address;
        if (source === destination || !token || !destToken) return [];
        const pair = { chainId: source.chainId, token, destChain: destination.chainId, destToken };
        return [kind === "SWIFT" ? { kind, ...pair, priced: false } : { kind, ...pair }];
      }),
    ),
  );
}

function tokensOf(group: WrittenRoute): readonly string[] | undefined {
  return group.kind === "FAST_MCTP" ? undefined : group.tokens;
}

function findToken({ tokens }: ChainConfig, name: string) {
  return tokens.find(({ symbol, address }) =>
    name === NATIVE_NAME ? isNative(address) : symbol === name,
  );
}

function placeGroup(
  pairs: readonly RoutePair[],
  setting: string,
  given: Given,
): readonly PlacedRoute[] {
  const isMade = ({ chainId }: RoutePair) => findSource(given, chainId)?.kind !== "svm";
  if (!given.deployment && pairs.some(isMade)) {
    given.problems.push(
      `${setting}: expected deployment, from which contracts follow, or routes that name theirs`,
    );
    return [];
  }
  return pairs.flatMap((pair) => placeRoute(pair, undefined, setting, given));
}

function findSource({ chains }: Given, chainId: number): ChainConfig | undefined {
  return chains.find((chain) => chain.chainId === chainId);
}

/** The route with its contract: as written, or as the deployment puts it; on Solana, which has none, the account whose order it is. */
function placeRoute(
  pair: RoutePair,
  written: string | undefined,
  setting: string,
  given: Given,
): readonly PlacedRoute[] {
  const { chains, deployment, problems } = given;
  const source = findSource(given, pair.chainId);
  if (source?.kind === "svm") {
    // There are no contracts: whatever leaves a vault is an order of the signer.
    if (written !== undefined) {
      problems.push(`${setting}.contract: expected nothing, routes from Solana have no contract`);
    }
    const { escrow, binding } = source.accounts;
    const contract = pair.kind === "SWIFT" ? escrow : binding;
    return [{ route: { ...pair, contract }, setting }];
  }
  if (written !== undefined) {
    return [{ route: { ...pair, contract: toEvmAddress(written) }, setting }];
  }
  if (!deployment) {
    problems.push(
      `${setting}.contract: expected 0x and 40 hex digits, or deployment, from which it follows`,
    );
  }
  // What has no contract for want of a chain, a token or a bridge is named with everything else that does not fit.
  const contract = (deployment && deriveRoute(deployment, chains, pair)?.address) ?? NATIVE_TOKEN;
  return [{ route: { ...pair, contract }, setting }];
}
