/** Vectors shared with the Solidity tests: both languages must compute the same addresses. */
import vectors from "@sluice/contracts/vectors" with { type: "json" };
import { describe, expect, test } from "vitest";
import { hashCommitment } from "./commitment.ts";
import { implementationOf, predictWallet, walletInitCode } from "./create2.ts";
import { deliveryId } from "./delivery-id.ts";
import { toChecksumAddress } from "./eip55.ts";
import { keccak, parseBytes, toHex } from "./encoding.ts";

describe("shared vectors", () => {
  test("cover factories, wallets and deliveries", () => {
    expect(vectors.factories.length).toBeGreaterThan(0);
    expect(vectors.wallets.length).toBeGreaterThan(0);
    expect(vectors.deliveries.length).toBeGreaterThan(0);
  });

  test.each(vectors.factories)(
    "match the implementation and init code of factory $factory",
    (vector) => {
      expect(implementationOf(vector.factory)).toBe(toChecksumAddress(vector.implementation));
      const initCode = walletInitCode(vector.implementation);
      expect(toHex(keccak(parseBytes("initCode", initCode, 61)))).toBe(vector.initCodeHash);
    },
  );

  test.each(vectors.wallets)("match the hash and wallet: $name", (vector) => {
    const { factory, implementation, commitment } = vector;
    expect(hashCommitment(commitment)).toBe(vector.hash);
    expect(predictWallet({ factory, commitment })).toBe(toChecksumAddress(vector.wallet));
    expect(predictWallet({ factory, implementation, commitment })).toBe(
      toChecksumAddress(vector.wallet),
    );
  });

  test.each(vectors.deliveries)("match the delivery id: $name", (vector) => {
    const { srcChain, escrow, wallet, token, seq } = vector;
    expect(deliveryId({ srcBridgeId: srcChain, escrow, wallet, token, seq: BigInt(seq) })).toBe(
      vector.deliveryId,
    );
  });
});
