import type { Settlement } from "./types.ts";

/**
 * Returns whether a settlement has value in flight: its sweep is planned and has no final result, or the swept value is
 * not yet delivered, returned or taken back.
 *
 * Invariant: a settlement with value in flight never becomes `dead`, and no second sweep is planned for it.
 */
export function hasValueInFlight({
  step,
  plannedAmount,
}: Pick<Settlement, "step" | "plannedAmount">): boolean {
  return step === "deliver" || (step === "sweep" && plannedAmount !== null);
}
