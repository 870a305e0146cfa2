import { expect, test } from "vitest";
import { silentLog } from "../../test/support/doubles.ts";
import type { Clock } from "../core/ports.ts";
import { systemClock } from "../roles/system-ports.ts";
import { SERVER_LIMITS } from "./app.ts";
import { ANSWER_DEADLINE_MS, answerInTime } from "./deadline.ts";

/** A clock whose waits end when the test ends them, or when they are aborted. */
function createHeldClock() {
  const asked: number[] = [];
  const over = Promise.withResolvers<void>();
  const clock: Clock = {
    now: () => 0,
    sleep(ms, signal) {
      asked.push(ms);
      signal?.addEventListener("abort", () => over.resolve());
      return over.promise;
    },
  };
  return { clock, asked, expire: () => over.resolve() };
}

test("returns the result of work that finishes in time, and ends the wait", async () => {
  const work = Promise.resolve(7);
  expect(
    await answerInTime(
      { clock: systemClock, log: silentLog },
      { elapsedMs: 0, requestId: "r" },
      work,
    ),
  ).toBe(7);
  const failed = Promise.reject(new Error("on its own account"));
  const deps = { clock: createHeldClock().clock, log: silentLog };
  await expect(answerInTime(deps, { elapsedMs: 0, requestId: "r" }, failed)).rejects.toThrow(
    "on its own account",
  );
});

test("reports a node timeout for late work, before the connection is closed", async () => {
  const { clock, asked, expire } = createHeldClock();
  const work = Promise.withResolvers<never>();
  const answer = answerInTime(
    { clock, log: silentLog },
    { elapsedMs: 5_000, requestId: "r" },
    work.promise,
  );
  expire();
  await expect(answer).rejects.toMatchObject({
    code: "RPC_UNAVAILABLE",
    retryable: true,
    details: { reason: "timeout" },
  });
  // The time of admission counts against the deadline.
  expect(asked).toEqual([ANSWER_DEADLINE_MS - 5_000]);
  expect(ANSWER_DEADLINE_MS).toBeLessThan(SERVER_LIMITS.connectionTimeout);
  // No caller awaits it any more; its rejection must not end the process.
  work.reject(new Error("later"));
});
