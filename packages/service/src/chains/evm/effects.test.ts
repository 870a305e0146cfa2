/** Events emitted by foreign contracts, on a real node. */
import { concat, encodeAbiParameters, encodeEventTopics, type Hex } from "viem";
import {
  cctpRouteAbi,
  deliveryAbi,
  depositFactoryAbi,
  escrowAbi,
  swapRouteAbi,
  transferRouteAbi,
} from "@sluice/contracts/abi";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type EvmAddress, padAddress, toEvmAddress, toHex32, toTxHash } from "../../core/hex.ts";
import { openWorld, RECIPIENT, THERE, USDC, type World } from "../../../test/evm/world.ts";
import type { LogAnswer } from "./answers.ts";
import { decodeEffects } from "./effects.ts";
import { emitterBytecode } from "../../../test/evm/emitter.ts";

let world: World;

beforeAll(async () => {
  world = await openWorld();
});
afterAll(async () => {
  await world.close();
});

describe("logs of foreign contracts", () => {
  const word = toHex32(`0x${"77".repeat(32)}`);
  const ours = padAddress(toEvmAddress(`0x${"77".repeat(20)}`));
  const { wallet, who } = { wallet: toEvmAddress(`0x${"77".repeat(20)}`), who: RECIPIENT };

  test.each([
    [
      "WalletDeployed",
      3,
      encodeEventTopics({ abi: depositFactoryAbi, eventName: "WalletDeployed" }),
      [ours, word],
      "0x",
    ],
    [
      "Settled",
      4,
      encodeEventTopics({ abi: depositFactoryAbi, eventName: "Settled" }),
      [ours, ours, ours],
      word,
    ],
    [
      "Refunded",
      4,
      encodeEventTopics({ abi: depositFactoryAbi, eventName: "Refunded" }),
      [ours, ours, ours],
      word,
    ],
    [
      "Locked",
      4,
      encodeEventTopics({ abi: escrowAbi, eventName: "Locked" }),
      [word, ours, word],
      encodeAbiParameters(
        [
          { type: "address" },
          { type: "uint256" },
          { type: "uint256" },
          { type: "uint64" },
          { type: "uint16" },
          { type: "bytes32" },
        ],
        [wallet, 1n, 1n, 0n, THERE, word],
      ),
    ],
    [
      "Delivered",
      4,
      encodeEventTopics({ abi: deliveryAbi, eventName: "Delivered" }),
      [word, word, padAddress(who)],
      encodeAbiParameters([{ type: "address" }, { type: "uint256" }], [wallet, 1n]),
    ],
  ] as const)("a look-alike of %s has no effect", async (_name, count, signature, topics, data) => {
    const emitter = await world.create([], emitterBytecode(count), []);
    const receipt = await emit(emitter, [...signature, ...topics], data);
    expect(receipt.succeeded).toBe(true);
    expect(receipt.effects).toEqual([]);
  });

  test("a foreign contract's Transferred about itself has no effect", async () => {
    const emitter = await world.create([], emitterBytecode(3), []);
    const signature = encodeEventTopics({ abi: transferRouteAbi, eventName: "Transferred" });
    const data = encodeAbiParameters(
      [{ type: "address" }, { type: "uint256" }, { type: "uint256" }],
      [world.usdc, 25n * USDC, 0n],
    );
    const receipt = await emit(
      emitter,
      [...signature, padAddress(emitter), padAddress(RECIPIENT)],
      data,
    );
    expect(receipt.effects).toEqual([]);
  });

  test("a foreign contract's Swapped about itself has no effect", async () => {
    const emitter = await world.create([], emitterBytecode(3), []);
    const signature = encodeEventTopics({ abi: swapRouteAbi, eventName: "Swapped" });
    const data = encodeAbiParameters(
      [
        { type: "address" },
        { type: "address" },
        { type: "uint256" },
        { type: "uint256" },
        { type: "uint256" },
      ],
      [world.usdc, world.usdc, 25n * USDC, 25n * USDC, 0n],
    );
    const topics = [...signature, padAddress(emitter), padAddress(RECIPIENT)];
    expect((await emit(emitter, topics, data)).effects).toEqual([]);
  });

  test("a look-alike of Delivered does not count as a delivery", async () => {
    expect(await world.there.findDelivery(word)).toBeNull();
  });

  async function emit(emitter: EvmAddress, topics: readonly unknown[], data: Hex) {
    const words = topics.map((topic) => toHex32(String(topic)));
    const hash = await world.wallet.sendTransaction({
      to: emitter,
      data: concat([...words, data]),
    });
    const receipt = await world.mined(hash);
    expect(receipt.logs).toHaveLength(1);
    return world.receiptOf(world.here, toTxHash(hash));
  }
});

