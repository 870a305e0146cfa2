/** Prices from the configured sources. */
import type { Chains } from "../chains/port/index.ts";
import type { Config, TokenConfig } from "../config/index.ts";
import type { Address } from "../core/hex.ts";
import type { Clock, Http } from "../core/ports.ts";
import {
  createPrices,
  PRICE_REFUSALS,
  type PricedToken,
  type PriceReport,
  type Prices,
} from "../prices/index.ts";
import { getChainConfig, getToken } from "../routes/index.ts";
import type { Log } from "../telemetry/log.ts";
import { chainLabel, type Metrics } from "../telemetry/metrics.ts";

/** Prices from the configured sources, read over the given chains. What the sources do is logged and counted. */
export function createConfiguredPrices(
  config: Config,
  deps: {
    readonly chains: Chains;
    readonly http: Http;
    readonly clock: Clock;
    readonly log: Log;
    readonly metrics: Metrics;
  },
): Prices {
  return createPrices({
    ...deps,
    sourcesOf: ({ chainId, token }) => findToken(config, chainId, token)?.price,
    onReport: watchPrices(config, deps),
  });
}

/** Counts what a look at prices found, and logs each source when it begins to fail and when it is back. */
function watchPrices(
  config: Config,
  { log, metrics }: { readonly log: Log; readonly metrics: Metrics },
): (token: PricedToken, report: PriceReport) => void {
  // A counter that appears with its first event shows no increase to whoever watches for one.
  for (const { chainId, tokens } of config.chains) {
    for (const { symbol: token } of tokens.filter(({ price }) => price)) {
      const labels = { chain: chainLabel(chainId), token };
      metrics.priceSourceFaults.inc(labels, 0);
      for (const reason of PRICE_REFUSALS) metrics.pricesUnavailable.inc({ ...labels, reason }, 0);
    }
  }
  /** Faults by source; as many as the configuration has sources. */
  const faults = new Map<string, string>();
  return ({ chainId, token: address }, { result, sources }) => {
    const { symbol: token } = getToken(config, chainId, address);
    const labels = { chain: chainLabel(chainId), token };
    if (result.kind === "unavailable") {
      metrics.pricesUnavailable.inc({ ...labels, reason: result.reason });
    }
    for (const { source, fault, detail } of sources) {
      if (fault !== null) metrics.priceSourceFaults.inc(labels);
      const name = `${chainId} ${address} ${source}`;
      const before = faults.get(name);
      if ((fault ?? undefined) === before) continue;
      const facts = { chainId, token, source };
      if (fault === null) {
        faults.delete(name);
        log.info(facts, "a source of prices is back");
      } else {
        faults.set(name, fault);
        log.warn({ ...facts, fault, detail }, "a source of prices fails");
      }
    }
  };
}

function findToken(config: Config, chainId: number, address: Address): TokenConfig | undefined {
  return getChainConfig(config, chainId).tokens.find((known) => known.address === address);
}
