import vectors from "@sluice/contracts/vectors" with { type: "json" };
import { describe, expect, test } from "vitest";
import { GOVERNED } from "../../core/commitment.ts";
import { padAddress, toAddress, toEvmAddress, toHex32 } from "../../core/hex.ts";
import {
  deliveryIdOf,
  deliveryIdOfPayout,
  hashCommitment,
  implementationOf,
  predictWallet,
} from "./commitment.ts";

describe("derivation matches the vectors", () => {
  test.each(vectors.factories)("implementation of the factory $factory", (vector) => {
    expect(implementationOf(toEvmAddress(vector.factory))).toBe(vector.implementation);
  });

  test.each(vectors.wallets)("wallet and hash of $name", (vector) => {
    const { integrator, userId, destWallet, destToken, refundAuthority, routes, ...numbers } =
      vector.commitment;
    const commitment = {
      ...numbers,
      integrator: toHex32(integrator),
      userId: toHex32(userId),
      destWallet: toHex32(destWallet),
      destToken: toHex32(destToken),
      refundAuthority: toHex32(refundAuthority),
      routes: toHex32(routes),
    };
    expect(hashCommitment(commitment)).toBe(vector.hash);
    expect(predictWallet(toEvmAddress(vector.factory), commitment)).toBe(vector.wallet);
  });

  test.each(vectors.deliveries)("delivery id of $name", (vector) => {
    const { srcChain, escrow, delivery, commitment, token } = vector;
    const places = { escrow: toAddress(escrow), token: toAddress(token) };
    const words = { delivery: toHex32(delivery), commitment: toHex32(commitment) };
    const [amount, minOut] = [BigInt(vector.amount), BigInt(vector.minOut)];
    const lock = { srcChain, ...places, ...words, amount, minOut, seq: BigInt(vector.seq) };
    expect(deliveryIdOf(lock)).toBe(vector.deliveryId);
  });
});

test.each([-1, 65_536, 1.5])(
  "refuses a chain id of %d instead of truncating it to 16 bits",
  (destChain) => {
    const zero = toHex32(`0x${"0".repeat(64)}`);
    const commitment = {
      integrator: zero,
      userId: zero,
      destChain,
      destWallet: zero,
      destToken: zero,
      refundAuthority: zero,
      maxFeeBps: 0,
      maxSlippageBps: 0,
      ...GOVERNED,
    };
    expect(() => hashCommitment(commitment)).toThrow(/range|integer|BigInt/i);
  },
);

test("a payout has the id of its whole lock, for any amount and window", () => {
  const word = (digit: string) => toHex32(`0x${digit.repeat(64)}`);
  const address = (digit: string) => toEvmAddress(`0x${digit.repeat(40)}`);
  const commitment = {
    integrator: word("1"),
    userId: word("2"),
    destChain: 30,
    destWallet: word("3"),
    destToken: word("4"),
    refundAuthority: word("5"),
    maxFeeBps: 50,
    maxSlippageBps: 100,
    ...GOVERNED,
  };
  const [delivery, escrow, srcToken] = [address("a"), address("b"), address("c")];
  const order = {
    commitment,
    srcChain: 2,
    escrow,
    srcToken,
    lockedAmount: 9n,
    minOut: 8n,
    seq: 7n,
    windowStart: 6n,
    amount: 8n,
  };
  const lock = {
    srcChain: 2,
    escrow,
    delivery: padAddress(delivery),
    commitment: hashCommitment(commitment),
    token: srcToken,
    amount: 9n,
    minOut: 8n,
    seq: 7n,
  };
  const id = deliveryIdOf(lock);
  expect(deliveryIdOfPayout(delivery, order)).toBe(id);
  expect(deliveryIdOfPayout(delivery, { ...order, amount: 9n })).toBe(id);
  expect(deliveryIdOfPayout(delivery, { ...order, windowStart: 1n })).toBe(id);
  expect(deliveryIdOfPayout(address("d"), order)).not.toBe(id);
  for (const change of [{ lockedAmount: 1n }, { minOut: 1n }, { seq: 1n }]) {
    expect(deliveryIdOfPayout(delivery, { ...order, ...change })).not.toBe(id);
  }
});
