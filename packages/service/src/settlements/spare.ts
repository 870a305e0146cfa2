/** Protection against dust: payments that keep arriving in a vault must not block the orders that empty it. */
import { type Held, MORE_ARRIVED } from "../chains/port/index.ts";
import type { ErrorDetails } from "../core/errors.ts";

/** Returns whether an order failed because the balance grew after the order was built. */
export function failedByArrival(
  error: { readonly details?: ErrorDetails | undefined } | null,
): boolean {
  return error?.details?.["reason"] === MORE_ARRIVED;
}

/**
 * Reduces the amount of an order by the vault's spare, so that later arrivals cannot fail it. Returns the holding
 * unchanged where it has no spare, or where more would be left behind than taken.
 */
export function leaveSpare(held: Held): Held {
  const { amount, spare } = held;
  return spare === undefined || amount < 2n * spare ? held : { ...held, amount: amount - spare };
}
