/** Charts of the console over time. */
import { type ConsoleTrends, TREND_RANGES, type TrendRange } from "@sluice/sdk/wire";
import { invalid } from "../api/index.ts";
import { toAddress } from "../core/hex.ts";
import type { Clock } from "../core/ports.ts";
import type { Db } from "../db/schema.ts";
import { listEarned } from "../ledger/index.ts";
import { listLags } from "../scanner/index.ts";
import { listCompletedSpans } from "../settlements/index.ts";
import type { DescribeContext } from "./describe.ts";
import { assetOf, nameOf } from "./assets.ts";

const HOUR_MS = 3_600_000;
/** Length and number of the spans of each range. */
const RANGES: Readonly<Record<TrendRange, { readonly spanMs: number; readonly count: number }>> = {
  "1h": { spanMs: HOUR_MS / 60, count: 60 },
  "24h": { spanMs: HOUR_MS / 2, count: 48 },
  "7d": { spanMs: 3 * HOUR_MS, count: 56 },
  "30d": { spanMs: 12 * HOUR_MS, count: 60 },
};
/** Answers of a range are kept for this part of one of its spans, since a long range reads much. */
const KEPT_PART = 20;

/** Reads a range of time, from memory where the last answer is new enough. */
export interface Trends {
  read(range: string): Promise<ConsoleTrends>;
}

/** Opens the trends. */
export function createTrends(
  deps: DescribeContext & { readonly db: Db; readonly clock: Clock },
): Trends {
  const kept = new Map<
    TrendRange,
    { readonly atMs: number; readonly trends: Promise<ConsoleTrends> }
  >();
  return {
    read(given) {
      const range = TREND_RANGES.find((name) => name === given);
      if (!range) throw invalid("range", `one of ${TREND_RANGES.join(", ")}`);
      const nowMs = deps.clock.now();
      const last = kept.get(range);
      if (last && nowMs - last.atMs < RANGES[range].spanMs / KEPT_PART) return last.trends;
      const trends = readTrends(deps, range, nowMs);
      kept.set(range, { atMs: nowMs, trends });
      // A failure is not remembered.
      trends.catch(() => kept.delete(range));
      return trends;
    },
  };
}

async function readTrends(
  deps: DescribeContext & { readonly db: Db },
  range: TrendRange,
  nowMs: number,
): Promise<ConsoleTrends> {
  const { spanMs, count } = RANGES[range];
  const fromMs = (Math.floor(nowMs / spanMs) - count + 1) * spanMs;
  const [completed, earned, lags] = await Promise.all([
    listCompletedSpans(deps.db, { fromMs, spanMs }),
    listEarned(deps.db, { fromMs, spanMs }),
    listLags(deps.db, { fromMs, spanMs }),
  ]);
  const places = Array.from({ length: count }, (_, place) => place);
  const spans = new Map(completed.all.map((span) => [span.place, span]));
  const routes = Map.groupBy(completed.byRoute, ({ route }) => route);
  const tokens = Map.groupBy(earned, ({ chainId, token }) => `${chainId}:${token}`);
  return {
    at: places.map((place) => (fromMs + place * spanMs) / 1_000),
    spanS: spanMs / 1_000,
    p50S: places.map((place) => spans.get(place)?.p50S ?? null),
    p95S: places.map((place) => spans.get(place)?.p95S ?? null),
    lags: deps.chains.flatMap(({ chainId }) => {
      const own = lags.filter((lag) => lag.chainId === chainId);
      const known = new Map(own.map(({ place, blocks }) => [place, blocks]));
      const blocks = places.map((place) => known.get(place) ?? null);
      return own.length === 0 ? [] : [{ chain: nameOf(chainId), blocks }];
    }),
    routes: [...routes].map(([name, own]) => {
      const counts = new Map(own.map((one) => [one.place, one.count]));
      return { name, counts: places.map((place) => counts.get(place) ?? 0) };
    }),
    fees: [...tokens.values()].flatMap((own) => {
      const [first] = own;
      if (!first) return [];
      const token = assetOf(deps, first.chainId, toAddress(first.token));
      const amounts = new Map(own.map(({ place, amount }) => [place, amount]));
      return [
        {
          token: token.describe,
          total: token.format(own.reduce((sum, { amount }) => sum + amount, 0n)),
          // For a line on a screen a float is exact enough.
          amounts: places.map((place) => Number(token.units(amounts.get(place) ?? 0n))),
        },
      ];
    }),
  };
}
