import { describe, expect, test } from "vitest";
import { OperatingError } from "../../core/errors.ts";
import { toHex32 } from "../../core/hex.ts";
import type { BlockAnswer } from "./block-answer.ts";
import type { Quorum } from "./quorum.ts";
import { createSender, type SenderOptions } from "./sender.ts";

const HASH = toHex32(`0x${"ab".repeat(32)}`);
const START_S = 1_700_000_000n;

/** A halt of the chain after a height, in seconds, and the slots per block. */
interface Course {
  readonly blocks: number;
  readonly stillAfter?: { readonly height: number; readonly seconds: bigint };
  readonly slotsEach?: number;
}

/** Creates a chain with one block per second from height 1. */
function blocksOf({ blocks, stillAfter, slotsEach = 1 }: Course): BlockAnswer[] {
  return Array.from({ length: blocks }, (_, index) => {
    const height = index + 1;
    const stood = stillAfter && height > stillAfter.height ? stillAfter.seconds : 0n;
    return {
      slot: BigInt(height * slotsEach),
      parentSlot: BigInt((height - 1) * slotsEach),
      hash: HASH,
      parentHash: HASH,
      height: BigInt(height),
      time: START_S + BigInt(height) + stood,
      count: 0,
      transactions: [],
    };
  });
}

function isOrderOver(course: Course, deadline: bigint): Promise<boolean> {
  const blocks = blocksOf(course);
  const quorum: Partial<Quorum> = {
    getFinalSlot: async () => blocks.at(-1)?.slot ?? 0n,
    findBlock: async (slot) => blocks.find((block) => block.slot === slot) ?? null,
    readBlockAfter: async (slot) => blocks.find((block) => block.slot > slot) ?? null,
    unavailable: (reason) => new OperatingError("RPC_UNAVAILABLE", reason),
  };
  // CAST: of both nothing else is asked here.
  return createSender(quorum as Quorum, {} as SenderOptions).isOrderOver(deadline);
}

describe("an order past its deadline", () => {
  const stillAfter = { height: 1_000, seconds: 20_000n };
  const deadline = START_S + 1_010n;

  test.each([1, 2, 7])(
    "is not over while a signature from before a halt of the cluster is valid, %i slots per block",
    async (slotsEach) => {
      const after = (blocks: number) =>
        isOrderOver({ blocks: 1_000 + blocks, stillAfter, slotsEach }, deadline);
      expect(await after(0)).toBe(false);
      expect(await after(1)).toBe(false);
      expect(await after(150)).toBe(false);
      expect(await after(151)).toBe(true);
    },
  );

  test("is over once 150 blocks follow the first one later than the deadline plus the clock grace", async () => {
    const at = (blocks: number) => isOrderOver({ blocks }, START_S + 100n);
    expect(await at(700 + 150)).toBe(false);
    expect(await at(701 + 150)).toBe(true);
  });

  test("is not over on a chain with too few blocks", async () => {
    expect(await isOrderOver({ blocks: 150 }, START_S - 10_000n)).toBe(false);
    expect(await isOrderOver({ blocks: 151 }, START_S - 10_000n)).toBe(true);
  });
});
