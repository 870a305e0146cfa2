/** Dust: whoever sends a little to a wallet again and again must not hold up what takes all that is in it. */
import { type Held, MORE_ARRIVED } from "../chains/port/index.ts";
import type { ErrorDetails } from "../core/errors.ts";

/** Whether an order from a wallet met more than it takes. */
export function metMore(error: { readonly details?: ErrorDetails | undefined } | null): boolean {
  return error?.details?.["reason"] === MORE_ARRIVED;
}

/** What goes through whatever else arrives; the same where nothing hinders it, or more would be left than taken. */
export function leaveSpare(held: Held): Held {
  const { amount, spare } = held;
  return spare === undefined || amount < 2n * spare ? held : { ...held, amount: amount - spare };
}
