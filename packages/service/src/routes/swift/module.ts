/** `SWIFT`: locks on the source chain, payouts from inventory on the destination. */
import { deliveryConfirmationsOf, type RouteConfig } from "../../config/index.ts";
import type { Prices } from "../../prices/index.ts";
import { getChain, getToken } from "../configured.ts";
import type { AttestorDeps, RouteModule } from "../module.ts";
import { pricingOf, rateOf } from "../pool-options.ts";
import { type AttestedPair, pollAttestationRequests } from "./attest.ts";
import { swiftAudit } from "./audit.ts";
import type { DeliveryDeps } from "./delivery-deps.ts";
import { pollDeliveries } from "./deliver.ts";
import { swiftGauges } from "./gauges.ts";
import { createSwiftRoute, SWIFT_GAS } from "./route.ts";
import { wakeOfSettlement } from "./store.ts";
import { compareTerms } from "./doctor.ts";
import { definition, type SwiftConfig } from "./config.ts";

export const swift: RouteModule<SwiftConfig> = {
  kind: "SWIFT",
  definition,
  quoteSwitch: "swift",

  listGasSteps: () => SWIFT_GAS,
  listBuilt: () => ["sameAssetRoute", "pricedRoute"],
  compareTerms,
  audit: swiftAudit,
  gauges: swiftGauges,

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
      pricing: route.pricedIn && pricingOf(route, route.pricedIn, deps),
    });
  },
  /** One loop per destination. */
  listSettlerWorkers({ config, ...deps }) {
    const delivery: DeliveryDeps = {
      ...deps,
      lanes: new Map(
        [...deps.lanes].map(([chainId, { deliver, settle }]) => [
          chainId,
          { deliver, claim: settle },
        ]),
      ),
      deliveryConfirmations: new Map(
        config.chains.map((chain) => [chain.chainId, deliveryConfirmationsOf(chain)]),
      ),
      payoutWindowS: config.payoutWindowS,
    };
    return [...deps.lanes.keys()].map((destChain) => ({
      name: `deliveries to chain ${destChain}`,
      poll: () => pollDeliveries(delivery, destChain),
    }));
  },

  /** Signs payouts, claims and returns, and prices for sweeps by any kind of route. */
  listAttestorWorkers({ config, prices, ...deps }) {
    const pairs = config.routes.map((route) => attestedPairOf(config, route, prices));
    const { payoutWindowS } = config;
    return [
      { name: "attestor", poll: () => pollAttestationRequests({ ...deps, payoutWindowS, pairs }) },
    ];
  },

  wakeOfSettlement,
};

function attestedPairOf(
  config: AttestorDeps["config"],
  route: RouteConfig,
  prices: Prices,
): AttestedPair {
  const { chainId, token, destChain, destToken, contract, fromInventory, pricedIn } = route;
  return {
    srcChain: chainId,
    srcToken: token,
    destChain,
    destToken,
    contract,
    fromInventory,
    readRate: pricedIn && rateOf(prices, route, pricedIn),
    decimalsIn: getToken(config, chainId, token).decimals,
    decimalsOut: getToken(config, destChain, destToken).decimals,
  };
}
