/** The pace of polls where nodes announce new blocks, in a time that the tests set. */
import { describe, expect, test } from "vitest";
import { createHeadPacing } from "./head-pacing.ts";

function open(intervalMs = 1_000) {
  let nowMs = 1_000_000;
  let wakes = 0;
  const clock = { now: () => nowMs, sleep: async () => undefined };
  const pacing = createHeadPacing({
    clock,
    intervalMs,
    wake: () => {
      wakes += 1;
    },
  });
  return {
    pacing,
    pass(ms: number) {
      nowMs += ms;
    },
    takeWakes() {
      const count = wakes;
      wakes = 0;
      return count;
    },
    /** Polls, and finds the block of a height unless it is null. */
    find: (height: bigint | null) =>
      pacing.poll(async () => {
        if (height !== null) pacing.scanned(height);
        return false;
      }),
  };
}

describe("the interval", () => {
  test("counts from the start of a poll, so that a new block does not wait for its reads too", async () => {
    const { pacing, pass } = open();
    const takes = (ms: number) =>
      pacing.poll(async () => {
        pass(ms);
        return false;
      });
    await takes(300);
    expect(pacing.pauseMs()).toBe(700);
    await takes(2_500);
    expect(pacing.pauseMs()).toBe(0);
  });

  test("passes as a whole after a poll that failed", async () => {
    const { pacing, pass } = open();
    const failing = pacing.poll(async () => {
      pass(300);
      throw new Error("no answer");
    });
    await expect(failing).rejects.toThrow("no answer");
    expect(pacing.pauseMs()).toBe(1_000);
  });
});

describe("a notice", () => {
  test("starts a poll at once if it announces a block above the scanned ones", async () => {
    const { pacing, find, takeWakes } = open();
    pacing.announce(5n);
    expect(takeWakes()).toBe(1);
    await find(5n);
    // The other nodes announce the same block later, and one of them is behind.
    pacing.announce(5n);
    pacing.announce(4n);
    expect(takeWakes()).toBe(0);
    pacing.announce(6n);
    expect(takeWakes()).toBe(1);
  });

  test("during a poll starts the next one only if that poll did not find its block", async () => {
    const { pacing, takeWakes } = open();
    await pacing.poll(async () => {
      pacing.announce(5n);
      pacing.scanned(5n);
      return false;
    });
    expect(pacing.pauseMs()).toBe(1_000);
    await pacing.poll(async () => {
      pacing.announce(7n);
      pacing.scanned(6n);
      return false;
    });
    expect(pacing.pauseMs()).toBe(0);
    expect(takeWakes()).toBe(0);
  });

  test("of a block that no node serves yet leads to polls after 0.1 s, doubling up to the interval", async () => {
    const { pacing, pass, find } = open();
    pacing.announce(5n);
    const pauses: number[] = [];
    for (let polls = 0; polls < 7; polls++) {
      await find(null);
      pauses.push(pacing.pauseMs());
      pass(pacing.pauseMs());
    }
    expect(pauses).toEqual([100, 200, 400, 800, 1_000, 1_000, 1_000]);
  });

  test("of blocks that never come does not start polls more often than the interval", async () => {
    const { pacing, pass, find, takeWakes } = open();
    let polls = 0;
    for (let elapsedMs = 0; elapsedMs < 60_000; elapsedMs += 10) {
      pacing.announce(10n ** 18n);
      if (takeWakes() > 0) {
        polls += 1;
        await find(null);
      }
      pass(10);
    }
    // One per second, and four during the first.
    expect(polls).toBeLessThanOrEqual(65);
    expect(pacing.pauseMs()).toBeLessThanOrEqual(1_000);
  });

  test("starts polls at once again after a block was found", async () => {
    const { pacing, find, takeWakes } = open();
    pacing.announce(9n);
    await find(null);
    await find(null);
    await find(5n);
    pacing.announce(6n);
    expect(takeWakes()).toBe(2);
  });
});

describe("the pause", () => {
  test("is the interval while nothing is connected", async () => {
    const { pacing, find } = open();
    expect(pacing.pauseMs()).toBe(1_000);
    await find(5n);
    expect(pacing.pauseMs()).toBe(1_000);
  });

  test.each([
    [1_000, 4_000],
    [20_000, 60_000],
    [60_000, 60_000],
  ])(
    "of %d ms is %d ms while blocks are announced before they are found",
    async (ms, stretched) => {
      const { pacing, find } = open(ms);
      pacing.connected();
      expect(pacing.pauseMs()).toBe(ms);
      pacing.announce(5n);
      await find(5n);
      expect(pacing.pauseMs()).toBe(stretched);
      // A poll finds a block of which no notice came: the socket is silent.
      await find(6n);
      expect(pacing.pauseMs()).toBe(ms);
    },
  );

  test("ends when the last connection does, and is the interval again", async () => {
    const { pacing, find, takeWakes } = open();
    pacing.connected();
    pacing.connected();
    pacing.announce(5n);
    await find(5n);
    takeWakes();
    pacing.disconnected();
    expect(takeWakes()).toBe(0);
    expect(pacing.pauseMs()).toBe(4_000);
    pacing.disconnected();
    expect(takeWakes()).toBe(1);
    expect(pacing.pauseMs()).toBe(1_000);
  });

  test("ends when a connection begins, since blocks may have been missed", () => {
    const { pacing, takeWakes } = open();
    pacing.connected();
    expect(takeWakes()).toBe(1);
  });

  test("is decided after a poll that failed like after one that found nothing", async () => {
    const { pacing } = open();
    pacing.announce(5n);
    await expect(pacing.poll(async () => Promise.reject(new Error("down")))).rejects.toThrow(
      "down",
    );
    expect(pacing.pauseMs()).toBe(100);
  });
});
