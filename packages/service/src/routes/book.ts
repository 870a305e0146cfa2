import type { Pair, Route, RouteKind } from "./port.ts";

/** The enabled routes, in order of preference. */
export interface RouteBook {
  /** The routes of a pair, the preferred first. */
  list(pair: Pair): readonly Route[];
  /** The route of a pair that a settlement chose earlier, or undefined when it is no longer enabled. */
  find(pair: Pair, kind: RouteKind): Route | undefined;
}

/** A book over the configured routes; the order of configuration is the order of preference. */
export function createRouteBook(routes: readonly Route[]): RouteBook {
  function list(pair: Pair): readonly Route[] {
    return routes.filter(
      (route) =>
        route.pair.srcChain === pair.srcChain &&
        route.pair.srcToken === pair.srcToken &&
        route.pair.destChain === pair.destChain &&
        route.pair.destToken === pair.destToken,
    );
  }
  return { list, find: (pair, kind) => list(pair).find((route) => route.kind === kind) };
}
