/** What every step of a settlement shares. */

/** `again` when another look may find more to do at once. */
export type StepResult = "again" | "wait";

/** Rolls a transaction back because somebody else changed the settlement first; the next look starts from the row. */
export class ConcurrentChange extends Error {
  override readonly name = "ConcurrentChange";
}
