/** The routes of the file: names become chains and tokens, groups become routes, and contracts follow from the deployment. */
import { NATIVE_TOKEN, toEvmAddress } from "../core/hex.ts";
import { type ChainConfig, findEvmChain } from "./chains.ts";
import type { DeploymentConfig, Derived } from "./deployment.ts";
import { destinationOf } from "./destinations.ts";
import {
  DEFAULT_GROUPS,
  formOf,
  type RouteConfig,
  type RoutePair,
  type WrittenRoute,
} from "./route-forms/index.ts";
import {
  type Given,
  NO_CHAIN,
  resolveChainName,
  resolveTokenName,
} from "./route-forms/settings.ts";

/** A route, and the setting that it came from. */
export interface PlacedRoute {
  readonly route: RouteConfig;
  readonly setting: string;
}

interface GivenToRoutes extends Given {
  readonly deployment: DeploymentConfig | undefined;
}

/** Every route, in the order of the file. A group leaves out what another entry says by itself. */
export function resolveRoutes(
  written: readonly WrittenRoute[] | undefined,
  given: GivenToRoutes,
): readonly PlacedRoute[] {
  if (!written) {
    return DEFAULT_GROUPS.flatMap((group) =>
      placeGroup(formOf(group).list(group, given.chains), "routes", given),
    );
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

/** Settings with which an entry of any kind is one route. */
const SINGLE = ["chainId", "token", "contract"];

/** Whether an entry is a group: it names no chain that its routes begin on, and nothing else of one route. */
function isGroup(entry: WrittenRoute): boolean {
  const single = [...SINGLE, ...formOf(entry).single];
  return Object.entries(entry).every(
    ([name, value]) => value === undefined || !single.includes(name),
  );
}

/** One route; none where something of it could not be understood, which then is among the problems. */
function resolveRoute(
  written: WrittenRoute,
  setting: string,
  given: GivenToRoutes,
): readonly PlacedRoute[] {
  const { problems } = given;
  const count = problems.length;
  for (const name of ["chains", "tokens"] as const) {
    if (name in written) problems.push(`${setting}.${name}: expected nothing beside one route`);
  }
  const chainId = resolveChainName(written.chainId, `${setting}.chainId`, given);
  const token = resolveTokenName(written.token, chainId, `${setting}.token`, given);
  const source = { chainId, token };
  const pair = formOf(written).resolve(written, source, setting, given);
  if (problems.length > count) return [];
  return placeRoute(pair, written.contract, setting, given);
}

/** The pairs of a group of the file; names that lead to nothing are problems. */
function resolveGroup(
  group: WrittenRoute,
  setting: string,
  given: GivenToRoutes,
): readonly RoutePair[] {
  const { problems } = given;
  const count = problems.length;
  const chainIds = group.chains?.map((chain, index) =>
    resolveChainName(chain, `${setting}.chains[${index}]`, given),
  );
  const chains = given.chains.filter(({ chainId }) => chainIds?.includes(chainId) ?? true);
  for (const [index, chainId] of (chainIds ?? []).entries()) {
    if (chainId !== NO_CHAIN && !chains.some((chain) => chain.chainId === chainId)) {
      problems.push(`${setting}.chains[${index}]: expected a configured chain`);
    }
  }
  const form = formOf(group);
  form.checkGroup(group, setting, { chains, problems });
  if (problems.length > count) return [];
  const pairs = form.list(group, chains);
  if (pairs.length === 0) problems.push(`${setting}: expected ${form.wanted}`);
  return pairs;
}

function placeGroup(
  pairs: readonly RoutePair[],
  setting: string,
  given: GivenToRoutes,
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

function findSource({ chains }: GivenToRoutes, chainId: number): ChainConfig | undefined {
  return chains.find((chain) => chain.chainId === chainId);
}

/** The route with its contract: as written, or as the deployment puts it; on Solana, which has none, the account whose order it is. */
function placeRoute(
  pair: RoutePair,
  written: string | undefined,
  setting: string,
  given: GivenToRoutes,
): readonly PlacedRoute[] {
  const { chains, deployment, problems } = given;
  const source = findSource(given, pair.chainId);
  if (source?.kind === "svm") {
    // There are no contracts: whatever leaves a vault is an order of the signer.
    if (written !== undefined) {
      problems.push(`${setting}.contract: expected nothing, routes from Solana have no contract`);
    }
    const contract = formOf(pair).accountOf(source);
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

/** Derives a route's contract: null where a chain of it lacks something that it is made for, and on Solana. */
export function deriveRoute(
  deployment: DeploymentConfig,
  chains: readonly ChainConfig[],
  pair: RoutePair,
): Derived | null {
  const source = findEvmChain({ chains }, pair.chainId);
  return source ? formOf(pair).derive(pair, { source, chains, deployment }) : null;
}
