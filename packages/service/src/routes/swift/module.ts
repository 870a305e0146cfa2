/** `SWIFT`: locks on the source chain, payouts from inventory on the destination. */
import { getChain, getToken } from "../configured.ts";
import type { RouteConfigOf, RouteModule } from "../module.ts";
import { pricingOf } from "../pool-options.ts";
import { createSwiftRoute, SWIFT_GAS } from "./route.ts";

export const swift: RouteModule<RouteConfigOf<"SWIFT">> = {
  kind: "SWIFT",

  listGasSteps: () => SWIFT_GAS,

  create(route, deps) {
    const { config, db, clock, chains } = deps;
    const { chainId, token, destChain, destToken, contract } = route;
    return createSwiftRoute({
      db,
      clock,
      source: getChain(chains, chainId),
      destination: getChain(chains, destChain),
      token,
      decimalsIn: getToken(config, chainId, token).decimals,
      destToken,
      decimalsOut: getToken(config, destChain, destToken).decimals,
      contract,
      pricing: route.priced ? pricingOf(route, deps) : null,
    });
  },
};
