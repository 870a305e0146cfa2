/** Builds the options of priced routes from the configuration. */
import { type ChainToken, type RouteConfig, type SwapConfig } from "../config/index.ts";
import type { Prices } from "../prices/index.ts";
import { chainLabel } from "../telemetry/metrics.ts";
import { getChain, getEvmChainConfig, getToken, missing } from "./configured.ts";
import type { RouteDeps } from "./module.ts";
import type { PoolOptions } from "./pool.ts";
import { createPricing, type Pricing, type ReadRate } from "./swift/pricing.ts";

/** Returns a reader of the current rate between a route's token and the token it is priced in. */
export function rateOf(
  prices: Prices,
  { chainId, token }: ChainToken,
  pricedIn: ChainToken,
): ReadRate {
  return () => prices.readRate({ chainId, token }, pricedIn);
}

/** Creates the pricing of a route's sweeps. */
export function pricingOf(route: RouteConfig, pricedIn: ChainToken, deps: RouteDeps): Pricing {
  const { config, db, clock, chains, prices, log, metrics, attestors, wakeAttestor } = deps;
  return createPricing({
    db,
    clock,
    attestors,
    source: getChain(chains, route.chainId),
    token: route.token,
    contract: route.contract,
    readRate: rateOf(prices, route, pricedIn),
    rateToleranceBps: config.rateToleranceBps,
    onRefusedRate({ chainId, ...refused }) {
      metrics.attestedRatesRefused.inc({ chain: chainLabel(chainId) });
      log.error({ chainId, ...refused }, "rate refused: attestors and settler differ");
    },
    wakeAttestor,
  });
}

/** Returns the options of the pool that a route swaps in. Throws CONFIG_MISSING if the chain has no quoter. */
export function poolOptionsOf(
  route: RouteConfig,
  swap: SwapConfig,
  deps: RouteDeps,
): Omit<PoolOptions, "chain"> {
  const { config, clock } = deps;
  const { chainId, token, contract } = route;
  const { quoter, weth } = getEvmChainConfig(config, chainId).uniswapV3 ?? {};
  if (!quoter || !weth) throw missing("Uniswap quoter", chainId);
  return {
    clock,
    quoter,
    weth,
    token,
    decimalsIn: getToken(config, chainId, token).decimals,
    ...swap,
    decimalsOut: getToken(config, chainId, swap.tokenOut).decimals,
    contract,
    pricing: pricingOf(route, { chainId, token: swap.tokenOut }, deps),
  };
}
