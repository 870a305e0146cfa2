/**
 * Prices in US dollars, exact: bigint, times 1e18. A price decides how two assets compare and whether a deposit is large
 * enough; it never is an amount by itself.
 */
import { OperatingError } from "../core/errors.ts";

/** Decimals of a price and of a rate. */
export const PRICE_DECIMALS = 18;
/** Prices and rates are times this. */
export const PRICE_SCALE = 10n ** BigInt(PRICE_DECIMALS);

/** Why a source has no price that can be used. */
export const PRICE_FAULTS = [
  "no_answer",
  "bad_answer",
  "out_of_range",
  "from_the_future",
  "too_old",
] as const;
export type PriceFault = (typeof PRICE_FAULTS)[number];

/** Why a token has no price. */
export const PRICE_REFUSALS = [...PRICE_FAULTS, "sources_disagree", "no_source"] as const;
export type PriceRefusal = (typeof PRICE_REFUSALS)[number];

/** What one source says. */
export interface PricePoint {
  /** US dollars per whole unit, times 1e18. */
  readonly usd: bigint;
  /** When it was published, and how old it may become; null for a price that never ages. */
  readonly published: { readonly atMs: number; readonly maxAgeMs: number } | null;
}

/** What became of asking one source. */
export type SourceAnswer =
  | PricePoint
  | {
      readonly fault: "no_answer" | "bad_answer";
      /** For operators: nothing of it is the source's own text. */
      readonly detail: string;
    };

export type Combined =
  | { readonly kind: "price"; readonly usd: bigint }
  | { readonly kind: "unavailable"; readonly reason: PriceRefusal };

/** Clocks differ a little; a point from further ahead is wrong. */
const AHEAD_MAX_MS = 60_000;
/** A quadrillion dollars per unit: nothing is worth that. */
const USD_MAX = 10n ** 15n * PRICE_SCALE;

/**
 * One price out of what the sources say: the median of the usable ones; with an even number, the lower of the middle two.
 * A source that failed, is too old or out of range is left out, as long as more than half of all are left: what is priced
 * by two must not come to be priced by one unnoticed. Two that are too far apart are no price, whoever of them is right.
 */
export function combineAnswers(
  answers: readonly SourceAnswer[],
  /** How far two points may lie apart, measured on the lower one. */
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

/** What is wrong with an answer; null where nothing is. */
export function faultOf(answer: SourceAnswer, nowMs: number): PriceFault | null {
  if ("fault" in answer) return answer.fault;
  const { usd, published } = answer;
  if (usd <= 0n || usd > USD_MAX) return "out_of_range";
  if (published === null) return null;
  const { atMs: publishedAtMs, maxAgeMs } = published;
  if (publishedAtMs > nowMs + AHEAD_MAX_MS) return "from_the_future";
  return nowMs - publishedAtMs > maxAgeMs ? "too_old" : null;
}

/** Whole units out per whole unit in, times 1e18, rounded down. Prices are above zero. */
export function rateBetween(usdIn: bigint, usdOut: bigint): bigint {
  return (usdIn * PRICE_SCALE) / usdOut;
}

/** A deferral: there is no price that can be trusted now. */
export function unavailable(reason: PriceRefusal): OperatingError {
  return new OperatingError("PRICE_UNAVAILABLE", "There is no price that can be trusted now.", {
    details: { reason },
  });
}
