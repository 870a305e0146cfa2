import { describe, expect, test } from "vitest";
import { type EventState, isSequence } from "./sequence.ts";
import { SCENARIOS } from "./table.ts";

const queued: EventState = { type: "deposit_detected", state: "queued", error: null };
const status = (state: string, error: string | null = null): EventState => ({
  type: "status_changed",
  state,
  error,
});
const settled = [status("swapping"), status("completed")];

describe("isSequence", () => {
  test("accepts a sweep that was planned before the orphaning was seen", () => {
    const failed = status("failed_swap", "REORG");
    const before = [queued, status("swapping"), status("failed_swap", "TX_REVERTED"), failed];
    const { events } = SCENARIOS["deposit-reorged"];
    expect(isSequence(events, [...before, status("dead", "REORG")])).toBe(true);
    expect(isSequence(events, [...before, status("completed")])).toBe(false);
    const delayed = SCENARIOS["deposit-delayed"].events;
    expect(isSequence(delayed, [...before, queued, ...settled])).toBe(true);
  });

  const { events } = SCENARIOS["bridge-stuck"];

  test.each([
    ["without a deployment", [queued, settled[0], status("failed_swap", "RPC_UNAVAILABLE")]],
    [
      "with a deployment and two failures",
      [
        queued,
        status("deploying"),
        status("pending_swap"),
        settled[0],
        status("failed_swap", "RPC_UNAVAILABLE"),
        status("failed_swap", "RPC_UNAVAILABLE"),
        status("swapping"),
      ],
    ],
  ])("accepts the sequence %s", (_, before) => {
    expect(isSequence(events, [...(before as EventState[]), status("completed")])).toBe(true);
  });

  test.each([
    ["an event is missing", settled],
    ["it is not complete", [queued, status("swapping")]],
    ["a repeated event is missing", [queued, ...settled]],
    [
      "the error is another",
      [queued, status("swapping"), status("failed_swap", "INTERNAL"), status("completed")],
    ],
    [
      "an event follows the last one",
      [
        queued,
        status("swapping"),
        status("failed_swap", "RPC_UNAVAILABLE"),
        status("completed"),
        queued,
      ],
    ],
  ])("refuses a sequence if %s", (_, played) => {
    expect(isSequence(events, played)).toBe(false);
  });
});
