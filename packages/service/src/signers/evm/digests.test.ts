/** Digests of payouts and refunds, against the vectors that the contracts and a third implementation reproduce. */
import vectors from "@sluice/contracts/vectors" with { type: "json" };
import { hashTypedData } from "viem";
import { expect, test } from "vitest";
import { predictWallet } from "../../chains/evm/commitment.ts";
import { type Commitment, GOVERNED } from "../../core/commitment.ts";
import { padAddress, toEvmAddress, toHex32 } from "../../core/hex.ts";
import { reasonOfNumber } from "../../core/refund-reason.ts";
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
