/** Payouts that a thief of settler and attestor asks the signer of lanes for. */
import { describe, expect, test } from "vitest";
import { createStillClock, hashOf } from "../../test/support/doubles.ts";
import { hashCommitment } from "../chains/evm/commitment.ts";
import type { Lock, LockFacts } from "../chains/port/index.ts";
import { type Commitment, GOVERNED } from "../core/commitment.ts";
import { padAddress, toAddress, toEvmAddress, toHex32, toTxHash } from "../core/hex.ts";
import { createPayoutPolicy, type OrderedPayout, type PayoutPair } from "./payout-policy.ts";
import { SignerRefusal, SignerWaits } from "./refusal.ts";

const address = (byte: string) => toEvmAddress(`0x${byte.repeat(20)}`);
const word = (byte: string) => padAddress(address(byte));
const HINT = toTxHash(hashOf("lock"));
const WINDOW_S = 43_200n;

const commitment: Commitment = {
  integrator: toHex32(hashOf("integrator")),
  userId: word("01"),
  destChain: 30,
  destWallet: word("1e"),
  destToken: word("b0"),
  refundAuthority: word("02"),
  maxFeeBps: 50,
  maxSlippageBps: 100,
  ...GOVERNED,
};
const pair: PayoutPair = {
  srcChain: 2,
  escrow: word("e5"),
  token: address("a0"),
  srcToken: word("a0"),
  decimalsIn: 6,
  destChain: 30,
  destToken: commitment.destToken,
  paidToken: address("b0"),
  decimalsOut: 18,
  delivery: word("de"),
  isPriced: false,
};
const UNIT = 10n ** 18n;

function openPolicy(change: Partial<PayoutPair> = {}) {
  const clock = createStillClock();
  const nowS = BigInt(clock.now() / 1000);
  const facts: LockFacts = {
    commitment: hashCommitment(commitment),
    delivery: pair.delivery,
    token: address("a0"),
    amount: 1_000_000n,
    minOut: (UNIT * 995n) / 1000n,
    seq: 0n,
  };
  const lock: Lock = { ...facts, lockedAt: nowS - 60n, state: "locked" };
  const chain = { lock: lock as Lock | null, asked: [] as unknown[] };
  const check = createPayoutPolicy({
    pairs: [{ ...pair, ...change }],
    async readLock(...asked) {
      chain.asked.push(asked);
      return chain.lock;
    },
    payoutWindowS: WINDOW_S,
    clock,
  });
  const payout: OrderedPayout = {
    commitment,
    lock: { ...facts, srcChain: 2, escrow: address("e5") },
    windowStart: lock.lockedAt,
    amount: (UNIT * 999n) / 1000n,
  };
  const paying = (change: Partial<OrderedPayout["lock"]>) => ({
    ...payout,
    lock: { ...payout.lock, ...change },
  });
  return { check, payout, paying, lock, chain, nowS, clock };
}

describe("a payout", () => {
  test("is signed for a lock that the signer read itself, hints included [T121]", async () => {
    const { check, payout, lock, chain } = openPolicy();
    await check(payout, [HINT]);
    const paid = { destChain: 30, token: address("b0"), amount: payout.amount };
    expect(chain.asked).toEqual([[2, payout.lock, { hints: [HINT], paid }]]);
    await check({ ...payout, amount: lock.minOut }, []);
    await check({ ...payout, amount: UNIT }, []);
  });

  test("waits while there is no final lock [T111]", async () => {
    const { check, payout, chain } = openPolicy();
    chain.lock = null;
    await expect(check(payout, [])).rejects.toBeInstanceOf(SignerWaits);
  });

  test("is refused above the value of the lock, and below its minimum [T111]", async () => {
    const { check, payout, lock } = openPolicy();
    for (const amount of [UNIT + 1n, 1_000_000n * UNIT, lock.minOut - 1n, 1n]) {
      await expect(check({ ...payout, amount }, [])).rejects.toThrow(/payout \d+, expected/);
    }
  });

  test("of a priced pair is at most the value that the lock's minimum states [T111]", async () => {
    const { check, payout, lock } = openPolicy({ isPriced: true });
    // The caps leave 98.5 % of the fair value.
    const fair = (lock.minOut * 10_000n) / 9_850n;
    await check({ ...payout, amount: fair }, []);
    await expect(check({ ...payout, amount: fair + 1n }, [])).rejects.toThrow(/expected/);
  });

  test("is refused for a lock of another delivery contract, without a read [T111]", async () => {
    const { check, paying, chain } = openPolicy();
    await expect(check(paying({ delivery: word("ad") }), [])).rejects.toThrow(
      /another destination/,
    );
    expect(chain.asked).toEqual([]);
  });

  test("reads the lock in the form of its chain, when the order pads its addresses", async () => {
    const { check, payout, paying, chain } = openPolicy();
    const [escrow, token] = [toAddress(word("e5")), toAddress(word("a0"))];
    await check(paying({ escrow, token }), []);
    const paid = {
      destChain: 30,
      token: toEvmAddress(`0x${"b0".repeat(20)}`),
      amount: payout.amount,
    };
    expect(chain.asked).toEqual([[2, { ...payout.lock, escrow }, { hints: [], paid }]]);
  });

  test.each<[string, Partial<OrderedPayout["lock"]>]>([
    ["another escrow", { escrow: address("ad") }],
    ["another token", { token: address("ad") }],
    ["another source", { srcChain: 24 }],
  ])("is refused for %s than configured, without a read [T111]", async (_, change) => {
    const { check, paying, chain } = openPolicy();
    await expect(check(paying(change), [])).rejects.toThrow(/not configured/);
    expect(chain.asked).toEqual([]);
  });

  test("is refused for another token there than configured, without a read [T111]", async () => {
    const { check, payout, chain } = openPolicy();
    const other = { ...commitment, destToken: word("ad") };
    await expect(check({ ...payout, commitment: other }, [])).rejects.toThrow(/not configured/);
    expect(chain.asked).toEqual([]);
  });

  test.each(["returned", "taken_back"] as const)(
    "is refused for a %s lock [T111]",
    async (state) => {
      const { check, payout, chain, lock } = openPolicy();
      chain.lock = { ...lock, state };
      await expect(check(payout, [])).rejects.toBeInstanceOf(SignerRefusal);
    },
  );

  test("is refused for a window that starts after the lock, which a return does not wait for [T241]", async () => {
    const { check, payout, lock } = openPolicy();
    await check({ ...payout, windowStart: lock.lockedAt - 1n }, []);
    const late = { ...payout, windowStart: lock.lockedAt + 1n };
    await expect(check(late, [])).rejects.toThrow(/payout window from \d+, lock made at \d+/);
  });

  test("is signed for a claimed lock, which the destination pays once", async () => {
    const { check, payout, chain, lock } = openPolicy();
    chain.lock = { ...lock, state: "claimed" };
    await check(payout, []);
    expect(chain.asked).toHaveLength(1);
  });

  test("that expired does not block its lane for more than an hour", async () => {
    const { check, payout, chain, lock, nowS } = openPolicy();
    chain.lock = { ...lock, state: "returned" };
    const expired = { ...payout, windowStart: nowS - WINDOW_S - 1n };
    await expect(check(expired, [])).rejects.toBeInstanceOf(SignerWaits);
    // The contract refuses it by then, whatever the clocks.
    await check({ ...payout, windowStart: nowS - WINDOW_S - 3_601n }, []);
  });
});
