/**
 * The pool of the fake chain: one pair, the native coin and a token, at a price that traders set; and the market, whose price
 * the feed reports. Shares no code with the routes, so that a mistake on one side shows on the other.
 */
import type { Address, EvmAddress } from "../../src/core/hex.ts";

/** The pool of a chain. It never runs out of either side. */
export interface FakePool {
  readonly account: EvmAddress;
  readonly quoter: EvmAddress;
  /** The wrapped native coin, the pool's name for the coin. */
  readonly weth: EvmAddress;
  readonly token: Address;
  readonly coinDecimals: bigint;
  readonly tokenDecimals: bigint;
  /** Fee on the input, in hundredths of a basis point. */
  readonly fee: bigint;
  /** The feed of the coin's price. */
  readonly feed: EvmAddress;
  readonly limits: PoolLimits;
}

/** Limits of the swap routes, which no signature lifts. */
export interface PoolLimits {
  /** Seconds over which the price of the pool is averaged, and within which the cap counts: a day in the contracts. */
  readonly windowS: bigint;
  /** The most by which a swap may give less than at the averaged price, in basis points. */
  readonly toleranceBps: bigint;
  /** The most that a route swaps within the window, in base units of its input. */
  readonly caps: { readonly coin: bigint; readonly token: bigint };
}

/** Limits that bind nobody. */
export const NO_POOL_LIMITS: PoolLimits = {
  windowS: 1n,
  toleranceBps: 10_000n,
  caps: { coin: 10n ** 36n, token: 10n ** 36n },
};

/** Prices at a block: whole tokens per whole coin, times 1e18. */
export interface Market {
  readonly fair: bigint;
  /** Price of the pool. */
  readonly pool: bigint;
}

const ONE = 10n ** 18n;
const HUNDREDTHS = 1_000_000n;

/** An observation at a time, in unix seconds. */
interface Timed {
  readonly time: bigint;
}

/** Returns the average of the pool's price since a window ago; `prices` are its changes, the oldest first. */
export function meanPrice(
  { limits: { windowS } }: FakePool,
  prices: readonly (Timed & { readonly pool: bigint })[],
  time: bigint,
): bigint {
  const from = time - windowS;
  let sum = 0n;
  for (const [index, { time: at, pool }] of prices.entries()) {
    const until = prices[index + 1]?.time ?? time;
    const since = index === 0 || at < from ? from : at;
    if (until > since) sum += (until - since) * pool;
  }
  return sum / windowS;
}

/** Returns what a route may still swap within the window. */
export function capLeftOf(
  { limits: { windowS, caps } }: FakePool,
  spent: readonly (Timed & { readonly amount: bigint })[],
  { time, isCoin }: { readonly time: bigint; readonly isCoin: boolean },
): bigint {
  const cap = isCoin ? caps.coin : caps.token;
  const recent = spent.filter((one) => one.time > time - windowS);
  return recent.reduce((left, { amount }) => left - amount, cap);
}

/** Returns the least output that the averaged price allows, for an amount of the coin or of the token. */
export function leastFor(
  pool: FakePool,
  mean: bigint,
  { amountIn, isCoin }: { readonly amountIn: bigint; readonly isCoin: boolean },
): bigint {
  const { coinDecimals, tokenDecimals } = pool;
  const [coin, token] = [ONE * 10n ** coinDecimals, mean * 10n ** tokenDecimals];
  const value = isCoin ? (amountIn * token) / coin : (amountIn * coin) / token;
  return (value * (10_000n - pool.limits.toleranceBps)) / 10_000n;
}

/** Returns the pool's output for an amount of the coin, or of the token. */
export function givenFor(
  { coinDecimals, tokenDecimals, fee }: FakePool,
  { pool }: Market,
  { amountIn, isCoin }: { readonly amountIn: bigint; readonly isCoin: boolean },
): bigint {
  const traded = (amountIn * (HUNDREDTHS - fee)) / HUNDREDTHS;
  const [coin, token] = [ONE * 10n ** coinDecimals, pool * 10n ** tokenDecimals];
  return isCoin ? (traded * token) / coin : (traded * coin) / token;
}