/** Logs of a wallet that runs a route's code, in order. */
describe("logs of a wallet", () => {
  const addressOf = (byte: string) => toEvmAddress(`0x${byte.repeat(20)}`);
  const [FACTORY, WALLET, ROUTE] = [addressOf("fa"), addressOf("3a"), addressOf("cc")];
  const [WETH, BURNED, OTHER] = [addressOf("ee"), addressOf("a0"), addressOf("a1")];
  const emitters = { factory: FACTORY, escrow: addressOf("e5"), delivery: addressOf("de") };
  const uints = (count: number) => Array.from({ length: count }, () => ({ type: "uint256" }));
  function logOf(
    emitter: EvmAddress,
    signature: readonly unknown[],
    indexed: readonly EvmAddress[],
    data: Hex,
  ): LogAnswer {
    const topics = [String(signature[0]), ...indexed.map((one) => padAddress(one))].map((topic) =>
      toHex32(topic),
    );
    return {
      address: emitter,
      topics,
      data,
      removed: false,
      blockHash: toHex32(`0x${"b1".repeat(32)}`),
      blockNumber: 7n,
      logIndex: 1,
      txHash: toTxHash(`0x${"7a".repeat(32)}`),
      txIndex: 0,
    };
  }
  const swapped = (to: EvmAddress, tokenOut = BURNED) =>
    logOf(
      WALLET,
      encodeEventTopics({ abi: swapRouteAbi, eventName: "Swapped" }),
      [WALLET, to],
      encodeAbiParameters(
        [{ type: "address" }, { type: "address" }, ...uints(3)],
        [WETH, tokenOut, 1n, 3_000n, 0n],
      ),
    );
  const burned = logOf(
    WALLET,
    encodeEventTopics({ abi: cctpRouteAbi, eventName: "Burned" }),
    [WALLET],
    encodeAbiParameters(
      [{ type: "address" }, ...uints(3), { type: "uint32" }, { type: "bytes32" }],
      [BURNED, 3_000n, 0n, 0n, 6, padAddress(RECIPIENT)],
    ),
  );
  const settled = (token: EvmAddress) =>
    logOf(
      FACTORY,
      encodeEventTopics({ abi: depositFactoryAbi, eventName: "Settled" }),
      [WALLET, token, ROUTE],
      encodeAbiParameters([{ type: "uint256" }], [1n]),
    );
  const kindsOf = (...logs: readonly LogAnswer[]) =>
    decodeEffects(logs, emitters).map(({ kind }) => kind);

  test("a burn counts for the settled token, and for the token it was swapped into", () => {
    expect(kindsOf(burned, settled(BURNED))).toEqual(["burned", "settled"]);
    expect(kindsOf(swapped(WALLET), burned, settled(WETH))).toEqual([
      "swapped",
      "burned",
      "settled",
    ]);
  });

  test("a burn of any other token does not count", () => {
    expect(kindsOf(burned, settled(WETH))).toEqual(["settled"]);
    expect(kindsOf(swapped(WALLET, OTHER), burned, settled(WETH))).toEqual(["swapped", "settled"]);
    expect(kindsOf(swapped(RECIPIENT), burned, settled(WETH))).toEqual(["swapped", "settled"]);
    // The pool swap is of a token that was not settled.
    expect(kindsOf(swapped(WALLET), burned, settled(OTHER))).toEqual(["settled"]);
    expect(kindsOf(swapped(WALLET), burned)).toEqual([]);
    expect(kindsOf(burned)).toEqual([]);
  });
});
