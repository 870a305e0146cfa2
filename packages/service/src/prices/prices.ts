/** Prices of listed tokens, out of the sources that the configuration names. */
import { assert } from "../core/assert.ts";
import type { Chain, Chains } from "../chains/port/index.ts";
import type { FeedConfig, PriceConfig } from "../config/index.ts";
import { OperatingError } from "../core/errors.ts";
import type { Address } from "../core/hex.ts";
import type { Clock, Http } from "../core/ports.ts";
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

/** How one source did. */
export interface SourceState {
  /** Its place in the configuration, such as `http[0]`. Never its URL, which may hold a secret. */
  readonly source: string;
  readonly fault: PriceFault | null;
  /** More about the fault, for operators. */
  readonly detail: string | null;
}

/** A look at a token's sources. */
export interface PriceReport {
  readonly result: Combined;
  readonly sources: readonly SourceState[];
}

export interface Prices {
  /** What the sources of a token say now, and what that comes to. */
  readReport(token: PricedToken): Promise<PriceReport>;
  /** US dollars per whole unit, times 1e18. Throws PRICE_UNAVAILABLE. */
  readUsd(token: PricedToken): Promise<bigint>;
  /** Whole units of `to` per whole unit of `from`, times 1e18. Throws as `readUsd` does. */
  readRate(from: PricedToken, to: PricedToken): Promise<bigint>;
}

/** Prices over the given chains: the attestor has its own, over its own nodes and with its own calls. */
export function createPrices(options: {
  readonly chains: Chains;
  readonly http: Http;
  readonly clock: Clock;
  /** Undefined for a token without a price. */
  readonly sourcesOf: (token: PricedToken) => PriceConfig | undefined;
  /** Called after each look. */
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
    const seen = {
      result: combineAnswers(answers, sources?.maxDeviationBps ?? 0, nowMs),
      sources: named.map(({ source, answer }) => ({
        source,
        fault: faultOf(answer, nowMs),
        detail: "detail" in answer ? answer.detail : null,
      })),
    };
    onReport?.(token, seen);
    return seen;
  }

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

/** Every source at once: the slowest decides how long it takes. */
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

/** A node that does not answer costs this source alone. */
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
