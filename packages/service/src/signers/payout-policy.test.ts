/** Payouts that a thief of settler and attestor asks the signer of lanes for. */
import { describe, expect, test } from "vitest";
import { createStillClock, hashOf } from "../../test/support/doubles.ts";
import { deliveryIdOf, hashCommitment } from "../chains/evm/commitment.ts";
import type { Lock } from "../chains/port/index.ts";
import type { Commitment } from "../core/commitment.ts";
import { padAddress, toEvmAddress, toHex32, toTxHash } from "../core/hex.ts";
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
};
const pair: PayoutPair = {
  srcChain: 2,
  escrow: word("e5"),
  srcToken: word("a0"),
  decimalsIn: 6,
  destChain: 30,
  destToken: commitment.destToken,
  decimalsOut: 18,
  delivery: word("de"),
  isPriced: false,
};
const UNIT = 10n ** 18n;

function openPolicy(change: Partial<PayoutPair> = {}) {
  const clock = createStillClock();
  const nowS = BigInt(clock.now() / 1000);
  const deliveryId = deliveryIdOf({
    srcChain: 2,
    escrow: pair.escrow,
    wallet: word("3a"),
    token: pair.srcToken,
    seq: 0n,
  });
  const lock: Lock = {
    state: "locked",
    wallet: address("3a"),
    commitment: hashCommitment(commitment),
    token: address("a0"),
    amount: 1_000_000n,
    minOut: (UNIT * 995n) / 1000n,
    seq: 0n,
    destChain: 30,
    delivery: pair.delivery,
    lockedAt: nowS - 60n,
  };
  const chain = { lock: lock as Lock | null, asked: [] as unknown[] };
  const check = createPayoutPolicy({
    pairs: [{ ...pair, ...change }],
    async readLock(...asked) {
      chain.asked.push(asked);
      return chain.lock;
    },
    hashCommitment,
    payoutWindowS: WINDOW_S,
    clock,
  });
  const payout: OrderedPayout = {
    deliveryId,
    commitment,
    srcChain: 2,
    escrow: pair.escrow,
    srcToken: pair.srcToken,
    amount: (UNIT * 999n) / 1000n,
    deadline: nowS + 3_600n,
  };
  return { check, payout, lock, chain, nowS, clock };
}

describe("a payout", () => {
  test("is signed for a lock that the signer read itself, hints included [T121]", async () => {
    const { check, payout, lock, chain } = openPolicy();
    await check(payout, [HINT]);
    expect(chain.asked).toEqual([[2, payout.deliveryId, [HINT]]]);
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
    const fair = ((lock.minOut + 1n) * 10_000n - 1n) / 9_850n;
    await check({ ...payout, amount: fair }, []);
    await expect(check({ ...payout, amount: fair + 1n }, [])).rejects.toThrow(/expected/);
  });

  test.each<[string, Partial<Lock>]>([
    ["another commitment", { commitment: toHex32(hashOf("other")) }],
    ["another chain", { destChain: 24 }],
    ["another delivery contract", { delivery: word("ad") }],
  ])("is refused for a lock of %s [T111]", async (_, change) => {
    const { check, payout, chain, lock } = openPolicy();
    chain.lock = { ...lock, ...change };
    await expect(check(payout, [])).rejects.toThrow(/another destination/);
  });

  test.each<[string, Partial<OrderedPayout>]>([
    ["another escrow", { escrow: word("ad") }],
    ["another token", { srcToken: word("ad") }],
    ["another source", { srcChain: 24 }],
    ["another token there", { commitment: { ...commitment, destToken: word("ad") } }],
  ])("is refused for %s than configured, without a read [T111]", async (_, change) => {
    const { check, payout, chain } = openPolicy();
    await expect(check({ ...payout, ...change }, [])).rejects.toThrow(/not configured/);
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

  test("is signed for a claimed lock, which the destination pays once", async () => {
    const { check, payout, chain, lock } = openPolicy();
    chain.lock = { ...lock, state: "claimed" };
    await check(payout, []);
    expect(chain.asked).toHaveLength(1);
  });

  test("is refused with a deadline after the window, when the lock may be taken back [T111]", async () => {
    const { check, payout, lock } = openPolicy();
    await check({ ...payout, deadline: lock.lockedAt + WINDOW_S }, []);
    await expect(check({ ...payout, deadline: lock.lockedAt + WINDOW_S + 1n }, [])).rejects.toThrow(
      /payout window/,
    );
  });

  test("that expired does not block its lane for more than an hour", async () => {
    const { check, payout, chain, lock, nowS } = openPolicy();
    chain.lock = { ...lock, state: "returned" };
    const expired = { ...payout, deadline: nowS - 1n };
    await expect(check(expired, [])).rejects.toBeInstanceOf(SignerWaits);
    // The contract refuses it by then, whatever the clocks.
    await check({ ...payout, deadline: nowS - 3_601n }, []);
  });
});
