/** The doctor's checks of routes of the kind `SWIFT`. */
import { deliveryOf } from "../../config/index.ts";
import type { Compared } from "../../core/check.ts";
import { padAddress, toEvmAddress } from "../../core/hex.ts";
import { getChainConfig, getToken } from "../configured.ts";
import type { RoutePlace } from "../module.ts";
import type { SwiftConfig } from "./config.ts";

/** Compares the pair of a route's contract with the configuration. */
export async function compareTerms(
  { chain, inspector, config, display }: RoutePlace,
  { chainId, token, destChain, destToken, contract }: SwiftConfig,
): Promise<readonly Compared[]> {
  const destination = getChainConfig(config, destChain);
  const pair = await inspector.getEscrowPair(toEvmAddress(contract));
  const decimalsIn = getToken(config, chainId, token).decimals;
  const decimalsOut = getToken(config, destChain, destToken).decimals;
  const delivery = padAddress(deliveryOf(destination));
  return [
    { name: "evmChainId", found: pair.evmChainId, expected: chain.evmChainId },
    { name: "sourceChain", found: pair.sourceChain, expected: chainId },
    { name: "sourceToken", found: display(pair.sourceToken), expected: display(token) },
    { name: "sourceDecimals", found: pair.sourceDecimals, expected: decimalsIn },
    { name: "escrow", found: display(pair.escrow), expected: display(chain.contracts.escrow) },
    { name: "destChain", found: pair.destChain, expected: destChain },
    { name: "destToken", found: pair.destToken, expected: padAddress(destToken) },
    { name: "destDecimals", found: pair.destDecimals, expected: decimalsOut },
    { name: "delivery", found: pair.delivery, expected: delivery },
  ];
}
