import vectors from "@sluice/contracts/vectors" with { type: "json" };
import { describe, expect, test } from "vitest";
import { toEvmAddress, toHex32 } from "../../core/hex.ts";
import { deliveryIdOf, hashCommitment, implementationOf, predictWallet } from "./commitment.ts";

describe("derivation agrees with the vectors", () => {
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

test.each([-1, 65_536, 1.5])("a chain id of %d is refused and not cut to 16 bits", (destChain) => {
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
});
