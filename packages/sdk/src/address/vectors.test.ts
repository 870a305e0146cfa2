/** Vectors shared with the Solidity tests: both languages must compute the same addresses. */
import vectors from "@sluice/contracts/vectors" with { type: "json" };
import { describe, expect, test } from "vitest";
import { hashCommitment } from "./commitment.ts";
import { implementationOf, predictWallet, walletInitCode } from "./create2.ts";
import { deliveryId } from "./delivery-id.ts";
import { toChecksumAddress } from "./eip55.ts";
import { keccak, parseBytes, toHex } from "./encoding.ts";
import { isRouteProven, proofOfRoute, rootOfRoutes } from "./route-set.ts";

describe("shared vectors", () => {
  test("cover factories, wallets and deliveries", () => {
    expect(vectors.factories.length).toBeGreaterThan(0);
    expect(vectors.wallets.length).toBeGreaterThan(0);
    expect(vectors.deliveries.length).toBeGreaterThan(0);
    expect(vectors.routeSets.length).toBeGreaterThan(0);
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

  test.each(vectors.routeSets)("match the root and the proofs: $name", ({ root, leaves }) => {
    expect(rootOfRoutes(leaves)).toBe(root);
    expect(rootOfRoutes(leaves.toReversed())).toBe(root);
    for (const { proof, ...leaf } of leaves) {
      expect(proofOfRoute(leaves, leaf)).toEqual(proof);
      expect(isRouteProven(root, leaf, proof)).toBe(true);
      expect(isRouteProven(root, { ...leaf, evmChainId: 77 }, proof)).toBe(false);
    }
  });

  test.each(vectors.deliveries)("match the delivery id: $name", (vector) => {
    const { srcChain: srcBridgeId, escrow, delivery, commitment, token } = vector;
    const [amount, minOut] = [BigInt(vector.amount), BigInt(vector.minOut)];
    const lock = { commitment, delivery, token, amount, minOut, seq: BigInt(vector.seq) };
    expect(deliveryId({ srcBridgeId, escrow, ...lock })).toBe(vector.deliveryId);
  });
});
