/** The search for a delivery on nodes that limit the block range or contradict themselves. */
import { encodeAbiParameters, toEventSelector } from "viem";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { padAddress, toEvmAddress, toHex32 } from "../../core/hex.ts";
import type { Chain } from "../port/index.ts";
import { connectChain } from "../../../test/evm/connect-chain.ts";
import {
  type MalformedNode,
  type Reply,
  startMalformedNode,
} from "../../../test/evm/malformed-node.ts";

const DELIVERY = toEvmAddress(`0x${"d0".repeat(20)}`);
const TO = toEvmAddress(`0x${"02".repeat(20)}`);
const TOKEN = toEvmAddress(`0x${"70".repeat(20)}`);
const ID = toHex32(`0x${"dd".repeat(32)}`);
const HASH = toHex32(`0x${"bb".repeat(32)}`);
const DELIVERED = toEventSelector("Delivered(bytes32,bytes32,address,address,uint256)");
const TRUE = { result: `0x${"1".padStart(64, "0")}` };
const FALSE = { result: `0x${"0".repeat(64)}` };

let node: MalformedNode;

beforeAll(async () => {
  node = await startMalformedNode();
});
afterAll(async () => {
  await node.stop();
});

function open(deployBlock = 0n): Chain {
  return connectChain(node, TO, {
    chainId: 30,
    contracts: { factory: TO, escrow: TO, delivery: DELIVERY },
    deployBlock,
  });
}

function logAt(block: bigint, change: Readonly<Record<string, unknown>> = {}) {
  return {
    address: DELIVERY,
    topics: [DELIVERED, ID, HASH, padAddress(TO)],
    data: encodeAbiParameters([{ type: "address" }, { type: "uint256" }], [TOKEN, 9n]),
    blockHash: HASH,
    blockNumber: `0x${block.toString(16)}`,
    transactionHash: HASH,
    logIndex: "0x0",
    ...change,
  };
}

/** A chain with a head and logs, whose node limits the block range of a query. */
function answerWith(args: {
  readonly head: bigint;
  readonly logs: readonly { readonly blockNumber: string }[];
  readonly spanMax?: bigint;
}): void {
  const { head, logs, spanMax = head + 1n } = args;
  node.answer(({ method, params }): Reply => {
    if (method === "eth_call") return TRUE;
    if (method === "eth_blockNumber") return { result: `0x${head.toString(16)}` };
    // The tests request only ranges.
    const [filter] = params as readonly [{ fromBlock: string; toBlock: string }];
    const [start, end] = [BigInt(filter.fromBlock), BigInt(filter.toBlock)];
    if (end - start + 1n > spanMax) {
      return { error: { code: -32005, message: "query exceeds max block range" } };
    }
    const found = logs.filter(({ blockNumber }) => {
      const number = BigInt(blockNumber);
      return number >= start && number <= end;
    });
    return { result: found };
  });
}

function rangesAsked(): bigint {
  return BigInt(node.asked.filter(({ method }) => method === "eth_getLogs").length);
}

const FOUND = { deliveryId: ID, commitment: HASH, to: TO, token: TOKEN, amount: 9n, txHash: HASH };

describe("a delivery", () => {
  test("is not searched for when the contract did not make it", async () => {
    node.answer(() => FALSE);
    expect(await open().findDelivery(ID)).toBeNull();
    expect(node.asked.map(({ method }) => method)).toEqual(["eth_call"]);
  });

  test("in the newest blocks is found in the first range", async () => {
    answerWith({ head: 1_000_000n, logs: [logAt(999_000n)] });
    expect(await open().findDelivery(ID)).toEqual({ ...FOUND, blockNumber: 999_000n });
    expect(rangesAsked()).toBe(1n);
  });

  test("in an old block is found in few ranges", async () => {
    answerWith({ head: 20_000_000n, logs: [logAt(3n)] });
    expect(await open().findDelivery(ID)).toEqual({ ...FOUND, blockNumber: 3n });
    expect(rangesAsked()).toBeLessThan(20n);
  });

  test.each([1n, 2n, 100n, 10_000n])(
    "is found on a node that limits ranges to %d blocks",
    async (spanMax) => {
      answerWith({ head: 50n, logs: [logAt(48n)], spanMax });
      expect(await open().findDelivery(ID)).toEqual({ ...FOUND, blockNumber: 48n });
    },
  );

  test("in the block of the contract's deployment is found, without queries before it", async () => {
    answerWith({ head: 100_000n, logs: [logAt(90_000n)] });
    expect(await open(90_000n).findDelivery(ID)).toEqual({ ...FOUND, blockNumber: 90_000n });
    const first = node.asked.at(-1)?.params[0];
    expect(first).toMatchObject({ fromBlock: "0x15f90" });
  });

  test.each([
    ["has no event", []],
    ["has the event of another id", [logAt(5n, { topics: [DELIVERED, HASH, HASH, HASH] })]],
    ["has the event of another contract", [logAt(5n, { address: TO })]],
    ["has an orphaned event", [logAt(5n, { removed: true })]],
  ])("that was made but %s is an error, not a missing delivery", async (_what, logs) => {
    answerWith({ head: 50n, logs });
    await expect(open().findDelivery(ID)).rejects.toMatchObject({ code: "RPC_UNAVAILABLE" });
  });

  test("is not searched for forever on a node that refuses every range", async () => {
    answerWith({ head: 20_000_000n, logs: [], spanMax: 0n });
    await expect(open().findDelivery(ID)).rejects.toMatchObject({ code: "RPC_UNAVAILABLE" });
    expect(rangesAsked()).toBeLessThan(20n);
  });
});
