import { ERROR_CODES, type ErrorCode } from "@sluice/sdk/wire";
import { describe, expect, test } from "vitest";
import { RETRY_SCHEDULE_MS } from "../jobs/delays.ts";
import { TRIES_MAX, judgeFailure } from "./retry.ts";

/** Fails with one code until the settlement is dead, at most `times` times; returns the delays. */
function walk(code: ErrorCode, valueInFlight: boolean, times: number): number[] {
  const delays: number[] = [];
  let state = { retryCount: 0, triesUsed: 0 };
  for (let i = 0; i < times; i++) {
    const verdict = judgeFailure({ code, valueInFlight, ...state });
    if (verdict.kind === "give_up") return delays;
    delays.push(verdict.delayMs);
    state = verdict;
  }
  return delays;
}

const DEFERRED: readonly ErrorCode[] = [
  "INSUFFICIENT_BALANCE",
  "RPC_UNAVAILABLE",
  "PRICE_UNAVAILABLE",
  "CONFIG_MISSING",
  "NO_ROUTE",
  "FEE_NOT_COVERED",
  "AMOUNT_TOO_SMALL",
  "REORG",
];
const ATTEMPTED: readonly ErrorCode[] = [
  "TX_REVERTED",
  "SIMULATION_REVERTED",
  "QUOTE_INVALID",
  "INTERNAL",
  // A retryable code that names no cause outside the settlement.
  "RESOLVE_FAILED",
];

describe("retries", () => {
  test("are scheduled after 5, 15, 30 and 45 seconds and 1, 5 and 15 minutes [T77]", () => {
    expect(RETRY_SCHEDULE_MS.map((ms) => ms / 1000)).toEqual([5, 15, 30, 45, 60, 300, 900]);
    expect(TRIES_MAX).toBe(7);
  });

  test("follow the decided class of each code: deferral, try, or dead at once", () => {
    for (const code of Object.keys(ERROR_CODES)) {
      // CAST: keys of the table are error codes.
      const length = walk(code as ErrorCode, false, 100).length;
      const isIn = (codes: readonly string[]) => codes.includes(code);
      expect([code, length]).toEqual([
        code,
        isIn(DEFERRED) ? 100 : isIn(ATTEMPTED) ? TRIES_MAX - 1 : 0,
      ]);
    }
  });

  test("count tries separately from the deferrals between them", () => {
    let state = { retryCount: 0, triesUsed: 0 };
    const kinds: string[] = [];
    for (let i = 0; i < 14; i++) {
      const code = i % 2 === 0 ? "RPC_UNAVAILABLE" : "TX_REVERTED";
      const verdict = judgeFailure({ code, valueInFlight: false, ...state });
      kinds.push(verdict.kind);
      state = verdict;
    }
    expect(kinds).toEqual([...Array(13).fill("retry"), "give_up"]);
    expect(state).toMatchObject({ retryCount: 14, triesUsed: 7 });
  });

  test("follow the published schedule and end as dead at the seventh try", () => {
    expect(walk("TX_REVERTED", false, 100)).toEqual(RETRY_SCHEDULE_MS.slice(0, TRIES_MAX - 1));
  });

  test("repeat the last interval indefinitely after a deferral, without using up a try", () => {
    const delays = walk("INSUFFICIENT_BALANCE", false, 50);
    expect(delays.length).toBe(50);
    expect(delays.slice(6).every((delay) => delay === 900_000)).toBe(true);
    const verdict = judgeFailure({
      code: "NO_ROUTE",
      retryCount: 40,
      triesUsed: 3,
      valueInFlight: false,
    });
    const delayMs = 900_000;
    expect(verdict).toEqual({
      kind: "retry",
      deferred: true,
      retryCount: 41,
      triesUsed: 3,
      delayMs,
    });
  });

  test("end as dead at once after every code that is not retryable", () => {
    const final = Object.entries(ERROR_CODES).filter(([, { retryable }]) => !retryable);
    expect(final.length).toBeGreaterThan(0);
    for (const [code] of final) {
      // CAST: keys of the table are error codes.
      expect(walk(code as ErrorCode, false, 10)).toEqual([]);
    }
  });

  test("never end as dead with value in flight, for any code [T80]", () => {
    for (const code of Object.keys(ERROR_CODES)) {
      // CAST: keys of the table are error codes.
      expect(walk(code as ErrorCode, true, 30).length).toBe(30);
    }
  });
});
