import fc from "fast-check";
import { bytesToHex, hashTypedData, recoverTypedDataAddress } from "viem";
import { privateKeyToAddress, sign } from "viem/accounts";
import { describe, expect, test } from "vitest";
import { GOVERNED } from "../../core/commitment.ts";
import { deliveryIdOfPayout } from "../../chains/evm/commitment.ts";
import type { Payout } from "../../chains/port/index.ts";
import { type Hex, padAddress, toAddress, toEvmAddress, toHex, toHex32 } from "../../core/hex.ts";
import { Secret } from "../../core/secret.ts";
import { type AttestedChain, createEvmAttestorSigner } from "../evm/attestor-signer.ts";
import { createRawKey } from "../evm/key.ts";
import {
  createRecovery,
  hashClaim,
  hashDeliver,
  hashPrice,
  hashReturn,
  recoverSigner,
  recoverSigners,
} from "./attestation.ts";

const FACTORY = toEvmAddress(`0x${"f0".repeat(20)}`);
const SOLANA = {
  kind: "svm",
  cluster: toHex32(`0x${"c1".repeat(32)}`),
  factory: FACTORY,
  escrow: toAddress(`0x${"e1".repeat(32)}`),
  delivery: toAddress(`0x${"d1".repeat(32)}`),
} as const;
const AT_ESCROW = { account: SOLANA.escrow, cluster: SOLANA.cluster };
const AT_DELIVERY = { account: SOLANA.delivery, cluster: SOLANA.cluster };
const BASE = {
  kind: "evm",
  evmChainId: 8453,
  factory: FACTORY,
  escrow: toEvmAddress(`0x${"e2".repeat(20)}`),
  delivery: toEvmAddress(`0x${"d2".repeat(20)}`),
} as const;
const MINT = toAddress(`0x${"70".repeat(32)}`);
const WALLET = toEvmAddress(`0x${"3a".repeat(20)}`);
const WORD = toHex32(`0x${"01".repeat(32)}`);

const attestor = createEvmAttestorSigner({
  key: createRawKey(new Secret(`0x${"1a".repeat(32)}`), "a test"),
  chains: new Map<number, AttestedChain>([
    [1, SOLANA],
    [30, BASE],
  ]),
});
const toSolana: Payout = {
  commitment: {
    integrator: WORD,
    userId: WORD,
    destChain: 1,
    destWallet: WORD,
    destToken: toHex32(MINT),
    refundAuthority: WORD,
    maxFeeBps: 50,
    maxSlippageBps: 100,
    ...GOVERNED,
  },
  srcChain: 30,
  escrow: BASE.escrow,
  srcToken: WALLET,
  lockedAmount: 1_001n,
  minOut: 999n,
  seq: 3n,
  windowStart: 1_800_000_000n,
  amount: 1_000n,
};
const fromSolana: Payout = {
  ...toSolana,
  commitment: { ...toSolana.commitment, destChain: 30, destToken: padAddress(WALLET) },
  srcChain: 1,
  escrow: SOLANA.escrow,
  srcToken: MINT,
};

describe("the attestor's signature for Solana", () => {
  test("over a delivery verifies only for its content, delivery account and cluster", async () => {
    const message = {
      deliveryId: deliveryIdOfPayout(SOLANA.delivery, toSolana),
      amount: toSolana.amount,
      windowStart: toSolana.windowStart,
    };
    const signature = await attestor.signDelivery(1, toSolana);
    expect(recoverSigner(hashDeliver(AT_DELIVERY, message), signature)).toBe(attestor.address);
    for (const change of [{ amount: 1_001n }, { deliveryId: WORD }, { windowStart: 1n }]) {
      const digest = hashDeliver(AT_DELIVERY, { ...message, ...change });
      expect(recoverSigner(digest, signature)).not.toBe(attestor.address);
    }
    for (const elsewhere of [AT_ESCROW, { ...AT_DELIVERY, cluster: WORD }]) {
      expect(recoverSigner(hashDeliver(elsewhere, message), signature)).not.toBe(attestor.address);
    }
  });

  test("over a claim, a return and a price verifies only for its kind and escrow account", async () => {
    const { escrow } = SOLANA;
    const claim = { deliveryId: WORD, paidAmount: 9n, deadline: 10n };
    const back = { deliveryId: WORD, deadline: 10n };
    const price = { wallet: WALLET, token: MINT, rate: 5n, maxAmount: 7n, deadline: 10n };
    const claimed = await attestor.signClaim(1, claim);
    const returned = await attestor.signReturn(1, back);
    const priced = await attestor.signPrice(1, { ...price, route: escrow });
    expect(recoverSigner(hashClaim(AT_ESCROW, claim), claimed)).toBe(attestor.address);
    expect(recoverSigner(hashReturn(AT_ESCROW, back), returned)).toBe(attestor.address);
    const digest = hashPrice(AT_ESCROW, { ...price, factory: FACTORY });
    expect(recoverSigner(digest, priced)).toBe(attestor.address);
    // No signature is valid for another message.
    expect(recoverSigner(hashReturn(AT_ESCROW, back), claimed)).not.toBe(attestor.address);
    expect(recoverSigner(hashClaim(AT_ESCROW, claim), returned)).not.toBe(attestor.address);
  });

  test("over a price is refused for a route other than the escrow", async () => {
    const price = { wallet: WALLET, token: MINT, rate: 5n, maxAmount: 7n, deadline: 10n };
    await expect(attestor.signPrice(1, { ...price, route: SOLANA.delivery })).rejects.toThrow(
      "for its escrow",
    );
  });
});

