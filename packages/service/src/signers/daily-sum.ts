/**
 * The sum of what a signer committed in the last 24 hours. Amounts of the same minute are kept as one and count until the last
 * of them is a day old: the memory and the time of a sum do not grow with the number of signatures.
 */

export const DAY_MS = 86_400_000;
const MINUTE_MS = 60_000;

export interface DailySum {
  /** Adds an amount. Forgets those that are a day old at its time. */
  add(amount: bigint, atMs: number): void;
  /** Returns the amounts that are less than a day old. */
  at(nowMs: number): bigint;
}

/** Amounts that were added within a minute of the first of them. */
interface Minute {
  readonly firstMs: number;
  lastMs: number;
  amount: bigint;
}

export function createDailySum(): DailySum {
  let minutes: Minute[] = [];
  return {
    add(amount, atMs) {
      const last = minutes.at(-1);
      // A clock that was set back adds to the newest minute, so that nothing is forgotten too soon.
      if (last && atMs < last.firstMs + MINUTE_MS) {
        last.lastMs = Math.max(last.lastMs, atMs);
        last.amount += amount;
        return;
      }
      minutes = minutes.filter(({ lastMs }) => lastMs > atMs - DAY_MS);
      minutes.push({ firstMs: atMs, lastMs: atMs, amount });
    },
    at: (nowMs) =>
      minutes
        .filter(({ lastMs }) => lastMs > nowMs - DAY_MS)
        .reduce((sum, { amount }) => sum + amount, 0n),
  };
}
