/** Types that the steps of a settlement share. */

/** `again` when the next step may run at once; `wait` until the settlement is due. */
export type StepResult = "again" | "wait";

/** Rolls a transaction back because the settlement was changed concurrently; the step starts again from the row. */
export class ConcurrentChange extends Error {
  override readonly name = "ConcurrentChange";
}
