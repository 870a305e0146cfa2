/** `SWIFT`: locks on the source chain, payouts from inventory on the destination. */
import {
  type Config,
  deliveryConfirmationsOf,
  findEvmChain,
  listEvmChains,
  type RouteConfig,
} from "../../config/index.ts";
import type { Prices } from "../../prices/index.ts";
import { getChain, getToken } from "../configured.ts";
import type { AttestorDeps, RouteModule } from "../module.ts";
import { pricingOf, rateOf } from "../pool-options.ts";
import { type AttestedPair, pollAttestationRequests } from "./attest.ts";
import type { AttestationKind } from "./attestation-requests.ts";
import { swiftAudit } from "./audit.ts";
import type { DeliveryDeps } from "./delivery-deps.ts";
import { createEarlyRules } from "./early/rules.ts";
import { type OthersDeps, watchOthers } from "./early/others.ts";
import { watchEarly } from "./early/watch.ts";
import { createDeliveryPolls } from "./deliver.ts";
import { swiftGauges } from "./gauges.ts";
import { createOverdueClaimsPoll } from "./overdue-claims.ts";
import { createSwiftRoute, SWIFT_GAS } from "./route.ts";
import { CLAIMS, PAYOUTS, wakeOfAnswer, wakeOfSettlements } from "./store.ts";
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
      limits: config.inventoryShares,
      early: createEarlyRules(config.chains, deps.prices).get(chainId),
      pace: paceOf(config, chainId),
    });
  },
  /** Two loops per destination: claims wait behind nothing else. */
  listSettlerWorkers({ config, prices, worksOn, ...deps }) {
    const delivery: DeliveryDeps = {
      ...deps,
      early: createEarlyRules(config.chains, prices),
      lanes: new Map(
        [...deps.lanes].map(([chainId, { deliver, settle, claim }]) => [
          chainId,
          { deliver, claims: { lanes: claim, spare: settle }, returns: { lanes: settle } },
        ]),
      ),
      deliveryConfirmations: new Map(
        config.chains.map((chain) => [chain.chainId, deliveryConfirmationsOf(chain)]),
      ),
      payoutWindowS: config.payoutWindowS,
    };
    const loops = [...deps.lanes.keys()].flatMap((destChain) => {
      const { payouts, claims } = createDeliveryPolls(delivery, destChain);
      return [
        {
          name: `payouts on chain ${destChain}`,
          queue: { name: PAYOUTS, chainId: destChain },
          poll: payouts,
        },
        {
          name: `claims from chain ${destChain}`,
          queue: { name: CLAIMS, chainId: destChain },
          poll: claims,
        },
      ];
    });
    return [
      ...loops,
      { name: "overdue claims", poll: createOverdueClaimsPoll({ ...deps, worksOn }) },
    ];
  },

  /** Signs payouts, claims and returns, and prices for sweeps and refunds of any kind of route. */
  listAttestorWorkers({ config, prices, endingChains, isBelowMinimum, ...deps }) {
    const pairs = config.routes.map((route) => attestedPairOf(config, route, prices));
    const { rateToleranceBps } = config;
    const { threshold } = config.attestors;
    const refunds = { policies: config.refunds, isBelowMinimum };
    const { early: count } = deps.signer;
    const rules = createEarlyRules(config.chains, prices);
    const watch = count && rules.size > 0 ? watchEarly(count, deps) : null;
    const others = count ? watchOthersOf(config, { ...deps, count, rules }) : [];
    const isClosed = (srcChain: number): boolean =>
      watch?.isClosed(srcChain) !== false ||
      others.some((one) => one.sources.has(srcChain) && one.isClosed());
    const early = watch ? { rules, isClosed } : undefined;
    const attestor = { ...deps, threshold, rateToleranceBps, pairs, refunds, early };
    const ending = { ...attestor, chains: endingChains };
    const pollKinds = (by: typeof attestor, kinds: readonly AttestationKind[]) => ({
      kinds,
      poll: () => pollAttestationRequests(by, kinds),
    });
    return [
      { name: "attestor", ...pollKinds(attestor, ["delivery", "price"]) },
      { name: "attestor of returns", ...pollKinds(ending, ["return"]) },
      { name: "attestor of claims", ...pollKinds(ending, ["claim"]) },
      // Searches of old blocks delay nothing that has a payout window.
      { name: "attestor of refunds", ...pollKinds(attestor, ["refund"]) },
      ...(watch ? [{ name: "watch over early payouts", poll: watch.poll }] : []),
      ...others.map(({ destChain, poll }) => ({
        name: `payouts of others on chain ${destChain}`,
        poll,
      })),
    ];
  },

  queue: PAYOUTS,
  wakeOfSettlements,
  wakeOfAnswer,
};

/** Returns the looks at the destinations that pay locks of chains with early payouts, and the chains of these locks. */
function watchOthersOf(
  config: AttestorDeps["config"],
  deps: Omit<OthersDeps, "acceptedLosses" | "payoutWindowS">,
) {
  const fromInventory = config.routes.filter(
    ({ fromInventory: isPaid, chainId }) => isPaid && deps.rules.has(chainId),
  );
  const acceptedLosses = new Set(
    listEvmChains(config).flatMap(({ earlyPayouts }) => earlyPayouts?.acceptedLosses ?? []),
  );
  return [...deps.chains.values()].flatMap((destination) => {
    const { chainId: destChain, payoutSearch: search } = destination;
    const sources = new Set(
      fromInventory.filter((route) => route.destChain === destChain).map(({ chainId }) => chainId),
    );
    // On Solana whoever holds the seed pays, without an attestor.
    if (!search || sources.size === 0) return [];
    const { payoutWindowS } = config;
    const watch = watchOthers({ ...deps, acceptedLosses, payoutWindowS }, { destination, search });
    return [{ ...watch, destChain, sources }];
  });
}

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

/** Returns the usual times of a chain, as its preset states them. */
function paceOf(config: Pick<Config, "chains">, chainId: number) {
  const preset = findEvmChain(config, chainId)?.preset;
  return preset && { finalitySeconds: preset.finality.seconds, blockSeconds: preset.blockSeconds };
}
