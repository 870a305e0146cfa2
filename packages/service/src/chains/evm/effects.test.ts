/** Events that strangers emit, on a real node. */
import { concat, encodeAbiParameters, encodeEventTopics, type Hex } from "viem";
import {
  deliveryAbi,
  depositFactoryAbi,
  escrowAbi,
  swapRouteAbi,
  transferRouteAbi,
} from "@sluice/contracts/abi";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type EvmAddress, padAddress, toEvmAddress, toHex32, toTxHash } from "../../core/hex.ts";
import { openWorld, RECIPIENT, THERE, USDC, type World } from "../../signers/evm/testing/world.ts";
import { emitterBytecode } from "./testing/emitter.ts";

let world: World;

beforeAll(async () => {
  world = await openWorld();
});
afterAll(async () => {
  await world.close();
});

describe("logs of strangers", () => {
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

  test("a contract that emits Transferred about itself has no effect", async () => {
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

  test("a contract that emits Swapped about itself has no effect", async () => {
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

  test("a look-alike of Delivered is not found as a delivery", async () => {
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
