import { describe, expect, test } from "vitest";
import { createStrictChain, hashOf } from "../../../../test/support/doubles.ts";
import { RECIPIENT, USDC } from "../../../../test/support/settlement-desk.ts";
import type { Lock } from "../../../chains/port/index.ts";
import { padAddress, toHex32 } from "../../../core/hex.ts";
import { findPayable } from "./find-payable.ts";

const USD = 10n ** 18n;
const WORD = toHex32(hashOf("block"));
const LOCK: Lock = {
  commitment: WORD,
  delivery: padAddress(RECIPIENT),
  token: USDC,
  amount: 1_000n,
  minOut: 990n,
  seq: 7n,
  lockedAt: 5_000n,
  state: "locked",
};
const PAID = { destChain: 30, token: USDC, amount: 999n };

/** A chain whose lock is in block 98; the final block is 90, of second 4,000. */
function openSource(change: {
  head?: bigint;
  safe?: bigint;
  final?: bigint;
  lock?: Lock;
  lacks?: bigint;
}) {
  const { head = 100n, safe = 95n, final = 90n, lock = LOCK, lacks } = change;
  return createStrictChain({
    chainId: 2,
    getHead: async () => ({ number: head, hash: WORD, parentHash: WORD }),
    getFinalBlock: async () => ({ number: final, hash: WORD }),
    getSafeBlock: async () => ({ number: safe, hash: WORD }),
    getBlock: async (number) =>
      number === lacks ? null : { number, hash: WORD, parentHash: WORD },
    getTime: async () => 4_000n,
    getLock: async (_facts, at) => {
      const number = at === "final" ? final : typeof at === "object" ? at.number : head;
      return number >= 98n ? lock : null;
    },
  });
}

function find(source: ReturnType<typeof openSource>, worth: bigint | null | "no rules") {
  const tiers = [
    { after: 3, upTo: 10n * USD },
    { after: 9, upTo: 50n * USD },
    { after: "safe" as const, upTo: 90n * USD },
  ];
  const terms = { exposure: 100n * USD, tiers, exceptions: [] };
  const rules = worth === "no rules" ? undefined : { terms, readWorth: async () => worth };
  return findPayable(source, LOCK, { hints: [], rules, paid: PAID });
}

describe("a lock", () => {
  test("in a final block is payable in the window of its own time, at no risk", async () => {
    const payable = { lock: LOCK, windowStart: 5_000n, worth: null, after: null };
    expect(await find(openSource({ final: 98n }), "no rules")).toEqual(payable);
    expect(await find(openSource({ final: 98n }), USD)).toEqual(payable);
  });

  test("that is not final is not payable without rules, or without a worth", async () => {
    expect(await find(openSource({}), "no rules")).toBeNull();
    expect(await find(openSource({}), null)).toBeNull();
    expect(await find(openSource({ safe: 98n }), 91n * USD)).toBeNull();
  });

  test("is payable deep enough for its tier, in a window that starts with a final block without it", async () => {
    expect(await find(openSource({}), USD)).toEqual({
      lock: LOCK,
      windowStart: 4_000n,
      worth: USD,
      after: 3,
    });
    expect(await find(openSource({ head: 99n }), USD)).toBeNull();
    expect(await find(openSource({}), 11n * USD)).toBeNull();
    expect((await find(openSource({ head: 106n }), 11n * USD))?.worth).toBe(11n * USD);
  });

  test("is payable in the safe block where its tier waits for that, if that is not final", async () => {
    expect(await find(openSource({}), 51n * USD)).toBeNull();
    expect(await find(openSource({ safe: 98n }), 51n * USD)).toMatchObject({ after: "safe" });
    expect(await find(openSource({ safe: 90n }), 51n * USD)).toBeNull();
  });

  test("is not payable early once it is given back, or where its block is not known", async () => {
    expect(await find(openSource({ lock: { ...LOCK, state: "returned" } }), USD)).toBeNull();
    expect(await find(openSource({ lacks: 98n }), USD)).toBeNull();
  });
});
