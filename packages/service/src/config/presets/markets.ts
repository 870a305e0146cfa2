/**
 * HTTP price sources of the coins of the presets: exchanges that quote US dollars, independent of the feed on the chain.
 * URLs and answers follow the documentation cited here, and pairs follow public programs. No entry was tested against
 * the live API; the doctor's check `price.source` does that. Uncertain pairs are left out.
 */
import type { PresetFeed } from "./preset.ts";

/** A pair on an exchange. */
export interface PresetMarket {
  readonly exchange: string;
  readonly url: string;
  /** JSON pointer to the price. */
  readonly pointer: string;
  /** URL of the exchange's documentation of the request. */
  readonly source: string;
}

/** Returns the spot price on Coinbase. Unusable for USDC, whose price there is always 1. */
function coinbase(coin: string): PresetMarket {
  return {
    exchange: "Coinbase",
    url: `https://api.coinbase.com/v2/prices/${coin}-USD/spot`,
    pointer: "/data/amount",
    source: "https://docs.cdp.coinbase.com/coinbase-app/track-apis/prices",
  };
}

/** Returns the last trade on Kraken. `key` names the pair in the answer; it differs for older coins. */
function kraken(pair: string, key: string = pair): PresetMarket {
  return {
    exchange: "Kraken",
    url: `https://api.kraken.com/0/public/Ticker?pair=${pair}`,
    pointer: `/result/${key}/c/0`,
    source: "https://docs.kraken.com/api-reference/market-data/get-ticker-information",
  };
}

/** Returns the last trade on Bitstamp. */
function bitstamp(pair: string): PresetMarket {
  return {
    exchange: "Bitstamp",
    url: `https://www.bitstamp.net/api/v2/ticker/${pair}/`,
    pointer: "/last",
    source: "https://www.bitstamp.net/api/#tag/Tickers",
  };
}

/** By the pair of the feed. With two markets, a price survives the failure of one of its three sources. */
const MARKETS: Readonly<Record<string, readonly PresetMarket[]>> = {
  "ETH / USD": [coinbase("ETH"), kraken("ETHUSD", "XETHZUSD")],
  "USDC / USD": [kraken("USDCUSD"), bitstamp("usdcusd")],
  "USDT / USD": [coinbase("USDT"), kraken("USDTUSD", "USDTZUSD")],
  "SOL / USD": [coinbase("SOL"), kraken("SOLUSD")],
  "AVAX / USD": [coinbase("AVAX"), kraken("AVAXUSD")],
  // The feed still uses the former name of POL.
  "MATIC / USD": [coinbase("POL"), kraken("POLUSD")],
};

/** Returns the markets of the coin of a feed; empty if none is certain. */
export function listMarkets({ pair }: Pick<PresetFeed, "pair">): readonly PresetMarket[] {
  return MARKETS[pair] ?? [];
}
