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
      encodeAbiParameters([{ type: "uint256" }, { type: "uint8" }], [1n, 1]),
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
    expect(await world.there.findDelivery(world.paidLockOf(word, 0n))).toBeNull();
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

/** Logs of a settlement, in order. */
describe("logs of a route", () => {
  const addressOf = (byte: string) => toEvmAddress(`0x${byte.repeat(20)}`);
  const [FACTORY, WALLET, ROUTE] = [addressOf("fa"), addressOf("3a"), addressOf("cc")];
  const [WETH, BURNED, OTHER] = [addressOf("ee"), addressOf("a0"), addressOf("cd")];
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
  const swappedBy = (emitter: EvmAddress, wallet = WALLET) =>
    logOf(
      emitter,
      encodeEventTopics({ abi: swapRouteAbi, eventName: "Swapped" }),
      [wallet, emitter],
      encodeAbiParameters(
        [{ type: "address" }, { type: "address" }, ...uints(3)],
        [WETH, BURNED, 1n, 3_000n, 0n],
      ),
    );
  const burnedBy = (emitter: EvmAddress, wallet = WALLET) =>
    logOf(
      emitter,
      encodeEventTopics({ abi: cctpRouteAbi, eventName: "Burned" }),
      [wallet],
      encodeAbiParameters(
        [{ type: "address" }, ...uints(3), { type: "uint32" }, { type: "bytes32" }],
        [BURNED, 3_000n, 0n, 0n, 6, padAddress(RECIPIENT)],
      ),
    );
  const transferredBy = (emitter: EvmAddress, wallet = WALLET) =>
    logOf(
      emitter,
      encodeEventTopics({ abi: transferRouteAbi, eventName: "Transferred" }),
      [wallet, RECIPIENT],
      encodeAbiParameters([{ type: "address" }, ...uints(2)], [WETH, 3_000n, 0n]),
    );
  const settledThrough = (route: EvmAddress, wallet = WALLET) =>
    logOf(
      FACTORY,
      encodeEventTopics({ abi: depositFactoryAbi, eventName: "Settled" }),
      [wallet, WETH, route],
      encodeAbiParameters([{ type: "uint256" }], [1n]),
    );
  const kindsOf = (...logs: readonly LogAnswer[]) =>
    decodeEffects(logs, emitters).map(({ kind }) => kind);

  test("the events of the route that settled a wallet count", () => {
    const settled = settledThrough(ROUTE);
    expect(kindsOf(burnedBy(ROUTE), settled)).toEqual(["burned", "settled"]);
    expect(kindsOf(transferredBy(ROUTE), settled)).toEqual(["transferred", "settled"]);
    expect(kindsOf(swappedBy(ROUTE), burnedBy(ROUTE), settled)).toEqual([
      "swapped",
      "burned",
      "settled",
    ]);
  });

  test.each([
    ["of another contract", OTHER, WALLET],
    ["of the wallet itself", WALLET, WALLET],
    ["of the route about another wallet", ROUTE, OTHER],
  ])("an event %s does not count", (_, emitter, wallet) => {
    const events = [swappedBy, burnedBy, transferredBy].map((by) => by(emitter, wallet));
    expect(kindsOf(...events, settledThrough(ROUTE))).toEqual(["settled"]);
  });

  test("an event of a route without a settlement does not count", () => {
    expect(kindsOf(swappedBy(ROUTE), burnedBy(ROUTE), transferredBy(ROUTE))).toEqual([]);
    const elsewhere = settledThrough(OTHER);
    expect(kindsOf(burnedBy(ROUTE), elsewhere)).toEqual(["settled"]);
  });
});
