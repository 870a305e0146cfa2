import fc from "fast-check";
import { hashTypedData, recoverTypedDataAddress } from "viem";
import { describe, expect, test } from "vitest";
import { deliveryIdOfPayout, hashCommitment } from "../../chains/evm/commitment.ts";
import type { Payout } from "../../chains/port/index.ts";
import { type Hex, padAddress, toAddress, toEvmAddress, toHex, toHex32 } from "../../core/hex.ts";
import { Secret } from "../../core/secret.ts";
import { type AttestedChain, createEvmAttestorSigner } from "../evm/attestor-signer.ts";
import { createRawKey } from "../evm/key.ts";
import { hashClaim, hashDeliver, hashPrice, hashReturn, recoverSigner } from "./attestation.ts";

const FACTORY = toEvmAddress(`0x${"f0".repeat(20)}`);
const SOLANA = {
  kind: "svm",
  factory: FACTORY,
  escrow: toAddress(`0x${"e1".repeat(32)}`),
  delivery: toAddress(`0x${"d1".repeat(32)}`),
} as const;
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
  },
  srcChain: 30,
  escrow: BASE.escrow,
  srcToken: WALLET,
  seq: 3n,
  amount: 1_000n,
  deadline: 1_800_000_000n,
};
const fromSolana: Payout = {
  ...toSolana,
  commitment: { ...toSolana.commitment, destChain: 30, destToken: padAddress(WALLET) },
  srcChain: 1,
  escrow: SOLANA.escrow,
  srcToken: MINT,
};

describe("the attestor's signature for Solana", () => {
  test("over a delivery verifies only for its content and delivery account", async () => {
    const message = {
      deliveryId: deliveryIdOfPayout(FACTORY, toSolana),
      commitment: hashCommitment(toSolana.commitment),
      amount: toSolana.amount,
      deadline: toSolana.deadline,
    };
    const signature = await attestor.signDelivery(1, toSolana);
    expect(recoverSigner(hashDeliver(SOLANA.delivery, message), signature)).toBe(attestor.address);
    for (const change of [{ amount: 1_001n }, { deadline: 1n }, { deliveryId: WORD }]) {
      const digest = hashDeliver(SOLANA.delivery, { ...message, ...change });
      expect(recoverSigner(digest, signature)).not.toBe(attestor.address);
    }
    const elsewhere = hashDeliver(SOLANA.escrow, message);
    expect(recoverSigner(elsewhere, signature)).not.toBe(attestor.address);
  });

  test("over a claim, a return and a price verifies only for its kind and escrow account", async () => {
    const { escrow } = SOLANA;
    const claim = { deliveryId: WORD, paidAmount: 9n, deadline: 10n };
    const back = { deliveryId: WORD, deadline: 10n };
    const price = { wallet: WALLET, token: MINT, rate: 5n, maxAmount: 7n, deadline: 10n };
    const claimed = await attestor.signClaim(1, claim);
    const returned = await attestor.signReturn(1, back);
    const priced = await attestor.signPrice(1, { ...price, route: escrow });
    expect(recoverSigner(hashClaim(escrow, claim), claimed)).toBe(attestor.address);
    expect(recoverSigner(hashReturn(escrow, back), returned)).toBe(attestor.address);
    const digest = hashPrice(escrow, { ...price, factory: FACTORY });
    expect(recoverSigner(digest, priced)).toBe(attestor.address);
    // No signature is valid for another message.
    expect(recoverSigner(hashReturn(escrow, back), claimed)).not.toBe(attestor.address);
    expect(recoverSigner(hashClaim(escrow, claim), returned)).not.toBe(attestor.address);
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
        { name: "commitment", type: "bytes32" },
        { name: "amount", type: "uint256" },
        { name: "deadline", type: "uint256" },
      ],
    },
    primaryType: "Deliver",
    message: {
      deliveryId: deliveryIdOfPayout(FACTORY, fromSolana),
      commitment: hashCommitment(fromSolana.commitment),
      amount: fromSolana.amount,
      deadline: fromSolana.deadline,
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
        fc.record({ salt: word, id: word, commitment: word, factory: address, wallet: address }),
        fc.record({ token: word, a: number, b: number, deadline: number }),
        ({ salt, id, commitment, factory, wallet }, { token, a, b, deadline }) => {
          const at = toAddress(salt);
          const deliver = { deliveryId: id, commitment, amount: a, deadline };
          expect(asBytes(hashDeliver(at, deliver))).toBe(
            hashTypedData({
              domain: { name: "Sluice Delivery", salt },
              types: {
                Deliver: [
                  { name: "deliveryId", type: "bytes32" },
                  { name: "commitment", type: "bytes32" },
                  { name: "amount", type: "uint256" },
                  { name: "deadline", type: "uint256" },
                ],
              },
              primaryType: "Deliver",
              message: deliver,
            }),
          );
          const claim = { deliveryId: id, paidAmount: a, deadline };
          expect(asBytes(hashClaim(at, claim))).toBe(
            hashTypedData({
              domain: { name: "Sluice Escrow", salt },
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
              domain: { name: "Sluice Escrow", salt },
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
              domain: { name: "Sluice PricedRoute", salt },
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
  const digest = hashReturn(SOLANA.escrow, { deliveryId: WORD, deadline: 10n });
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

function hexOf(bytes: Uint8Array): Hex {
  return `0x${Buffer.from(bytes).toString("hex")}`;
}

function hex32(bytes: Uint8Array) {
  return toHex32(hexOf(bytes));
}
