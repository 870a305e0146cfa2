/** What follows from a route as it is configured. */
import { assertNever } from "../core/assert.ts";
import type { EvmAddress } from "../core/hex.ts";
import type { RoutePair, RouteConfig } from "./route-forms/index.ts";

/** Where a route delivers, and what. */
export function destinationOf(route: RoutePair): {
  readonly chainId: number;
  readonly token: EvmAddress;
} {
  return route.kind === "MONO_CHAIN"
    ? { chainId: route.chainId, token: route.swap?.tokenOut ?? route.token }
    : { chainId: route.destChain, token: route.destToken };
}

/** What the deposited token of a priced route is priced in: what it delivers, or what its pool gives for the bridge. */
export function pricedIn(route: RouteConfig): {
  readonly chainId: number;
  readonly token: EvmAddress;
} {
  return route.kind === "FAST_MCTP" && route.swap
    ? { chainId: route.chainId, token: route.swap.tokenOut }
    : destinationOf(route);
}

/** Whether the sweeps of a route carry a price that the attestor signs. */
export function isPriced(route: RouteConfig): boolean {
  switch (route.kind) {
    case "MONO_CHAIN":
    case "FAST_MCTP":
      return route.swap !== undefined;
    case "SWIFT":
      return route.priced;
    default:
      return assertNever(route);
  }
}
