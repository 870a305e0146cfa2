/** The size of sections at the head: no block waits for a further poll, and hardly any is asked for before it exists. */
import { describe, expect, test } from "vitest";
import { createSectionSize } from "./section-size.ts";

const LIMITS = { blocksMin: 1, blocksMax: 64 };
/** Time of a poll, which is part of its interval. */
const READ_MS = 200;
/** Seconds of blocks that were left, from which the scanner reads on at once. */
const LATE_S = 1.2;

interface Chain {
  readonly blocksPerSecond: number;
  readonly pollMs: number;
  readonly seconds: number;
  /** Returns the head at a time, where it is not the pace alone. */
  readonly headAt?: (ms: number) => number;
  /** Time after which blocks and requests count. */
  readonly warmUpMs?: number;
}

/** Polls a chain, and returns the blocks found, the absent ones asked for, and the most that were left to the next poll. */
function follow({ blocksPerSecond, pollMs, seconds, headAt, warmUpMs = 60_000 }: Chain) {
  const size = createSectionSize(LIMITS);
  const head = headAt ?? ((ms: number) => Math.floor((ms / 1_000) * blocksPerSecond));
  let tip = 0;
  let isBehind = false;
  const seen = { found: 0, absent: 0, leftMost: 0, askedMost: 0 };
  for (let nowMs = 0; nowMs < seconds * 1_000; nowMs += isBehind ? READ_MS : pollMs) {
    const asked = size.next(BigInt(tip), nowMs);
    const found = Math.min(asked, head(nowMs) - tip);
    tip += found;
    const isFull = found === asked;
    isBehind = isFull && head(nowMs) - tip > LATE_S * blocksPerSecond;
    size.found({ found, isFull, isBehind, isOld: false, newest: BigInt(tip) });
    if (nowMs < warmUpMs) continue;
    seen.found += found;
    seen.absent += asked - found;
    seen.leftMost = Math.max(seen.leftMost, head(nowMs) - tip);
    seen.askedMost = Math.max(seen.askedMost, asked);
  }
  return seen;
}

describe.each([
  ["4 blocks/s, polled twice a second", 4, 500],
  ["2.2 blocks/s, polled twice a second", 1 / 0.45, 495],
  ["4 blocks/s", 4, 1_000],
  ["2.2 blocks/s", 1 / 0.45, 1_000],
  ["1 block/s", 1, 1_500],
])("%s", (_, blocksPerSecond, pollMs) => {
  test("at most half a second of blocks, or two of them, are left to the next poll", () => {
    const { leftMost } = follow({ blocksPerSecond, pollMs, seconds: 600 });
    expect(leftMost).toBeLessThanOrEqual(Math.max(2, blocksPerSecond / 2));
  });

  test("at most a tenth of the blocks are asked for before they exist", () => {
    const { found, absent } = follow({ blocksPerSecond, pollMs, seconds: 600 });
    expect(found).toBeGreaterThan(500);
    expect(absent / found).toBeLessThan(0.1);
  });
});

test("blocks at irregular intervals are not left to later polls, nor asked for much too early", () => {
  // Three blocks at once, then none for as long.
  const headAt = (ms: number) => 3 * Math.floor(ms / 750);
  const { found, absent, leftMost } = follow({
    blocksPerSecond: 4,
    pollMs: 1_000,
    seconds: 600,
    headAt,
  });
  expect(leftMost).toBeLessThanOrEqual(5);
  expect(absent / found).toBeLessThan(0.2);
});

test("a poll asks for one block while a slow chain has none", () => {
  const { askedMost } = follow({ blocksPerSecond: 1 / 12, pollMs: 4_000, seconds: 600 });
  expect(askedMost).toBe(1);
});

test("a poll asks for one block again a minute after the chain has halted", () => {
  const headAt = (ms: number) => Math.floor((Math.min(ms, 100_000) / 1_000) * 4);
  const { askedMost } = follow({
    blocksPerSecond: 4,
    pollMs: 1_000,
    seconds: 300,
    headAt,
    warmUpMs: 160_000,
  });
  expect(askedMost).toBe(1);
});

test("after a pause, a section has all blocks that the chain has produced meanwhile", () => {
  const size = createSectionSize(LIMITS);
  for (const second of [0, 10, 20]) {
    const newest = BigInt(2 * second);
    size.next(newest - 20n, second * 1_000);
    size.found({ found: 0, isFull: false, isBehind: false, isOld: false, newest });
  }
  expect(size.next(40n, 35_000)).toBe(30);
  expect(size.next(40n, 600_000)).toBe(LIMITS.blocksMax);
});

test("a poll that a notice starts asks for one block", () => {
  const size = createSectionSize(LIMITS);
  const asked: number[] = [];
  for (let block = 1; block < 15; block += 1) {
    asked.push(size.next(BigInt(block - 1), 250 * block + 40 * (block % 3)));
    size.found({ found: 1, isFull: true, isBehind: false, isOld: false, newest: BigInt(block) });
  }
  expect(new Set(asked)).toEqual(new Set([1]));
});

test("sections are halved with each failure, down to one block, and doubled with each success", () => {
  const size = createSectionSize(LIMITS);
  const most: number[] = [];
  for (let failures = 0; failures < 8; failures += 1) {
    size.failed();
    most.push(size.most());
  }
  expect(most).toEqual([32, 16, 8, 4, 2, 1, 1, 1]);
  const asked: number[] = [];
  for (let block = 1n; block < 9n; block += 1n) {
    asked.push(size.next(block, Number(block)));
    size.found({ found: 1, isFull: true, isBehind: true, isOld: false, newest: block });
  }
  expect(asked).toEqual([1, 2, 4, 8, 16, 32, 64, 64]);
});

test("after an outage, sections grow fourfold until they have all blocks that they may have", () => {
  const size = createSectionSize(LIMITS);
  const asked: number[] = [];
  for (let block = 1n; block < 6n; block += 1n) {
    asked.push(size.next(block, Number(block)));
    size.found({ found: 1, isFull: true, isBehind: true, isOld: true, newest: block });
  }
  expect(asked).toEqual([1, 4, 16, 64, 64]);
});
