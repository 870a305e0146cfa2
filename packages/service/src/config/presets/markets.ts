/**
 * What exchanges ask for the coins of the presets, in US dollars: sources of a price beside the feed on the chain, each of
 * another operator. The form of URLs and answers is that of the documentation named here; the pairs are those that
 * programs in public use ask for. None was compared with an answer of the live API: `price.source` of the doctor is. A pair
 * that is not known for certain is left out.
 */
import type { PresetFeed } from "./preset.ts";

/** One pair of one exchange. */
export interface PresetMarket {
  readonly exchange: string;
  readonly url: string;
  /** JSON pointer to the price. */
  readonly pointer: string;
  /** Where the exchange documents the request. */
  readonly source: string;
}

/** The spot price of Coinbase. Of USDC it is always 1, which tells nothing: it is not asked for that. */
function coinbase(coin: string): PresetMarket {
  return {
    exchange: "Coinbase",
    url: `https://api.coinbase.com/v2/prices/${coin}-USD/spot`,
    pointer: "/data/amount",
    source: "https://docs.cdp.coinbase.com/coinbase-app/track-apis/prices",
  };
}

/** The last trade on Kraken. It answers under its own name of the pair, which older coins have a longer one of. */
function kraken(pair: string, key: string = pair): PresetMarket {
  return {
    exchange: "Kraken",
    url: `https://api.kraken.com/0/public/Ticker?pair=${pair}`,
    pointer: `/result/${key}/c/0`,
    source: "https://docs.kraken.com/api-reference/market-data/get-ticker-information",
  };
}

/** The last trade on Bitstamp. */
function bitstamp(pair: string): PresetMarket {
  return {
    exchange: "Bitstamp",
    url: `https://www.bitstamp.net/api/v2/ticker/${pair}/`,
    pointer: "/last",
    source: "https://www.bitstamp.net/api/#tag/Tickers",
  };
}

/** By the pair of the feed. Two each, so that a price can do without one of its three sources. */
const MARKETS: Readonly<Record<string, readonly PresetMarket[]>> = {
  "ETH / USD": [coinbase("ETH"), kraken("ETHUSD", "XETHZUSD")],
  "USDC / USD": [kraken("USDCUSD"), bitstamp("usdcusd")],
  "USDT / USD": [coinbase("USDT"), kraken("USDTUSD", "USDTZUSD")],
  "SOL / USD": [coinbase("SOL"), kraken("SOLUSD")],
  "AVAX / USD": [coinbase("AVAX"), kraken("AVAXUSD")],
  // The coin is POL by now, whatever the feed calls it.
  "MATIC / USD": [coinbase("POL"), kraken("POLUSD")],
};

/** The markets of the coin of a feed; none where none is known for certain. */
export function listMarkets({ pair }: Pick<PresetFeed, "pair">): readonly PresetMarket[] {
  return MARKETS[pair] ?? [];
}
