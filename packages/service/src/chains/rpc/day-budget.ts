/**
 * The requests that a node may get in a day (UTC). Each process reserves some of them ahead in one place that survives
 * restarts; requests that it reserved and did not send are lost at a restart, so that the day's limit is never exceeded.
 */
import type { Clock } from "../../core/ports.ts";

/** Reservations of a day: a hundredth each, so that a restart costs no more. */
const PARTS = 100;

/** The count of a day, shared by the processes of an installation. */
export interface DayCount {
  /** Adds `count` to the requests of a day unless they then exceed `max`. Returns the requests of the day, or null. */
  reserve(args: {
    /** Days since the Unix epoch. */
    readonly day: number;
    readonly count: number;
    readonly max: number;
  }): Promise<number | null>;
}

export interface DayBudget {
  /** Takes requests from the budget; false if they exceed it. */
  take(count: number): Promise<boolean>;
  /** Returns requests that were not sent. */
  giveBack(count: number): void;
}

export function createDayBudget(options: {
  readonly clock: Clock;
  readonly requestsPerDay: number;
  readonly counted: DayCount;
  /** Receives the share of the day's requests that are reserved, 0 to 1. */
  readonly onUsed: (share: number) => void;
}): DayBudget {
  const { clock, requestsPerDay, counted, onUsed } = options;
  const part = Math.max(1, Math.floor(requestsPerDay / PARTS));
  /** The day of the reserved requests. */
  let day = 0;
  let left = 0;
  let isUsedUp = false;
  let last: Promise<unknown> = Promise.resolve();

  async function reserve(count: number): Promise<void> {
    const today = Math.floor(clock.now() / 86_400_000);
    if (today !== day) [day, left, isUsedUp] = [today, 0, false];
    if (left >= count || isUsedUp) return;
    const missing = count - left;
    for (const wanted of new Set([Math.max(part, missing), missing])) {
      const used = await counted.reserve({ day, count: wanted, max: requestsPerDay });
      if (used === null) continue;
      left += wanted;
      onUsed(used / requestsPerDay);
      return;
    }
    isUsedUp = true;
    onUsed(1);
  }

  return {
    take(count) {
      // One after another, so that two requests do not reserve for each other's need.
      const taken = last.then(async () => {
        await reserve(count);
        if (left < count) return false;
        left -= count;
        return true;
      });
      last = taken.catch(() => undefined);
      return taken;
    },
    giveBack(count) {
      left += count;
    },
  };
}
