/**
 * Composes prices from the configured sources. The service and the attestor each create their own, over their own nodes and
 * requests: the attestor's signature over a price would prove nothing if both read one answer.
 */
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

/** Creates prices from the configured sources, read over the given chains. Failures of sources are logged and counted. */
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

/** Counts the results of each read, and logs a source when it begins to fail and when it recovers. */
function watchPrices(
  config: Config,
  { log, metrics }: { readonly log: Log; readonly metrics: Metrics },
): (token: PricedToken, report: PriceReport) => void {
  // Initialises each counter: Prometheus sees no increase in a series that first appears with a value of 1.
  for (const { chainId, tokens } of config.chains) {
    for (const { symbol: token } of tokens.filter(({ price }) => price)) {
      const labels = { chain: chainLabel(chainId), token };
      metrics.priceSourceFaults.inc(labels, 0);
      for (const reason of PRICE_REFUSALS) metrics.pricesUnavailable.inc({ ...labels, reason }, 0);
    }
  }
  /** Faults by source; bounded by the number of configured sources. */
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
        log.info(facts, "price source recovered");
      } else {
        faults.set(name, fault);
        log.warn({ ...facts, fault, detail }, "price source failed");
      }
    }
  };
}

function findToken(config: Config, chainId: number, address: Address): TokenConfig | undefined {
  return getChainConfig(config, chainId).tokens.find((known) => known.address === address);
}
