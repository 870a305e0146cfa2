/** A token bucket: a second's requests may come at once, then they refill evenly. */

export interface RateLimit {
  /** Takes tokens if there are enough. */
  take(count: number): boolean;
}

/** Returns a bucket that reads its rate for each request; null for no limit. */
export function createRateLimit(
  ratePerSecond: () => number | null,
  nowMs: () => number,
): RateLimit {
  let tokens: number | undefined;
  let filledAt = nowMs();
  return {
    take: (count) => {
      const rate = ratePerSecond();
      if (rate === null) return true;
      const now = nowMs();
      tokens = Math.min(rate, (tokens ?? rate) + ((now - filledAt) / 1000) * rate);
      filledAt = now;
      // A batch larger than the rate passes with a full bucket, otherwise it never would.
      if (tokens < Math.min(count, rate)) return false;
      tokens -= count;
      return true;
    },
  };
}
