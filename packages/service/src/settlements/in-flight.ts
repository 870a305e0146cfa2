import type { Settlement } from "./types.ts";

/**
 * Whether value of a settlement is on its way: a sweep is planned and its end is not known for good, or what it took is
 * not delivered, given back or taken back. Such a settlement is never `dead`, and nobody plans a second sweep for it.
 */
export function hasValueInFlight({
  step,
  plannedAmount,
}: Pick<Settlement, "step" | "plannedAmount">): boolean {
  return step === "deliver" || (step === "sweep" && plannedAmount !== null);
}
