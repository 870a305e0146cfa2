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
}

/** Prices at a block: whole tokens per whole coin, times 1e18. */
export interface Market {
  readonly fair: bigint;
  /** Price of the pool. */
  readonly pool: bigint;
}

const ONE = 10n ** 18n;
const HUNDREDTHS = 1_000_000n;

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
