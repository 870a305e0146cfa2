/**
 * The set of routes that an address commits to. It narrows the list of the contracts' owner and never widens it: a route
 * outside the set never settles the address, and a route of the set only while it is listed.
 */
import { proofOfRoute, rootOfRoutes } from "@sluice/sdk/address";
import { Type } from "typebox";
import { Value } from "typebox/value";
import { assert } from "../core/assert.ts";
import { NO_ROUTE_SET } from "../core/commitment.ts";
import { type Address, type Hex32, toAddress, toHex32 } from "../core/hex.ts";
import type { CommittedRoute, DepositAddress, RouteSet } from "./types.ts";

const Stored = Type.Array(
  Type.Object(
    {
      chainId: Type.Integer({ minimum: 1, maximum: 65_535 }),
      evmChainId: Type.Integer({ minimum: 1 }),
      route: Type.String({ pattern: "^0x[0-9a-f]{40}$" }),
    },
    { additionalProperties: false },
  ),
  { minItems: 1 },
);

/** Parses the set of a row. A malformed one is empty: it commits to no route, and `assertDerived` refuses the address. */
export function parseRouteSet(stored: unknown): RouteSet {
  if (!Value.Check(Stored, stored)) return [];
  return stored.map(({ chainId, evmChainId, route }) => ({
    chainId,
    evmChainId,
    route: toAddress(route),
  }));
}

/** Returns the commitment's `routes` of a set, or of none. */
export function rootOf(routeSet: RouteSet | null): Hex32 {
  return routeSet === null || routeSet.length === 0
    ? NO_ROUTE_SET
    : toHex32(rootOfRoutes(routeSet));
}

/** Returns whether a route may settle the address, as far as its commitment says. */
export function isCommitted(
  { routeSet }: Pick<DepositAddress, "routeSet">,
  route: { readonly chainId: number; readonly contract: Address },
): boolean {
  return routeSet === null || findLeaf(routeSet, route) !== undefined;
}

/** Returns the proof of a route that `isCommitted`; empty without a set. */
export function proveRoute(
  { routeSet }: Pick<DepositAddress, "routeSet">,
  route: { readonly chainId: number; readonly contract: Address },
): readonly Hex32[] {
  if (routeSet === null) return [];
  const leaf = findLeaf(routeSet, route);
  assert(leaf !== undefined, "a settlement uses a route that its address commits to");
  return proofOfRoute(routeSet, leaf).map(toHex32);
}

function findLeaf(
  routeSet: RouteSet,
  { chainId, contract }: { readonly chainId: number; readonly contract: Address },
): CommittedRoute | undefined {
  return routeSet.find((leaf) => leaf.chainId === chainId && leaf.route === contract);
}
