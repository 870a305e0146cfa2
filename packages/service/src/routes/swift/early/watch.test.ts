import { expect, test } from "vitest";
import { createStrictChain, hashOf, silentLog } from "../../../../test/support/doubles.ts";
import { RECIPIENT, USDC } from "../../../../test/support/settlement-desk.ts";
import { padAddress, toHex32 } from "../../../core/hex.ts";
import type { Hex32 } from "../../../core/hex.ts";
import type { CountedPayout } from "../../../signers/port.ts";
import { watchEarly } from "./watch.ts";

const WORD = toHex32(hashOf("word"));
const SIGNED: CountedPayout = {
  deliveryId: toHex32(hashOf("a delivery")),
  srcChain: 2,
  destChain: 30,
  escrow: RECIPIENT,
  lock: {
    commitment: WORD,
    delivery: padAddress(RECIPIENT),
    token: USDC,
    amount: 1_000n,
    minOut: 990n,
    seq: 7n,
  },
  worth: 1n,
  deadline: 5_000n,
  signedAtMs: 1_000_000,
};

function openWatch() {
  const state = {
    counted: [SIGNED],
    isLocked: false,
    isDelivered: false,
    isOver: false,
    finalS: 1_000n,
  };
  const covered: Hex32[] = [];
  const count = {
    list: async () => state.counted,
    cover: async (id: Hex32) => {
      covered.push(id);
      state.counted = state.counted.filter(({ deliveryId }) => deliveryId !== id);
    },
  };
  const source = createStrictChain({
    chainId: 2,
    getFinalBlock: async () => ({ number: 90n, hash: WORD }),
    getTime: async () => state.finalS,
    // CAST: the watch only asks whether there is a lock.
    getLock: async () => (state.isLocked ? ({ state: "locked" } as never) : null),
  });
  const destination = createStrictChain({
    chainId: 30,
    isOrderOver: async () => state.isOver,
    isDelivered: async () => state.isDelivered,
  });
  const chains = new Map([
    [2, source],
    [30, destination],
  ]);
  return { state, covered, watch: watchEarly(count, { chains, log: silentLog }), chains };
}

test("nothing is signed early before the first look [T273]", async () => {
  const { watch } = openWatch();
  expect(watch.isClosed(2)).toBe(true);
  await watch.poll();
  expect(watch.isClosed(2)).toBe(false);
});

test("a payout is covered once its lock is final [T272]", async () => {
  const { state, covered, watch } = openWatch();
  state.isDelivered = true;
  await watch.poll();
  expect(covered).toEqual([]);
  state.isLocked = true;
  await watch.poll();
  expect(covered).toEqual([SIGNED.deliveryId]);
});

test("a payout is covered once it can no longer be made [T272]", async () => {
  const { state, covered, watch } = openWatch();
  state.isOver = true;
  state.isDelivered = true;
  await watch.poll();
  expect(covered).toEqual([]);
  state.isDelivered = false;
  await watch.poll();
  expect(covered).toEqual([SIGNED.deliveryId]);
});

test("a lock that is missing closes its chain until it comes back, and stays counted [T272, T273]", async () => {
  const { state, covered, watch } = openWatch();
  state.finalS = 1_601n;
  await watch.poll();
  // Not paid: nothing is lost yet.
  expect(watch.isClosed(2)).toBe(false);
  state.isDelivered = true;
  state.finalS = 1_600n;
  await watch.poll();
  expect(watch.isClosed(2)).toBe(false);
  state.finalS = 1_601n;
  await watch.poll();
  expect([watch.isClosed(2), watch.isClosed(30)]).toEqual([true, false]);
  expect(covered).toEqual([]);
  state.isLocked = true;
  await watch.poll();
  expect([watch.isClosed(2), covered]).toEqual([false, [SIGNED.deliveryId]]);
});
