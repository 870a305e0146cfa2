/**
 * Fees and minimum output of a pool swap, computed as the contract does (`UniswapSwap`, `RouteFee`), and the bounds within
 * which a pool's quote is accepted. Pure.
 */
import type { RouteFee, SwapLimits } from "../../chains/port/index.ts";
import { BPS, type Caps, convert, feeOf, minOutOfFair } from "../../core/amounts.ts";
import { OperatingError } from "../../core/errors.ts";

/** Rate and decimals of a pair. */
export interface Rated {
  /** Whole destination tokens per whole source token, times 1e18. */
  readonly rate: bigint;
  readonly decimalsIn: number;
  readonly decimalsOut: number;
}

/** Returns the route fee taken before the swap, in source base units. */
export function chargeOf(amount: bigint, { bps, flat }: RouteFee): bigint {
  return feeOf(amount, bps) + flat;
}

/** Returns the minimum output that the contract accepts for `amountIn` at a rate: the value rounded down, its share up. */
export function swapMinimumOf(
  amountIn: bigint,
  rated: Rated,
  { maxSlippageBps }: Pick<Caps, "maxSlippageBps">,
): bigint {
  return minOutOfFair(convert({ amount: amountIn, ...rated }), { maxFeeBps: 0, maxSlippageBps });
}

/**
 * Checks that a pool's quote is close to the fair amount. A much lower quote is a bad price or a manipulated pool. A much
 * higher one means that the pool or the price is wrong, and would promise too much.
 * @throws OperatingError NO_ROUTE, which defers a settlement until pool and price agree.
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

/**
 * Checks a pool's quote against the limits of the route's contract, which would revert the swap.
 * @throws OperatingError NO_ROUTE, which defers a settlement until the limits allow it.
 */
export function assertWithinLimits(
  answer: bigint,
  { amountIn, limits }: { readonly amountIn: bigint; readonly limits: SwapLimits },
): void {
  const { least, capLeft } = limits;
  if (least === null) throw limited("pool_history_too_short", {});
  if (answer < least) throw limited("pool_below_average", { offered: answer, least });
  if (amountIn > capLeft) throw limited("daily_cap", { amountIn, capLeft });
}

function limited(reason: string, amounts: Readonly<Record<string, bigint>>): OperatingError {
  const shown = Object.entries(amounts).map(([name, amount]) => [name, amount.toString()]);
  return new OperatingError(
    "NO_ROUTE",
    "The limits of the route's contract refuse this swap now.",
    {
      details: { reason, ...Object.fromEntries(shown) },
    },
  );
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
  return new OperatingError("NO_ROUTE", "No pool offers a fair price for this pair now.", {
    details,
  });
}
