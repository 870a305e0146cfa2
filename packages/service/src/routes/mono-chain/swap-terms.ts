/**
 * What a swap may cost and must bring: the same numbers as the contract's (`UniswapSwap`, `RouteFee`), and the bounds
 * within which a pool is believed. Pure.
 */
import type { RouteFee } from "../../chains/port/index.ts";
import { BPS, type Caps, convert, feeOf, minOutOfFair } from "../../core/amounts.ts";
import { OperatingError } from "../../core/errors.ts";

/** A pair, as its decimals and a rate make it. */
export interface Rated {
  /** Whole destination tokens per whole source token, times 1e18. */
  readonly rate: bigint;
  readonly decimalsIn: number;
  readonly decimalsOut: number;
}

/** What the route keeps of an amount before it swaps the rest. */
export function chargeOf(amount: bigint, { bps, flat }: RouteFee): bigint {
  return feeOf(amount, bps) + flat;
}

/** The least that the contract lets a swap of `amountIn` bring at a rate, rounded down twice. */
export function swapMinimumOf(
  amountIn: bigint,
  rated: Rated,
  { maxSlippageBps }: Pick<Caps, "maxSlippageBps">,
): bigint {
  return minOutOfFair(convert({ amount: amountIn, ...rated }), { maxFeeBps: 0, maxSlippageBps });
}

/**
 * Whether a pool's answer is one to act on. One that is far below what is fair is a bad deal, or somebody's trap; one
 * that is far above means that the pool or the price is wrong, and promises what nobody may get.
 * @throws OperatingError NO_ROUTE, which defers a settlement until pool and price agree again.
 */
export function assertFair(
  answer: bigint | null,
  expected: { readonly fair: bigint; readonly least: bigint; readonly maxImpactBps: number },
): asserts answer is bigint {
  const { fair, least, maxImpactBps } = expected;
  const room = BPS * fair;
  const apart = BigInt(maxImpactBps) * fair;
  if (answer === null) throw refusal("no_pool", { fair });
  if (answer * BPS < room - apart || answer < least) {
    throw refusal("pool_below_price", { fair, answer });
  }
  if (answer * BPS > room + apart) throw refusal("pool_above_price", { fair, answer });
}

function refusal(
  reason: string,
  { fair, answer }: { readonly fair: bigint; readonly answer?: bigint },
): OperatingError {
  const details = {
    reason,
    fair: fair.toString(),
    ...(answer === undefined ? {} : { offered: answer.toString() }),
  };
  return new OperatingError("NO_ROUTE", "No pool swaps this at a fair price right now.", {
    details,
  });
}