test("signs the payout of a lock on Solana for the delivery contract of its destination chain", async () => {
  const signer = await recoverTypedDataAddress({
    domain: {
      name: "Sluice Delivery",
      version: "1",
      chainId: 8453,
      verifyingContract: BASE.delivery,
    },
    types: {
      Deliver: [
        { name: "deliveryId", type: "bytes32" },
        { name: "amount", type: "uint256" },
        { name: "windowStart", type: "uint256" },
      ],
    },
    primaryType: "Deliver",
    message: {
      deliveryId: deliveryIdOfPayout(BASE.delivery, fromSolana),
      amount: fromSolana.amount,
      windowStart: fromSolana.windowStart,
    },
    signature: await attestor.signDelivery(30, fromSolana),
  });
  expect(signer.toLowerCase()).toBe(attestor.address);
});

describe("the digest", () => {
  const word = fc.uint8Array({ minLength: 32, maxLength: 32 }).map(hex32);
  const address = fc
    .uint8Array({ minLength: 20, maxLength: 20 })
    .map((b) => toEvmAddress(hexOf(b)));
  const number = fc.bigInt({ min: 0n, max: 2n ** 256n - 1n });
  const asBytes = (digest: Uint8Array) => `0x${Buffer.from(digest).toString("hex")}`;

  test("of every delivery, claim, return and price equals EIP-712's", () => {
    fc.assert(
      fc.property(
        fc.record({ salt: word, cluster: word, id: word, factory: address, wallet: address }),
        fc.record({ token: word, a: number, b: number, deadline: number }),
        ({ salt, cluster, id, factory, wallet }, { token, a, b, deadline }) => {
          const at = { account: toAddress(salt), cluster };
          const shared = { version: "1", chainId: BigInt(cluster), salt };
          const deliver = { deliveryId: id, amount: a, windowStart: b };
          expect(asBytes(hashDeliver(at, deliver))).toBe(
            hashTypedData({
              domain: { name: "Sluice Delivery", ...shared },
              types: {
                Deliver: [
                  { name: "deliveryId", type: "bytes32" },
                  { name: "amount", type: "uint256" },
                  { name: "windowStart", type: "uint256" },
                ],
              },
              primaryType: "Deliver",
              message: deliver,
            }),
          );
          const claim = { deliveryId: id, paidAmount: a, deadline };
          expect(asBytes(hashClaim(at, claim))).toBe(
            hashTypedData({
              domain: { name: "Sluice Escrow", ...shared },
              types: {
                Claim: [
                  { name: "deliveryId", type: "bytes32" },
                  { name: "paidAmount", type: "uint256" },
                  { name: "deadline", type: "uint256" },
                ],
              },
              primaryType: "Claim",
              message: claim,
            }),
          );
          const back = { deliveryId: id, deadline };
          expect(asBytes(hashReturn(at, back))).toBe(
            hashTypedData({
              domain: { name: "Sluice Escrow", ...shared },
              types: {
                Return: [
                  { name: "deliveryId", type: "bytes32" },
                  { name: "deadline", type: "uint256" },
                ],
              },
              primaryType: "Return",
              message: back,
            }),
          );
          const price = {
            factory,
            wallet,
            token: toAddress(token),
            rate: a,
            maxAmount: b,
            deadline,
          };
          expect(asBytes(hashPrice(at, price))).toBe(
            hashTypedData({
              domain: { name: "Sluice PricedRoute", ...shared },
              types: {
                Price: [
                  { name: "factory", type: "address" },
                  { name: "wallet", type: "address" },
                  { name: "token", type: "bytes32" },
                  { name: "rate", type: "uint256" },
                  { name: "maxAmount", type: "uint256" },
                  { name: "deadline", type: "uint256" },
                ],
              },
              primaryType: "Price",
              message: price,
            }),
          );
        },
      ),
      { numRuns: 50 },
    );
  });
});

