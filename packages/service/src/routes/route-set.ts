import type { RouteSet } from "../addresses/index.ts";
import type { RouteBook } from "./book.ts";
import type { Pair } from "./port.ts";

/**
 * Returns every configured route to a destination from an EVM chain, each once: the set of an address that commits to the
 * present routes.
 * @param evmChainIds EIP-155 ids by bridge chain id.
 */
export function listRouteSet(
  book: Pick<RouteBook, "listTo">,
  evmChainIds: ReadonlyMap<number, number>,
  destination: Pick<Pair, "destChain" | "destToken">,
): RouteSet {
  const leaves = book.listTo(destination).flatMap(({ pair, contract }) => {
    const evmChainId = evmChainIds.get(pair.srcChain);
    if (evmChainId === undefined) return [];
    return [{ chainId: pair.srcChain, evmChainId, route: contract }];
  });
  return [...new Map(leaves.map((leaf) => [`${leaf.evmChainId}:${leaf.route}`, leaf])).values()];
}
