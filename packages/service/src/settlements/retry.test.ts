import { ERROR_CODES, type ErrorCode } from "@sluice/sdk/wire";
import { describe, expect, test } from "vitest";
import { ATTEMPTS_MAX, judgeFailure, RETRY_SCHEDULE_MS } from "./retry.ts";

/** Fails with one code until given up, at most `times` times; returns the delays. */
function walk(code: ErrorCode, valueInFlight: boolean, times: number): number[] {
  const delays: number[] = [];
  let state = { retryCount: 0, attemptsUsed: 0 };
  for (let i = 0; i < times; i++) {
    const verdict = judgeFailure({ code, valueInFlight, ...state });
    if (verdict.kind === "give_up") return delays;
    delays.push(verdict.delayMs);
    state = verdict;
  }
  return delays;
}

describe("retries", () => {
  test("an attempt that keeps failing walks the published schedule and is dead at the seventh", () => {
    expect(walk("TX_REVERTED", false, 100)).toEqual(RETRY_SCHEDULE_MS.slice(0, ATTEMPTS_MAX - 1));
  });

  test("a deferral repeats the last interval for ever and uses up no attempt", () => {
    const delays = walk("INSUFFICIENT_BALANCE", false, 50);
    expect(delays.length).toBe(50);
    expect(delays.slice(6).every((delay) => delay === 900_000)).toBe(true);
    const verdict = judgeFailure({
      code: "NO_ROUTE",
      retryCount: 40,
      attemptsUsed: 3,
      valueInFlight: false,
    });
    expect(verdict).toEqual({ kind: "retry", retryCount: 41, attemptsUsed: 3, delayMs: 900_000 });
  });

  test("every code that is not retryable is dead at once", () => {
    const final = Object.entries(ERROR_CODES).filter(([, { retryable }]) => !retryable);
    expect(final.length).toBeGreaterThan(0);
    for (const [code] of final) {
      // CAST: keys of the table are error codes.
      expect(walk(code as ErrorCode, false, 10)).toEqual([]);
    }
  });

  test("T80 value in flight is never given up, whatever the code", () => {
    for (const code of Object.keys(ERROR_CODES)) {
      // CAST: keys of the table are error codes.
      expect(walk(code as ErrorCode, true, 30).length).toBe(30);
    }
  });
});
