/**
 * The sum of what a signer committed in the last 24 hours. Amounts of the same minute are kept as one and count until the last
 * of them is a day old: the memory and the time of a sum do not grow with the number of signatures.
 */

export const DAY_MS = 86_400_000;
const MINUTE_MS = 60_000;

export interface DailySum {
  /** Adds an amount, and forgets those that are a day old at its time. Returns a function that takes it back. */
  add(amount: bigint, atMs: number): () => void;
  /** Returns the amounts that are less than a day old. */
  at(nowMs: number): bigint;
}

/** Amounts whose times are within a minute of that of the first. */
interface Minute {
  readonly firstMs: number;
  lastMs: number;
  amount: bigint;
}

export function createDailySum(): DailySum {
  let minutes: Minute[] = [];
  return {
    add(amount, atMs) {
      let minute = minutes.at(-1);
      // An earlier time begins a minute too: after a clock that was ahead, amounts do not count until its time.
      if (!minute || Math.abs(atMs - minute.firstMs) >= MINUTE_MS) {
        minutes = minutes.filter(({ lastMs }) => lastMs > atMs - DAY_MS);
        minute = { firstMs: atMs, lastMs: atMs, amount: 0n };
        minutes.push(minute);
      }
      const added = minute;
      added.lastMs = Math.max(added.lastMs, atMs);
      added.amount += amount;
      return () => {
        added.amount -= amount;
      };
    },
    at: (nowMs) =>
      minutes
        .filter(({ lastMs }) => lastMs > nowMs - DAY_MS)
        .reduce((sum, { amount }) => sum + amount, 0n),
  };
}
