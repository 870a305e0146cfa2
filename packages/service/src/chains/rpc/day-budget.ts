/**
 * The requests that a node may get in a day (UTC). Each process reserves some of them ahead in one place that survives
 * restarts; requests that it reserved and did not send are lost at a restart, so that the day's limit is never exceeded.
 */
import type { Clock } from "../../core/ports.ts";

/** Reservations of a day: a hundredth each, so that a restart costs no more. */
const PARTS = 100;
/** The reserve is this part of a day's requests. */
const RESERVE_OF = 20;

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
  /** Takes requests from the budget; false if they exceed it, or without `mayUseReserve` the budget less its reserve. */
  take(count: number, mayUseReserve?: boolean): Promise<boolean>;
  /** Returns requests that were not sent. */
  giveBack(count: number): void;
}

interface DayBudgetOptions {
  readonly clock: Clock;
  readonly requestsPerDay: number;
  readonly counted: DayCount;
  /** Receives the share of the day's requests, without the reserve, that are reserved: 0 to 1. */
  readonly onUsed: (share: number) => void;
}

/**
 * Returns the budget of a node. Its last twentieth is a reserve: claims and returns go on when other work has used up the rest,
 * since a lock that is not claimed in time can be taken back.
 */
export function createDayBudget({
  clock,
  requestsPerDay,
  counted,
  onUsed,
}: DayBudgetOptions): DayBudget {
  const part = Math.max(1, Math.floor(requestsPerDay / PARTS));
  const usualMax = requestsPerDay - Math.floor(requestsPerDay / RESERVE_OF);
  const common = { clock, counted, part };
  const usual = createShare({
    ...common,
    max: usualMax,
    onUsed: (used) => onUsed(Math.min(1, used / usualMax)),
  });
  const reserve = createShare({ ...common, max: requestsPerDay, onUsed: () => undefined });
  let last: Promise<unknown> = Promise.resolve();
  return {
    take(count, mayUseReserve = false) {
      // One after another, so that two requests do not reserve for each other's need.
      const taken = last.then(
        async () => (await usual.take(count)) || (mayUseReserve && (await reserve.take(count))),
      );
      last = taken.catch(() => undefined);
      return taken;
    },
    giveBack: usual.giveBack,
  };
}

/** Takes requests up to a number of the day. */
function createShare({
  clock,
  counted,
  part,
  max,
  onUsed,
}: Pick<DayBudgetOptions, "clock" | "counted"> & {
  readonly part: number;
  readonly max: number;
  /** Receives the reserved requests of the day. */
  readonly onUsed: (used: number) => void;
}) {
  /** The day of the reserved requests. */
  let day = 0;
  let left = 0;
  let isUsedUp = false;

  async function reserve(count: number): Promise<void> {
    const today = Math.floor(clock.now() / 86_400_000);
    if (today !== day) [day, left, isUsedUp] = [today, 0, false];
    if (left >= count || isUsedUp) return;
    const missing = count - left;
    for (const wanted of new Set([Math.max(part, missing), missing])) {
      const used = wanted > max ? null : await counted.reserve({ day, count: wanted, max });
      if (used === null) continue;
      left += wanted;
      onUsed(used);
      return;
    }
    isUsedUp = true;
    onUsed(max);
  }

  return {
    async take(count: number): Promise<boolean> {
      await reserve(count);
      if (left < count) return false;
      left -= count;
      return true;
    },
    giveBack(count: number): void {
      left += count;
    },
  };
}
