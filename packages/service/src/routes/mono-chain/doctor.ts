/** The doctor's checks of routes of the kind `MONO_CHAIN`. */
import type { Compared } from "../../core/check.ts";
import type { RoutePlace } from "../module.ts";
import { toEvmAddress } from "../../core/hex.ts";
import { listPoolTerms } from "../pool-terms.ts";
import type { MonoChainConfig } from "./config.ts";

/** Compares the constructor terms of a route's contract with the configuration. */
export async function compareTerms(
  place: RoutePlace,
  { chainId, token, contract, swap }: MonoChainConfig,
): Promise<readonly Compared[]> {
  const { chain, inspector, display } = place;
  if (swap) {
    const terms = await inspector.getSwapTerms(toEvmAddress(contract));
    return [
      { name: "bridgeId", found: terms.bridgeId, expected: chainId },
      ...(await listPoolTerms(place, { token, contract, swap, terms })),
    ];
  }
  const terms = await inspector.getTransferTerms(toEvmAddress(contract));
  return [
    { name: "evmChainId", found: terms.evmChainId, expected: chain.evmChainId },
    { name: "bridgeId", found: terms.bridgeId, expected: chainId },
    { name: "factory", found: terms.factory, expected: chain.contracts.factory },
    { name: "token", found: display(terms.token), expected: display(token) },
  ];
}
