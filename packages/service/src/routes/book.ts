import type { Address } from "../core/hex.ts";
import type { RouteKind } from "../config/index.ts";
import type { Pair, Route } from "./port.ts";

/** The enabled routes, in order of preference. */
export interface RouteBook {
  /** The routes of a pair, the preferred first. */
  list(pair: Pair): readonly Route[];
  /**
   * The route of a pair that a settlement chose earlier, or undefined when it is no longer enabled. Settlements that did
   * not write down which contract it was took the first of its kind.
   */
  find(pair: Pair, kind: RouteKind, contract: Address | null): Route | undefined;
}

/**
 * A book over the configured routes; the order of configuration is the order of preference.
 * @param guard What stands before each of them.
 */
export function createRouteBook(
  configured: readonly Route[],
  guard: (route: Route) => Route = (route) => route,
): RouteBook {
  const routes = configured.map(guard);
  function list(pair: Pair): readonly Route[] {
    return routes.filter(
      (route) =>
        route.pair.srcChain === pair.srcChain &&
        route.pair.srcToken === pair.srcToken &&
        route.pair.destChain === pair.destChain &&
        route.pair.destToken === pair.destToken,
    );
  }
  return {
    list,
    find: (pair, kind, contract) =>
      list(pair).find(
        (route) => route.kind === kind && (contract === null || route.contract === contract),
      ),
  };
}
