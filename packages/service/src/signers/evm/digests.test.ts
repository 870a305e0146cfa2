/** Digests and signatures of attestors, against the vectors that the contracts and a third implementation reproduce. */
import vectors from "@sluice/contracts/vectors" with { type: "json" };
import { hashTypedData } from "viem";
import { expect, test } from "vitest";
import { predictWallet } from "../../chains/evm/commitment.ts";
import { type Commitment, GOVERNED } from "../../core/commitment.ts";
import {
  type EvmAddress,
  type Hex,
  padAddress,
  toAddress,
  toEvmAddress,
  toHex32,
} from "../../core/hex.ts";
import { reasonOfNumber } from "../../core/refund-reason.ts";
import { countAnswers } from "../../routes/swift/count-answers.ts";
import {
  hashClaim,
  hashDeliver,
  hashPrice,
  hashReturn,
  recoverSigner,
  recoverSigners,
} from "../solana/attestation.ts";
import { createAttestationDigest, DELIVER, REFUND } from "./attestor-signer.ts";

const FACTORY = toEvmAddress(`0x${"fa".repeat(20)}`);

test.each(vectors.payouts)("the digest of a payout is that of the vectors, $name", (vector) => {
  const digest = hashTypedData({
    domain: {
      name: "Sluice Delivery",
      version: "1",
      chainId: vector.evmChainId,
      verifyingContract: toEvmAddress(vector.contract),
    },
    types: DELIVER,
    primaryType: "Deliver",
    message: {
      deliveryId: toHex32(vector.deliveryId),
      amount: BigInt(vector.amount),
      windowStart: BigInt(vector.windowStart),
    },
  });
  expect(digest).toBe(vector.digest);
});

test.each(vectors.refunds)("the digest of $name is that of the vectors", (vector) => {
  const { wallet, token, reason, evmChainId, factory } = vector;
  const maxAmount = BigInt(vector.maxAmount);
  const deadline = BigInt(vector.deadline);
  const digest = hashTypedData({
    domain: {
      name: "Sluice DepositFactory",
      version: "1",
      chainId: evmChainId,
      verifyingContract: toEvmAddress(factory),
    },
    types: REFUND,
    primaryType: "Refund",
    message: {
      wallet: toEvmAddress(wallet),
      token: toEvmAddress(token),
      maxAmount,
      reason,
      deadline,
    },
  });
  expect(digest).toBe(vector.digest);
  expect(reasonOfNumber(reason)).not.toBe(null);
});

test.each(vectors.messages)("the digest of $name is that of the vectors", (vector) => {
  const { evmChainId, contract, type, fields } = vector;
  const [first = "", second = "", third = "", ...more] = fields;
  const at = toEvmAddress(contract);
  const chain = { kind: "evm", evmChainId, escrow: at, delivery: FACTORY } as const;
  const digestOf = (factory: EvmAddress) =>
    createAttestationDigest(new Map([[2, { ...chain, factory }]]));
  const computed = () => {
    const deliveryId = type.startsWith("Price") ? null : toHex32(first);
    if (deliveryId && type.startsWith("Claim")) {
      const order = { deliveryId, paidAmount: BigInt(second), deadline: BigInt(third) };
      return digestOf(FACTORY)({ kind: "claim", chainId: 2, order });
    }
    if (deliveryId) {
      const order = { deliveryId, deadline: BigInt(second) };
      return digestOf(FACTORY)({ kind: "return", chainId: 2, order });
    }
    const [rate = "", maxAmount = "", deadline = ""] = more;
    const order = {
      wallet: toEvmAddress(second),
      token: toEvmAddress(third),
      route: at,
      rate: BigInt(rate),
      maxAmount: BigInt(maxAmount),
      deadline: BigInt(deadline),
    };
    return digestOf(toEvmAddress(first))({ kind: "price", chainId: 2, order });
  };
  expect(computed()).toBe(vector.digest);
});

