import { describe, expect, test } from "vitest";
import { createStillClock } from "../../test/support/doubles.ts";
import { OperatingError } from "../core/errors.ts";
import { createBreaker } from "./breaker.ts";

const fails = async () => {
  throw new OperatingError("RPC_UNAVAILABLE", "The node did not answer.");
};
const declines = async () => {
  throw new OperatingError("AMOUNT_TOO_SMALL", "Too small.");
};
const answers = async () => "answer";

function open() {
  const clock = createStillClock();
  const heard: string[] = [];
  let asked = 0;
  const guard = createBreaker({
    clock,
    onPause: () => heard.push("paused"),
    onResume: () => heard.push("resumed"),
  });
  const ask = (how: () => Promise<unknown>) =>
    guard(() => {
      asked += 1;
      return how();
    }).catch((error: unknown) =>
      error instanceof OperatingError ? (error.details?.["reason"] ?? error.code) : String(error),
    );
  const askTimes = async (times: number, how: () => Promise<unknown>) => {
    for (let i = 0; i < times; i++) await ask(how);
  };
  return { clock, heard, ask, askTimes, asked: () => asked };
}

describe("a provider", () => {
  test("is paused for 30 seconds after five failures in a row", async () => {
    const { clock, heard, ask, askTimes, asked } = open();
    await askTimes(4, fails);
    expect(heard).toEqual([]);
    await ask(fails);
    expect(heard).toEqual(["paused"]);
    clock.advance(29_999);
    expect(await ask(answers)).toBe("provider_paused");
    expect(asked()).toBe(5);
  });

  test("is not paused when any answer, even a refusal, comes between failures", async () => {
    const { heard, askTimes } = open();
    for (const good of [answers, declines]) {
      await askTimes(4, fails);
      await askTimes(1, good);
    }
    await askTimes(20, declines);
    expect(heard).toEqual([]);
  });

  test("counts an unexpected exception as a failure", async () => {
    const { heard, askTimes } = open();
    await askTimes(5, async () => {
      throw new TypeError("no such thing");
    });
    expect(heard).toEqual(["paused"]);
  });

  test("gets one trial request after the pause, and is used again when it succeeds", async () => {
    const { clock, heard, ask, askTimes, asked } = open();
    await askTimes(5, fails);
    clock.advance(30_000);
    const { promise, resolve } = Promise.withResolvers<string>();
    const trial = ask(() => promise);
    expect(await ask(answers)).toBe("provider_paused");
    expect(asked()).toBe(6);
    resolve("late");
    expect(await trial).toBe("late");
    expect(heard).toEqual(["paused", "resumed"]);
    expect(await ask(answers)).toBe("answer");
  });

  test("is paused again when its trial fails, and is reported once", async () => {
    const { clock, heard, ask, askTimes } = open();
    await askTimes(5, fails);
    clock.advance(30_000);
    expect(await ask(fails)).toBe("RPC_UNAVAILABLE");
    expect(await ask(answers)).toBe("provider_paused");
    clock.advance(30_000);
    expect(await ask(answers)).toBe("answer");
    expect(heard).toEqual(["paused", "resumed"]);
  });

  test("is not judged by requests sent before its pause", async () => {
    const { ask, askTimes } = open();
    const { promise, resolve } = Promise.withResolvers<string>();
    const early = ask(() => promise);
    await askTimes(5, fails);
    resolve("early");
    expect(await early).toBe("early");
    expect(await ask(answers)).toBe("provider_paused");
  });
});