describe("recovering the signer of a signature", () => {
  const digest = hashReturn(AT_ESCROW, { deliveryId: WORD, deadline: 10n });
  const order = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;
  let signature: Hex;

  test("returns null for every form but the canonical one", async () => {
    signature = await attestor.signReturn(1, { deliveryId: WORD, deadline: 10n });
    expect(recoverSigner(digest, signature)).toBe(attestor.address);
    const s = BigInt(`0x${signature.slice(66, 130)}`);
    const highS = `${signature.slice(0, 66)}${(order - s).toString(16).padStart(64, "0")}`;
    const flipped = signature.endsWith("1b") ? "1c" : "1b";
    for (const other of [
      "0x",
      signature.slice(0, -2),
      `${signature}00`,
      `${signature.slice(0, -2)}00`,
      `${highS}${flipped}`,
      `0x${"00".repeat(64)}1b`,
      `0x${"ff".repeat(64)}1b`,
    ]) {
      expect(recoverSigner(digest, toHex(other))).toBeNull();
    }
    expect(recoverSigner(digest, toHex(signature.slice(0, -2) + flipped))).not.toBe(
      attestor.address,
    );
  });
});

describe("a recovery with known keys", () => {
  const keys = ["2b", "2c", "2d", "2e"].map((byte) => `0x${byte.repeat(32)}` as const);
  const accounts = keys.map((key) => toEvmAddress(privateKeyToAddress(key)));

  test.each([0, 1, 2, 3, 4])("of %i accounts recovers the same signers", async (count) => {
    const recover = createRecovery(accounts.slice(0, count));
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...keys),
        fc.uint8Array({ minLength: 32, maxLength: 32 }),
        fc.option(fc.integer({ min: 0, max: 64 })),
        async (privateKey, digest, changed) => {
          const signed = await sign({ hash: bytesToHex(digest), privateKey, to: "hex" });
          const bytes = Buffer.from(signed.slice(2), "hex");
          if (changed === 64) bytes[64] = (bytes[64] ?? 0) ^ 7;
          else if (changed !== null) bytes[changed] = (bytes[changed] ?? 0) ^ 1;
          const signature = toHex(bytesToHex(bytes));
          expect(recover(digest, signature)).toBe(recoverSigner(digest, signature));
        },
      ),
      { numRuns: 40 },
    );
  });

  test("recovers nobody known from another digest, or with the other v", async () => {
    const [privateKey = "0x"] = keys;
    const recover = createRecovery(accounts.slice(0, 1));
    const digest = new Uint8Array(32).fill(1);
    const signature = await sign({ hash: bytesToHex(digest), privateKey, to: "hex" });
    for (const signed of [signature, signature]) expect(recover(digest, signed)).toBe(accounts[0]);
    const other = signature.endsWith("1b") ? "1c" : "1b";
    expect(recover(digest, `${toHex(signature.slice(0, -2))}${other}`)).not.toBe(accounts[0]);
    expect(recover(new Uint8Array(32).fill(2), signature)).not.toBe(accounts[0]);
  });
});

describe("recovering the signers of several signatures", () => {
  const digest = hashReturn(AT_ESCROW, { deliveryId: WORD, deadline: 10n });
  const keys = ["2b", "2c", "2d"].map((byte) =>
    createRawKey(new Secret(`0x${byte.repeat(32)}`), "a test"),
  );
  const chains = new Map<number, AttestedChain>([[1, SOLANA]]);
  const sign = async () => {
    const signed = await Promise.all(
      keys.map(async (key) => ({
        signer: key.address,
        signature: await createEvmAttestorSigner({ key, chains }).signReturn(1, {
          deliveryId: WORD,
          deadline: 10n,
        }),
      })),
    );
    return signed.toSorted((a, b) => (a.signer < b.signer ? -1 : 1));
  };
  const join = (parts: readonly { readonly signature: Hex }[]): Hex =>
    `0x${parts.map(({ signature }) => signature.slice(2)).join("")}`;

  test("returns them in their order", async () => {
    const signed = await sign();
    expect(recoverSigners(digest, join(signed))).toEqual(signed.map(({ signer }) => signer));
    expect(recoverSigners(digest, "0x")).toEqual([]);
  });

  test("returns null for another order, one signer twice, and a part of a signature", async () => {
    const [first, second, third] = await sign();
    if (!first || !second || !third) throw new Error("three sign");
    expect(recoverSigners(digest, join([second, first]))).toBeNull();
    expect(recoverSigners(digest, join([first, third, second]))).toBeNull();
    expect(recoverSigners(digest, join([first, first]))).toBeNull();
    expect(recoverSigners(digest, toHex(`${join([first])}00`))).toBeNull();
    expect(recoverSigners(digest, toHex(join([first, second]).slice(0, -2)))).toBeNull();
  });
});

function hexOf(bytes: Uint8Array): Hex {
  return `0x${Buffer.from(bytes).toString("hex")}`;
}

function hex32(bytes: Uint8Array) {
  return toHex32(hexOf(bytes));
}
