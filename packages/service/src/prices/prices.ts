/** Prices of listed tokens, out of the sources that the configuration names. */
import type { Chains } from "../chains/port.ts";
import type { EvmAddress } from "../core/hex.ts";
import type { Clock } from "../core/ports.ts";
import {
  combinePoints,
  type PriceBounds,
  type PricePoint,
  rateBetween,
  unavailable,
} from "./price.ts";

/** Where the price of a token comes from. */
export interface PriceSources {
  /** US dollars per whole unit times 1e18, as the operator wrote it down: for sandboxes and pegged assets. */
  readonly fixed: bigint | undefined;
  /** Feeds on the token's own chain, of the `AggregatorV3Interface` form. */
  readonly feeds: readonly EvmAddress[];
  readonly bounds: PriceBounds;
}

export interface PricedToken {
  /** Bridge chain id. */
  readonly chainId: number;
  readonly token: EvmAddress;
}

export interface Prices {
  /** US dollars per whole unit, times 1e18. Throws PRICE_UNAVAILABLE; RPC_UNAVAILABLE when a node does not answer. */
  readUsd(token: PricedToken): Promise<bigint>;
  /** Whole units of `to` per whole unit of `from`, times 1e18. Throws as `readUsd` does. */
  readRate(from: PricedToken, to: PricedToken): Promise<bigint>;
}

/** Prices over the given chains: the attestor has its own, over its own nodes. */
export function createPrices(options: {
  readonly chains: Chains;
  readonly clock: Clock;
  /** Undefined for a token without a price. */
  readonly sourcesOf: (token: PricedToken) => PriceSources | undefined;
}): Prices {
  const { chains, clock, sourcesOf } = options;

  async function readUsd(token: PricedToken): Promise<bigint> {
    const sources = sourcesOf(token);
    const chain = chains.get(token.chainId);
    if (!sources || !chain) throw unavailable("no_source");
    const points: PricePoint[] = await Promise.all(
      sources.feeds.map((feed) => chain.readPriceFeed(feed)),
    );
    if (sources.fixed !== undefined) points.push({ usd: sources.fixed, publishedAtMs: null });
    return combinePoints(points, sources.bounds, clock.now());
  }

  return {
    readUsd,
    async readRate(from, to) {
      const [usdIn, usdOut] = await Promise.all([readUsd(from), readUsd(to)]);
      const rate = rateBetween(usdIn, usdOut);
      if (rate === 0n) throw unavailable("out_of_range");
      return rate;
    },
  };
}
