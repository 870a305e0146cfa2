/** Prices of listed tokens from their configured sources. */
import { assert } from "../core/assert.ts";
import type { Chain, Chains } from "../chains/port/index.ts";
import type { FeedConfig, PriceConfig } from "../config/index.ts";
import { OperatingError } from "../core/errors.ts";
import type { Address } from "../core/hex.ts";
import type { Clock, Http } from "../core/ports.ts";
import { remember } from "../core/remember.ts";
import { createHttpSources } from "./http-source.ts";
import {
  type Combined,
  combineAnswers,
  faultOf,
  type PriceFault,
  rateBetween,
  type SourceAnswer,
  unavailable,
} from "./price.ts";

export interface PricedToken {
  /** Bridge chain id. */
  readonly chainId: number;
  readonly token: Address;
}

/** State of one source after a read. */
export interface SourceState {
  /** Position in the configuration, such as `http[0]`. Never the URL, which may contain a secret. */
  readonly source: string;
  readonly fault: PriceFault | null;
  /** Detail of the fault, for operators. */
  readonly detail: string | null;
}

/** The price of a token and the state of each of its sources. */
export interface PriceReport {
  readonly result: Combined;
  readonly sources: readonly SourceState[];
}

export interface Prices {
  /** Reads all sources of a token. Never throws for a source that fails. */
  readReport(token: PricedToken): Promise<PriceReport>;
  /** Returns US dollars per whole token, times 1e18. @throws OperatingError PRICE_UNAVAILABLE. */
  readUsd(token: PricedToken): Promise<bigint>;
  /** Returns whole tokens of `to` per whole token of `from`, times 1e18. @throws OperatingError PRICE_UNAVAILABLE. */
  readRate(from: PricedToken, to: PricedToken): Promise<bigint>;
}

/** Creates a price reader. The attestor has an instance with its own nodes and requests. */
export function createPrices(options: {
  readonly chains: Chains;
  readonly http: Http;
  readonly clock: Clock;
  /** Returns the configured sources of a token; undefined if it has none. */
  readonly sourcesOf: (token: PricedToken) => PriceConfig | undefined;
  /** Called after each read of a token's sources. */
  readonly onReport?: (token: PricedToken, report: PriceReport) => void;
}): Prices {
  const { chains, clock, sourcesOf, onReport } = options;
  const readHttp = createHttpSources(options);

  async function readReport(token: PricedToken): Promise<PriceReport> {
    const sources = sourcesOf(token);
    const chain = chains.get(token.chainId);
    const named = sources && chain ? await askAll(sources, chain, readHttp) : [];
    const nowMs = clock.now();
    const answers = named.map(({ answer }) => answer);
    const report = {
      result: combineAnswers(answers, sources?.maxDeviationBps ?? 0, nowMs),
      sources: named.map(({ source, answer }) => ({
        source,
        fault: faultOf(answer, nowMs),
        detail: "detail" in answer ? answer.detail : null,
      })),
    };
    onReport?.(token, report);
    return report;
  }

  return createReads(readReport);
}

/** Composes the reads of prices from those of reports. */
function createReads(readReport: Prices["readReport"]): Prices {
  async function readUsd(token: PricedToken): Promise<bigint> {
    const { result } = await readReport(token);
    if (result.kind === "unavailable") throw unavailable(result.reason);
    return result.usd;
  }

  return {
    readReport,
    readUsd,
    async readRate(from, to) {
      const [usdIn, usdOut] = await Promise.all([readUsd(from), readUsd(to)]);
      const rate = rateBetween(usdIn, usdOut);
      if (rate === 0n) throw unavailable("out_of_range");
      return rate;
    },
  };
}

/** How long a quote may use prices that another has read, in milliseconds. */
const RECENT_MS = 3_000;

/** Returns prices for quotes, which read the sources of a token once in a few seconds. */
export function rememberPrices(prices: Prices, clock: Clock): Prices {
  const readReport = remember({ clock, forMs: RECENT_MS }, prices.readReport);
  return createReads(readReport);
}

/** Reads all sources in parallel. */
function askAll(
  { fixed, feeds, http }: PriceConfig,
  chain: Chain,
  readHttp: ReturnType<typeof createHttpSources>,
): Promise<{ readonly source: string; readonly answer: SourceAnswer }[]> {
  const asked: { readonly source: string; readonly answer: Promise<SourceAnswer> }[] = [
    ...feeds.map((feed, index) => ({ source: `feeds[${index}]`, answer: askFeed(chain, feed) })),
    ...http.map((source, index) => ({ source: `http[${index}]`, answer: readHttp(source) })),
  ];
  if (fixed !== undefined) {
    asked.push({ source: "static", answer: Promise.resolve({ usd: fixed, published: null }) });
  }
  return Promise.all(asked.map(async ({ source, answer }) => ({ source, answer: await answer })));
}

/** Reads an on-chain feed. A node that does not answer is a fault of this source only. */
async function askFeed(
  { priceFeeds }: Chain,
  { address, maxAgeMs }: FeedConfig,
): Promise<SourceAnswer> {
  assert(priceFeeds, "the configuration names no feed on a chain without feeds");
  try {
    const { usd, publishedAtMs } = await priceFeeds.readPriceFeed(address);
    return { usd, published: { atMs: publishedAtMs, maxAgeMs } };
  } catch (error) {
    if (!(error instanceof OperatingError)) throw error;
    return { fault: "no_answer", detail: error.code };
  }
}
