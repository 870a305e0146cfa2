/** Resolves the routes of the file: names to chains and tokens, groups to routes, and contracts from the deployment. */
import { assert } from "../core/assert.ts";
import { NATIVE_TOKEN, toEvmAddress } from "../core/hex.ts";
import type { ChainConfig } from "./chains.ts";
import type { DeploymentConfig } from "./deployment.ts";
import type { RouteConfig, RoutePair } from "./route-config.ts";
import type { RouteDefinition } from "./route-definition.ts";
import { createRouteNames, NO_CHAIN } from "./route-names.ts";
import type { WrittenRoute } from "./route-schema.ts";

/** A route, and the setting that defines it. */
export interface PlacedRoute {
  readonly route: RouteConfig;
  readonly setting: string;
}

/** Inputs for resolving routes. Mistakes are added to `problems`. */
interface Given {
  readonly chains: readonly ChainConfig[];
  readonly deployment: DeploymentConfig | undefined;
  readonly definitions: readonly RouteDefinition[];
  readonly problems: string[];
}

/**
 * Resolves every route, in the order of the file. A group leaves out routes that have their own entry. A file without
 * routes has a group of each kind whose definition is a default.
 */
export function resolveRoutes(
  written: readonly WrittenRoute[] | undefined,
  given: Given,
): readonly PlacedRoute[] {
  if (!written) {
    return given.definitions
      .filter(({ isDefault }) => isDefault)
      .flatMap((definition) => {
        const pairs = definition.listPairs({ kind: definition.kind }, given.chains);
        return placeGroup(pairs, "routes", given);
      });
  }
  const entries = written.map((entry, index) => ({ entry, setting: `routes[${index}]` }));
  const single = new Map(
    entries.flatMap(({ entry, setting }) =>
      isGroup(entry, given) ? [] : [[setting, resolveRoute(entry, setting, given)] as const],
    ),
  );
  // An entry for one route overrides the group that contains it, wherever it is in the list.
  const said = new Set([...single.values()].flatMap((placed) => placed.map(keyOfPlaced)));
  return entries.flatMap(({ entry, setting }) => {
    // The order of the file is the order of preference, so groups are expanded in place.
    const own = single.get(setting);
    if (own) return own;
    const pairs = resolveGroup(entry, setting, given).filter((pair) => !said.has(keyOf(pair)));
    return placeGroup(pairs, setting, given);
  });
}

/** Returns the definition of a kind. The schema accepts only kinds with a definition. */
export function definitionOf(
  { kind }: Pick<RouteConfig, "kind">,
  { definitions }: Pick<Given, "definitions">,
): RouteDefinition {
  const definition = definitions.find((known) => known.kind === kind);
  assert(definition, "every kind of route has its definition");
  return definition;
}

/** Returns a key that is equal for equal routes, whatever their contract. */
export function keyOf({ kind, chainId, token, destChain, destToken }: RoutePair): string {
  return JSON.stringify([kind, chainId, token, destChain, destToken]);
}

const keyOfPlaced = ({ route }: PlacedRoute) => keyOf(route);

/** Returns whether an entry is a group: it has none of the settings of one route. */
function isGroup(entry: WrittenRoute, given: Given): boolean {
  const own: readonly string[] = definitionOf(entry, given).ofOne;
  const ofOne = ["chainId", "token", "contract", ...own];
  return Object.entries(entry).every(
    ([name, value]) => value === undefined || !ofOne.includes(name),
  );
}

/** Resolves one route. Returns an empty list and adds to the problems if the entry is invalid. */
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
  // Every problem of the entry is collected before it is given up.
  const names = createRouteNames(setting, given);
  const chainId = names.resolveChain(written.chainId, "chainId");
  const token = names.resolveToken(written.token, chainId, "token");
  const pair = definitionOf(written, given).resolve(written, { chainId, token }, names);
  if (problems.length > count) return [];
  return placeRoute(pair, written.contract, setting, given);
}

/** Returns the pairs of a group of the file. Names that match no pair are problems. */
function resolveGroup(group: WrittenRoute, setting: string, given: Given): readonly RoutePair[] {
  const { problems } = given;
  const count = problems.length;
  const definition = definitionOf(group, given);
  const names = createRouteNames(setting, given);
  const chainIds = group.chains?.map((chain, index) =>
    names.resolveChain(chain, `chains[${index}]`),
  );
  const chains = given.chains.filter(({ chainId }) => chainIds?.includes(chainId) ?? true);
  for (const [index, chainId] of (chainIds ?? []).entries()) {
    if (chainId !== NO_CHAIN && !chains.some((chain) => chain.chainId === chainId)) {
      problems.push(`${setting}.chains[${index}]: expected a configured chain`);
    }
  }
  definition.checkGroup(group, chains, names);
  if (problems.length > count) return [];
  const pairs = definition.listPairs(group, chains);
  if (pairs.length === 0) problems.push(`${setting}: expected ${definition.groupNeeds}`);
  return pairs;
}

/** Places the pairs of a group. Their contracts must be derivable, because a group names none. */
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

/** Adds the contract of a route: the written or the derived one; on Solana the account whose orders settle it. */
function placeRoute(
  pair: RoutePair,
  written: string | undefined,
  setting: string,
  given: Given,
): readonly PlacedRoute[] {
  const { chains, deployment, problems } = given;
  const source = findSource(given, pair.chainId);
  const definition = definitionOf(pair, given);
  if (source?.kind === "svm") {
    // Solana has no contracts: the signer's orders move the funds of vaults.
    if (written !== undefined) {
      problems.push(`${setting}.contract: expected nothing, routes from Solana have no contract`);
    }
    const contract = definition.accountOf(source);
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
  // Without a contract, a chain, token or bridge is missing, which `findContradictions` reports.
  const contract =
    (deployment && definition.derive(deployment, chains, pair)?.address) ?? NATIVE_TOKEN;
  return [{ route: { ...pair, contract }, setting }];
}
