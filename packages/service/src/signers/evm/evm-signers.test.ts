import { inspect } from "node:util";
import { parseTransaction, recoverTransactionAddress, recoverTypedDataAddress } from "viem";
import { describe, expect, test } from "vitest";
import { GOVERNED } from "../../core/commitment.ts";
import { deliveryIdOfPayout } from "../../chains/evm/commitment.ts";
import type { Payout } from "../../chains/port/index.ts";
import { toEvmAddress, toHex32 } from "../../core/hex.ts";
import { Secret } from "../../core/secret.ts";
import { type AttestedChain, createEvmAttestorSigner } from "./attestor-signer.ts";
import { createRawKey } from "./key.ts";
import { createEvmLaneSigner } from "./lane-signer.ts";

const KEY = `0x${"1a".repeat(32)}`;
const WORD = toHex32(`0x${"01".repeat(32)}`);
const address = (byte: string) => toEvmAddress(`0x${byte.repeat(20)}`);
const SOURCE = {
  kind: "evm",
  evmChainId: 1,
  factory: address("f0"),
  escrow: address("e1"),
  delivery: address("d1"),
} as const;
const DESTINATION = {
  kind: "evm",
  evmChainId: 8453,
  factory: address("f0"),
  escrow: address("e2"),
  delivery: address("d2"),
} as const;
const ORDER: Payout = {
  commitment: {
    integrator: WORD,
    userId: WORD,
    destChain: 30,
    destWallet: WORD,
    destToken: WORD,
    refundAuthority: WORD,
    maxFeeBps: 50,
    maxSlippageBps: 100,
    ...GOVERNED,
  },
  srcChain: 2,
  escrow: SOURCE.escrow,
  srcToken: address("70"),
  lockedAmount: 1_001n,
  minOut: 999n,
  seq: 3n,
  windowStart: 1_800_000_000n,
  amount: 1000n,
};

const lane = createEvmLaneSigner({
  key: createRawKey(new Secret(KEY), "a test"),
  chainId: 2,
  evmChainId: 1,
  purpose: "deploy",
});
const attestor = createEvmAttestorSigner({
  key: createRawKey(new Secret(KEY), "a test"),
  chains: new Map<number, AttestedChain>([
    [2, SOURCE],
    [30, DESTINATION],
  ]),
});

describe("an EVM lane", () => {
  const intent = {
    call: { to: address("aa"), data: "0x1234", value: 5n },
    nonce: 7,
    gas: 100_000n,
    fees: { gasPriceMax: 30n, tipMax: 2n },
  } as const;

  test("signs exactly the signing request for its EVM chain, as EIP-1559", async () => {
    const { raw } = await lane.sign(intent);
    expect(parseTransaction(raw)).toMatchObject({
      type: "eip1559",
      chainId: 1,
      nonce: 7,
      gas: 100_000n,
      to: address("aa"),
      data: "0x1234",
      value: 5n,
      maxFeePerGas: 30n,
      maxPriorityFeePerGas: 2n,
    });
    // CAST: the transaction is of type 2, which viem marks in the type of its text.
    const signed = raw as `0x02${string}`;
    const signer = await recoverTransactionAddress({ serializedTransaction: signed });
    expect(signer.toLowerCase()).toBe(lane.address);
    expect(lane.address).toBe(lane.address.toLowerCase());
  });

  test("signs the same signing request to the same bytes [T60]", async () => {
    expect(await lane.sign(intent)).toEqual(await lane.sign(intent));
  });

  test.each([-1, 1.5, Number.NaN])("refuses the nonce %d", async (nonce) => {
    await expect(lane.sign({ ...intent, nonce })).rejects.toThrow("nonce");
  });

  test("refuses a priority fee above the maximum fee", async () => {
    const fees = { gasPriceMax: 1n, tipMax: 2n };
    await expect(lane.sign({ ...intent, fees })).rejects.toThrow("maxPriorityFeePerGas");
  });
});

describe("the EVM attestor", () => {
  test("signs a payout for the delivery contract of the destination chain", async () => {
    const signer = await recoverTypedDataAddress({
      domain: {
        name: "Sluice Delivery",
        version: "1",
        chainId: 8453,
        verifyingContract: DESTINATION.delivery,
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
        deliveryId: deliveryIdOfPayout(DESTINATION.delivery, ORDER),
        amount: ORDER.amount,
        windowStart: ORDER.windowStart,
      },
      signature: await attestor.signDelivery(30, ORDER),
    });
    expect(signer.toLowerCase()).toBe(attestor.address);
  });

  test("signs a claim for the escrow of the source chain", async () => {
    const claim = { deliveryId: WORD, paidAmount: 9n, deadline: 10n };
    const signer = await recoverTypedDataAddress({
      domain: {
        name: "Sluice Escrow",
        version: "1",
        chainId: 1,
        verifyingContract: SOURCE.escrow,
      },
      types: {
        Claim: [
          { name: "deliveryId", type: "bytes32" },
          { name: "paidAmount", type: "uint256" },
          { name: "deadline", type: "uint256" },
        ],
      },
      primaryType: "Claim",
      message: claim,
      signature: await attestor.signClaim(2, claim),
    });
    expect(signer.toLowerCase()).toBe(attestor.address);
  });

  test("refuses a payout on another chain than its commitment names", async () => {
    await expect(attestor.signDelivery(2, ORDER)).rejects.toThrow("chain of its commitment");
  });

  test("refuses a payout whose escrow is not the source chain's", async () => {
    const order = { ...ORDER, escrow: DESTINATION.escrow };
    await expect(attestor.signDelivery(30, order)).rejects.toThrow("escrow of its source chain");
  });

  test("refuses an unknown chain", async () => {
    const claim = { deliveryId: WORD, paidAmount: 9n, deadline: 10n };
    await expect(attestor.signClaim(5, claim)).rejects.toMatchObject({ code: "CONFIG_MISSING" });
    await expect(attestor.signDelivery(30, { ...ORDER, srcChain: 5 })).rejects.toMatchObject({
      code: "CONFIG_MISSING",
    });
  });
});

describe("a key", () => {
  const unprefixed = "1a".repeat(32);
  const curveOrder = "0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141";

  test.each([
    ["without 0x", unprefixed],
    ["that is a digit short", KEY.slice(0, -1)],
    ["with a line break", `${KEY}\n`],
    ["that is zero", `0x${"00".repeat(32)}`],
    ["above the curve's order", curveOrder],
  ])("%s is refused without being shown", (_what, text) => {
    const key = new Secret(text);
    const error = catchError(() => createRawKey(key, "a test"));
    expect(error).toMatchObject({ code: "CONFIG_MISSING" });
    expect(String(error)).toContain("expected 0x and 64 hex digits");
    expect(inspect(error, { depth: 20, showHidden: true })).not.toContain(text.trim().slice(2, 40));
  });

  test("does not appear when a signer is printed or serialized", () => {
    for (const signer of [lane, attestor]) {
      const shown = inspect(signer, { depth: 20, showHidden: true, getters: true });
      expect(shown + JSON.stringify(signer)).not.toContain(unprefixed);
    }
  });
});

function catchError(run: () => unknown): unknown {
  try {
    run();
  } catch (error) {
    return error;
  }
  throw new Error("nothing was thrown");
}
