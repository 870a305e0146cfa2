import type { Address } from "../core/hex.ts";
import type { RouteKind } from "../config/index.ts";
import type { Pair, Route } from "./port.ts";

/** Enabled routes, in order of preference. */
export interface RouteBook {
  /** Lists the routes of a pair, the preferred one first. */
  list(pair: Pair): readonly Route[];
  /** Lists the routes to a destination from every chain. */
  listTo(destination: Pick<Pair, "destChain" | "destToken">): readonly Route[];
  /**
   * Returns the route of a pair that a settlement chose earlier, or undefined if it is no longer enabled. A null contract
   * matches the first route of the kind: settlements of early releases did not record their contract.
   */
  find(pair: Pair, kind: RouteKind, contract: Address | null): Route | undefined;
}

/**
 * Returns a book over the configured routes; the order of configuration is the order of preference.
 * @param guard Wraps each route, for example in a circuit breaker.
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
    listTo: ({ destChain, destToken }) =>
      routes.filter(({ pair }) => pair.destChain === destChain && pair.destToken === destToken),
    find: (pair, kind, contract) =>
      list(pair).find(
        (route) => route.kind === kind && (contract === null || route.contract === contract),
      ),
  };
}
