/** What follows from a route as it is configured. */
import { assertNever } from "../core/assert.ts";
import type { EvmAddress } from "../core/hex.ts";
import type { RoutePair } from "./deployment.ts";
import type { RouteConfig } from "./load.ts";

/** Where a route delivers, and what. */
export function destinationOf(route: RoutePair): {
  readonly chainId: number;
  readonly token: EvmAddress;
} {
  return route.kind === "MONO_CHAIN"
    ? { chainId: route.chainId, token: route.swap?.destToken ?? route.token }
    : { chainId: route.destChain, token: route.destToken };
}

/** Whether the sweeps of a route carry a price that the attestor signs. */
export function isPriced(route: RouteConfig): boolean {
  switch (route.kind) {
    case "MONO_CHAIN":
      return route.swap !== undefined;
    case "SWIFT":
      return route.priced;
    case "FAST_MCTP":
      return false;
    default:
      return assertNever(route);
  }
}
