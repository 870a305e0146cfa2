/**
 * Exact prices: US dollars per whole token, times 1e18, as bigint. A price converts between assets and decides whether a
 * deposit is large enough; it is never an amount itself.
 */
import { OperatingError } from "../core/errors.ts";

/** Decimals of a price and of a rate. */
export const PRICE_DECIMALS = 18;
/** Scale of prices and rates. */
export const PRICE_SCALE = 10n ** BigInt(PRICE_DECIMALS);

/** Faults of one price source. */
export const PRICE_FAULTS = [
  "no_answer",
  "bad_answer",
  "out_of_range",
  "from_the_future",
  "too_old",
] as const;
export type PriceFault = (typeof PRICE_FAULTS)[number];

/** Reasons for which a token has no price. */
export const PRICE_REFUSALS = [...PRICE_FAULTS, "sources_disagree", "no_source"] as const;
export type PriceRefusal = (typeof PRICE_REFUSALS)[number];

/** The price of one source. */
export interface PricePoint {
  /** US dollars per whole token, times 1e18. */
  readonly usd: bigint;
  /** Publication time and maximum age, in milliseconds; null for a fixed price. */
  readonly published: { readonly atMs: number; readonly maxAgeMs: number } | null;
}

/** The answer of one source: a price or a fault. */
export type SourceAnswer =
  | PricePoint
  | {
      readonly fault: "no_answer" | "bad_answer";
      /** Detail for operators. Contains no text of the source, which is untrusted. */
      readonly detail: string;
    };

export type Combined =
  | { readonly kind: "price"; readonly usd: bigint }
  | { readonly kind: "unavailable"; readonly reason: PriceRefusal };

/** Tolerated difference of clocks. A price from further in the future is a fault. */
const AHEAD_MAX_MS = 60_000;
/** A quadrillion dollars per whole token; anything above is a fault. */
const USD_MAX = 10n ** 15n * PRICE_SCALE;

/**
 * Returns the median of the usable prices; of an even number, the lower of the middle two. Faulty sources are left out, but
 * more than half of all sources must remain, so that a token with two sources is never priced by one. Unavailable if the
 * highest and lowest price deviate by more than `maxDeviationBps`.
 */
export function combineAnswers(
  answers: readonly SourceAnswer[],
  /** Maximum deviation of the highest price, relative to the lowest. */
  maxDeviationBps: number,
  nowMs: number,
): Combined {
  const faults = answers.map((answer) => faultOf(answer, nowMs));
  const usable = answers.flatMap((answer, index) =>
    faults[index] === null && "usd" in answer ? [answer.usd] : [],
  );
  if (usable.length * 2 <= answers.length) {
    const reason = faults.find((fault) => fault !== null) ?? "no_source";
    return { kind: "unavailable", reason };
  }
  const sorted = usable.toSorted((a, b) => (a < b ? -1 : a > b ? 1 : 0));
  const [lowest = 0n] = sorted;
  const highest = sorted.at(-1) ?? 0n;
  if ((highest - lowest) * 10_000n > lowest * BigInt(maxDeviationBps)) {
    return { kind: "unavailable", reason: "sources_disagree" };
  }
  return { kind: "price", usd: sorted[Math.floor((sorted.length - 1) / 2)] ?? lowest };
}

/** Returns the fault of an answer, or null if its price is usable. */
export function faultOf(answer: SourceAnswer, nowMs: number): PriceFault | null {
  if ("fault" in answer) return answer.fault;
  const { usd, published } = answer;
  if (usd <= 0n || usd > USD_MAX) return "out_of_range";
  if (published === null) return null;
  const { atMs: publishedAtMs, maxAgeMs } = published;
  if (publishedAtMs > nowMs + AHEAD_MAX_MS) return "from_the_future";
  return nowMs - publishedAtMs > maxAgeMs ? "too_old" : null;
}

/** Returns whole tokens out per whole token in, times 1e18, rounded down. Prices must be above zero. */
export function rateBetween(usdIn: bigint, usdOut: bigint): bigint {
  return (usdIn * PRICE_SCALE) / usdOut;
}

/** Creates the error for a token without a usable price; it defers a settlement and uses up no try. */
export function unavailable(reason: PriceRefusal): OperatingError {
  return new OperatingError("PRICE_UNAVAILABLE", "There is no price that can be trusted now.", {
    details: { reason },
  });
}
