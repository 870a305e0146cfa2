import vectors from "@sluice/contracts/vectors" with { type: "json" };
import { describe, expect, test } from "vitest";
import { padAddress, toEvmAddress, toHex32 } from "../../core/hex.ts";
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
    const { integrator, userId, destWallet, destToken, refundAuthority, ...numbers } =
      vector.commitment;
    const commitment = {
      ...numbers,
      integrator: toHex32(integrator),
      userId: toHex32(userId),
      destWallet: toHex32(destWallet),
      destToken: toHex32(destToken),
      refundAuthority: toHex32(refundAuthority),
    };
    expect(hashCommitment(commitment)).toBe(vector.hash);
    expect(predictWallet(toEvmAddress(vector.factory), commitment)).toBe(vector.wallet);
  });

  test.each(vectors.deliveries)("delivery id of $name", (vector) => {
    const { srcChain, escrow, wallet, token, seq } = vector;
    const words = {
      escrow: toHex32(escrow),
      wallet: toHex32(wallet),
      token: toHex32(token),
    };
    expect(deliveryIdOf({ srcChain, ...words, seq: BigInt(seq) })).toBe(vector.deliveryId);
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
    };
    expect(() => hashCommitment(commitment)).toThrow(/range|integer|BigInt/i);
  },
);

test("a payout has the id of its lock in the wallet derived from its commitment", () => {
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
  };
  const [factory, escrow, srcToken] = [address("a"), address("b"), address("c")];
  const order = {
    commitment,
    srcChain: 2,
    escrow,
    srcToken,
    seq: 7n,
    amount: 1n,
    deadline: 1n,
  };
  const lock = {
    srcChain: 2,
    escrow: padAddress(escrow),
    wallet: padAddress(predictWallet(factory, commitment)),
    token: padAddress(srcToken),
    seq: 7n,
  };
  expect(deliveryIdOfPayout(factory, order)).toBe(deliveryIdOf(lock));
  expect(deliveryIdOfPayout(address("d"), order)).not.toBe(deliveryIdOf(lock));
  // The amount and deadline are not part of the id.
  expect(deliveryIdOfPayout(factory, { ...order, amount: 2n, deadline: 2n })).toBe(
    deliveryIdOf(lock),
  );
});