test.each(vectors.solanaMessages)("the digest of $name is that of the vectors", (vector) => {
  const verifier = { account: toAddress(vector.account), cluster: toHex32(vector.cluster) };
  const [first = "", second = "", third = "", ...more] = vector.fields;
  const computed = () => {
    if (vector.type.startsWith("Price")) {
      const [rate = "", maxAmount = "", deadline = ""] = more;
      return hashPrice(verifier, {
        factory: toEvmAddress(first),
        wallet: toEvmAddress(second),
        token: toAddress(third),
        rate: BigInt(rate),
        maxAmount: BigInt(maxAmount),
        deadline: BigInt(deadline),
      });
    }
    const deliveryId = toHex32(first);
    if (vector.type.startsWith("Return")) {
      return hashReturn(verifier, { deliveryId, deadline: BigInt(second) });
    }
    const [amount, time] = [BigInt(second), BigInt(third)];
    return vector.type.startsWith("Claim")
      ? hashClaim(verifier, { deliveryId, paidAmount: amount, deadline: time })
      : hashDeliver(verifier, { deliveryId, amount, windowStart: time });
  };
  expect(`0x${Buffer.from(computed()).toString("hex")}`).toBe(vector.digest);
});

test.each(vectors.signatures)(
  "the signatures $name are judged as the contracts judge them",
  (vector) => {
    const { threshold, attestors, refusal } = vector;
    // CAST: the vectors are hex.
    const [digest, signatures] = [vector.digest as Hex, vector.signatures as Hex];
    const signers = recoverSigners(Buffer.from(digest.slice(2), "hex"), signatures);
    const suffice =
      signers !== null &&
      signers.length >= threshold &&
      signers.every((signer) => attestors.includes(signer));
    expect(suffice).toBe(refusal === "");

    // The settler sorts the answers of attestors, and leaves out what does not count.
    const parts = [...signatures.slice(2).matchAll(/.{1,130}/g)].map(([one]) => `0x${one}`);
    const counted = countAnswers(
      {
        threshold,
        accounts: attestors.map(toEvmAddress),
        recover: (_, one) => recoverSigner(Buffer.from(digest.slice(2), "hex"), one),
      },
      {
        kind: "claim",
        chainId: 2,
        order: { deliveryId: toHex32(digest), paidAmount: 0n, deadline: 0n },
      },
      parts
        .toReversed()
        .map((signature, at) => ({ written_by: `${at}`, signature, refusal: null })),
    );
    const isOnlyUnsorted = vector.name === "unsorted";
    const sorted = isOnlyUnsorted
      ? `0x${parts
          .toReversed()
          .map((one) => one.slice(2))
          .join("")}`
      : signatures;
    expect(counted.signatures).toBe(suffice || isOnlyUnsorted ? sorted : null);
  },
);

test("attestors sign for the wallet of the commitment, for any wallet in the request", () => {
  const commitment: Commitment = {
    integrator: toHex32(`0x${"1d".repeat(32)}`),
    userId: toHex32(`0x${"00".repeat(32)}`),
    destChain: 30,
    destWallet: padAddress(FACTORY),
    destToken: padAddress(FACTORY),
    refundAuthority: padAddress(FACTORY),
    maxFeeBps: 50,
    maxSlippageBps: 100,
    ...GOVERNED,
  };
  const chain = {
    kind: "evm",
    evmChainId: 1,
    factory: FACTORY,
    escrow: FACTORY,
    delivery: FACTORY,
  };
  const digestOf = createAttestationDigest(new Map([[2, { ...chain, kind: "evm" }]]));
  const order = {
    commitment,
    token: FACTORY,
    maxAmount: 5n,
    reason: "dead",
    deadline: 9n,
  } as const;
  const expected = hashTypedData({
    domain: {
      name: "Sluice DepositFactory",
      version: "1",
      chainId: 1,
      verifyingContract: FACTORY,
    },
    types: REFUND,
    primaryType: "Refund",
    message: {
      wallet: predictWallet(FACTORY, commitment),
      token: FACTORY,
      maxAmount: 5n,
      reason: 3,
      deadline: 9n,
    },
  });
  expect(digestOf({ kind: "refund", chainId: 2, order })).toBe(expected);
});
