/**
 * Prices in US dollars, exact: bigint, times 1e18. A price decides how two assets compare and whether a deposit is large
 * enough; it never is an amount by itself.
 */
import { OperatingError } from "../core/errors.ts";

/** Prices and rates are times this. */
export const PRICE_SCALE = 10n ** 18n;

/** What one source says. */
export interface PricePoint {
  /** US dollars per whole unit, times 1e18. */
  readonly usd: bigint;
  /** When it was published; null for a price that never ages. */
  readonly publishedAtMs: number | null;
}

export interface PriceBounds {
  /** Older points count as none. */
  readonly maxAgeMs: number;
  /** How far two points may lie apart, measured on the lower one. */
  readonly maxDeviationBps: number;
}

/** Clocks differ a little; a point from further ahead is wrong. */
const AHEAD_MAX_MS = 60_000;
/** A quadrillion dollars per unit: nothing is worth that. */
const USD_MAX = 10n ** 15n * PRICE_SCALE;

/**
 * One price out of what the sources say: the median; with an even number, the lower of the middle two.
 * @throws OperatingError PRICE_UNAVAILABLE when a source is missing, too old, out of range, or too far from another.
 */
export function combinePoints(
  points: readonly PricePoint[],
  { maxAgeMs, maxDeviationBps }: PriceBounds,
  nowMs: number,
): bigint {
  if (points.length === 0) throw unavailable("no_source");
  for (const { usd, publishedAtMs } of points) {
    if (usd <= 0n || usd > USD_MAX) throw unavailable("out_of_range");
    if (publishedAtMs === null) continue;
    if (publishedAtMs > nowMs + AHEAD_MAX_MS) throw unavailable("from_the_future");
    if (nowMs - publishedAtMs > maxAgeMs) throw unavailable("too_old");
  }
  const sorted = points.map(({ usd }) => usd).toSorted((a, b) => (a < b ? -1 : a > b ? 1 : 0));
  const [lowest = 0n] = sorted;
  const highest = sorted.at(-1) ?? 0n;
  if ((highest - lowest) * 10_000n > lowest * BigInt(maxDeviationBps)) {
    throw unavailable("sources_disagree");
  }
  return sorted[Math.floor((sorted.length - 1) / 2)] ?? lowest;
}

/** Whole units out per whole unit in, times 1e18, rounded down. Prices are above zero. */
export function rateBetween(usdIn: bigint, usdOut: bigint): bigint {
  return (usdIn * PRICE_SCALE) / usdOut;
}

/** A deferral: there is no price that can be trusted now. */
export function unavailable(reason: string): OperatingError {
  return new OperatingError("PRICE_UNAVAILABLE", "There is no price that can be trusted now.", {
    details: { reason },
  });
}
