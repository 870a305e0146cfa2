/** `SWIFT`: locks on the source chain, payouts from inventory on the destination. */
import {
  deliveryConfirmationsOf,
  destinationOf,
  isPriced,
  type RouteConfig,
} from "../../config/index.ts";
import type { Prices } from "../../prices/index.ts";
import { getChain, getToken } from "../configured.ts";
import type { AttestorDeps, RouteConfigOf, RouteModule } from "../module.ts";
import { pricingOf, rateOf } from "../pool-options.ts";
import { type AttestedPair, lookAtRequests } from "./attest.ts";
import { swiftAudit } from "./audit.ts";
import { type DeliveryDeps, lookAtDueDeliveries } from "./deliver.ts";
import { swiftGauges } from "./gauges.ts";
import { createSwiftRoute, SWIFT_GAS } from "./route.ts";
import { wakeOfSettlement } from "./store.ts";
import { compareTerms } from "./doctor.ts";

export const swift: RouteModule<RouteConfigOf<"SWIFT">> = {
  kind: "SWIFT",
  quoteSwitch: "swift",
  paysFromInventory: true,

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
      pricing: route.priced ? pricingOf(route, deps) : null,
    });
  },
  /** One loop for each destination. */
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
      look: () => lookAtDueDeliveries(delivery, destChain),
    }));
  },

  /** Vouches for deliveries, claims and returns, and for the prices of sweeps by any kind of route. */
  listAttestorWorkers({ config, prices, ...deps }) {
    const pairs = config.routes.map((route) => attestedPairOf(config, route, prices));
    const { payoutWindowS } = config;
    return [{ name: "attestor", look: () => lookAtRequests({ ...deps, payoutWindowS, pairs }) }];
  },

  wakeOfSettlement,
};

function attestedPairOf(
  config: AttestorDeps["config"],
  route: RouteConfig,
  prices: Prices,
): AttestedPair {
  const destination = destinationOf(route);
  return {
    srcChain: route.chainId,
    srcToken: route.token,
    destChain: destination.chainId,
    destToken: destination.token,
    contract: route.contract,
    fromInventory: route.kind === swift.kind,
    readRate: isPriced(route) ? rateOf(prices, route) : null,
    decimalsIn: getToken(config, route.chainId, route.token).decimals,
    decimalsOut: getToken(config, destination.chainId, destination.token).decimals,
  };
}
