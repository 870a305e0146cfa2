/**
 * Fees and rebroadcasts of an unmined transaction. All attempts of a nonce stay valid until one is mined: a higher fee is
 * offered only if the market asks for it or blocks pass without the transaction, and a rebroadcast offers the lowest fee
 * that the market accepts.
 */
import type { Fees } from "../chains/port/index.ts";
import type { LaneLimits } from "./lane-deps.ts";
import type { Attempt } from "./types.ts";

/** Most that a replacement offers, as a multiple of the market's price. Nine raises by an eighth reach it. */
const MARKET_FACTOR_MAX = 3n;
/** Longest time until the next nonce is sent again, or raised, after a node called it underpriced. */
const UNDERPRICED_RETRY_MAX_MS = 5_000;
/** Longest wait for the next raise while the market does not ask for one. */
const REPLACE_AFTER_MAX_MS = 600_000;

/**
 * Returns when a transaction is sent again, in milliseconds since the epoch: each time after twice as long. `attempts` are
 * newest first. `isNext` is the lowest open nonce, for which the others wait.
 */
export function resendAtOf(
  attempts: readonly Attempt[],
  { limits, isNext }: { readonly limits: LaneLimits; readonly isNext: boolean },
): number {
  const [newest] = attempts;
  const last = attempts.toSorted((a, b) => (b.sentAtMs ?? 0) - (a.sentAtMs ?? 0))[0];
  // An attempt that was never sent is due at once, also if one before it was.
  if (!last || !newest?.sends || last.sentAtMs === null) return 0;
  const { sentAtMs, sends, accepted, outcome } = last;
  const firstMs = accepted ? limits.resendAfterMs : limits.refusedAfterMs;
  const isRefused = isNext && !accepted && outcome === "underpriced";
  const mostMs = isRefused ? UNDERPRICED_RETRY_MAX_MS : limits.resendMaxMs;
  return sentAtMs + Math.min(firstMs * 2 ** (sends - 1), mostMs);
}

/**
 * Reports whether no block can take an attempt until the base fee falls. The market's price is twice the base fee, plus the
 * tip.
 */
export function isOutpriced({ gasPriceMax }: Fees, market: Fees): boolean {
  return gasPriceMax * 2n < market.gasPriceMax - market.tipMax;
}

/**
 * Returns the fees of a replacement: both raised by at least 12.5 % (nodes require 10 %). Returns null if the newest attempt
 * stays: too early, the node said that the lane cannot pay, or the raise exceeds the cap or the market three times.
 */
export function raiseFees(
  newest: Attempt,
  market: Fees,
  { nowMs, limits }: { readonly nowMs: number; readonly limits: LaneLimits },
): Fees | null {
  if (newest.outcome === "insufficient_funds") return null;
  // An attempt at the market's price may just be waiting: each raise waits twice as long as the one before.
  const isBelowMarket = newest.gasPriceMax < market.gasPriceMax;
  const waitMs = isBelowMarket
    ? limits.replaceAfterMs
    : Math.min(limits.replaceAfterMs * 2 ** (newest.number - 1), REPLACE_AFTER_MAX_MS);
  // Waiting buys nothing for an attempt that no block takes.
  if (!isOutpriced(newest, market) && nowMs - newest.signedAtMs < waitMs) return null;
  const raised = outbid(newest, market);
  const ceiling = min(limits.gasPriceMax, market.gasPriceMax * MARKET_FACTOR_MAX);
  return raised.gasPriceMax > ceiling ? null : raised;
}

/** Returns the least fees that replace an attempt and that the market accepts. */
export function outbid(newest: Attempt, market: Fees): Fees {
  const raise = (fee: bigint) => (fee * 1125n) / 1000n + 1n;
  return {
    gasPriceMax: max(market.gasPriceMax, raise(newest.gasPriceMax)),
    tipMax: max(market.tipMax, raise(newest.tipMax)),
  };
}

/**
 * Returns the attempt to rebroadcast: the cheapest that pays the market's price, else the newest. `attempts` are newest
 * first and not empty.
 */
export function chooseAttempt(attempts: readonly Attempt[], market: Fees): Attempt | undefined {
  const pays = ({ gasPriceMax, tipMax }: Attempt) =>
    gasPriceMax >= market.gasPriceMax && tipMax >= market.tipMax;
  return attempts.findLast(pays) ?? attempts[0];
}

function max(a: bigint, b: bigint): bigint {
  return a > b ? a : b;
}

function min(a: bigint, b: bigint): bigint {
  return a < b ? a : b;
}
