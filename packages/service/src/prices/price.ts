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
 * One price out of what the sources say: the median of the usable ones; with an even number, the lower of the middle two.
 * A source that is too old or out of range is left out, as long as more than half of all are left: what is priced by two
 * must not come to be priced by one unnoticed.
 * @throws OperatingError PRICE_UNAVAILABLE with the reason when too few are left, or two are too far apart.
 */
export function combinePoints(
  points: readonly PricePoint[],
  { maxAgeMs, maxDeviationBps }: PriceBounds,
  nowMs: number,
): bigint {
  const faults = points.map((point) => faultOf(point, maxAgeMs, nowMs));
  const usable = points.filter((_, index) => faults[index] === null);
  if (usable.length * 2 <= points.length) {
    throw unavailable(faults.find((fault) => fault !== null) ?? "no_source");
  }
  const sorted = usable.map(({ usd }) => usd).toSorted((a, b) => (a < b ? -1 : a > b ? 1 : 0));
  const [lowest = 0n] = sorted;
  const highest = sorted.at(-1) ?? 0n;
  if ((highest - lowest) * 10_000n > lowest * BigInt(maxDeviationBps)) {
    throw unavailable("sources_disagree");
  }
  return sorted[Math.floor((sorted.length - 1) / 2)] ?? lowest;
}

function faultOf(
  { usd, publishedAtMs }: PricePoint,
  maxAgeMs: number,
  nowMs: number,
): "out_of_range" | "from_the_future" | "too_old" | null {
  if (usd <= 0n || usd > USD_MAX) return "out_of_range";
  if (publishedAtMs === null) return null;
  if (publishedAtMs > nowMs + AHEAD_MAX_MS) return "from_the_future";
  return nowMs - publishedAtMs > maxAgeMs ? "too_old" : null;
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
