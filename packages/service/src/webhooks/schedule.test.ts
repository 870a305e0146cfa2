import { describe, expect, test } from "vitest";
import {
  ATTEMPT_DELAYS_MS,
  countFailure,
  DISABLE_AFTER_MS,
  type Failures,
  nextDelayMs,
  STILL_FAILING_AFTER_MS,
} from "./schedule.ts";

const HOUR_MS = 3_600_000;

describe("the retry schedule", () => {
  test("has ten attempts: at once, 5 s, 5 min, 30 min, 2, 5, 10, 14, 20 and 24 h", () => {
    const delays = ATTEMPT_DELAYS_MS.map((_, failed) => nextDelayMs(failed, { random: 0 }));
    const hours = [2, 5, 10, 14, 20, 24].map((count) => count * HOUR_MS);
    expect(delays).toEqual([0, 5_000, 300_000, 1_800_000, ...hours]);
    expect(nextDelayMs(ATTEMPT_DELAYS_MS.length, { random: 0 })).toBeNull();
  });

  test("adds at most a tenth of jitter and is never earlier", () => {
    expect(nextDelayMs(1, { random: 1 })).toBe(5_500);
    expect(nextDelayMs(1, { random: 0.5 })).toBe(5_250);
  });

  test("follows a longer Retry-After, up to a day, and no shorter one", () => {
    expect(nextDelayMs(1, { random: 0, retryAfterMs: 60_000 })).toBe(60_000);
    expect(nextDelayMs(2, { random: 0, retryAfterMs: 1_000 })).toBe(300_000);
    expect(nextDelayMs(1, { random: 0, retryAfterMs: 100 * HOUR_MS })).toBe(24 * HOUR_MS);
  });
});

describe("an endpoint that fails", () => {
  const failAt = (...hours: readonly number[]) => {
    let failures: Failures = { firstMs: null, stillMs: null };
    return hours.map((hour) => {
      const counted = countFailure(failures, hour * HOUR_MS);
      failures = counted;
      return counted.isDisabled;
    });
  };

  test("is disabled by a failure after 120 hours with one between that followed the first by 12", () => {
    expect(failAt(0, 11, 12, 119.9, 120)).toEqual([false, false, false, false, true]);
  });

  test("is not disabled by two failures far apart, nor by many in the first hours", () => {
    expect(failAt(0, 500)).toEqual([false, false]);
    expect(failAt(0, 1, 2, 11.9, 500, 501)).toEqual([false, false, false, false, false, true]);
  });

  test("has the published limits", () => {
    expect([DISABLE_AFTER_MS, STILL_FAILING_AFTER_MS]).toEqual([120 * HOUR_MS, 12 * HOUR_MS]);
  });
});
