/** The search for a delivery on nodes that limit the block range or contradict themselves. */
import { deliveryAbi } from "@sluice/contracts/abi";
import { encodeAbiParameters, encodeFunctionData, toEventSelector } from "viem";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { padAddress, toEvmAddress, toHex32, toTxHash } from "../../core/hex.ts";
import { GOVERNED } from "../../core/commitment.ts";
import type { Chain, Payout } from "../port/index.ts";
import { startProvider } from "../../../../sandbox/src/provider/index.ts";
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
const TX_HASH = toTxHash(HASH);
const OTHER_HASH = toTxHash(`0x${"cc".repeat(32)}`);
const BLOOM = `0x${"0".repeat(512)}`;
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

function open(deployBlock = 0n, { rpcUrl }: { readonly rpcUrl: string } = node): Chain {
  return connectChain({ rpcUrl }, TO, {
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

/** The receipt of the transaction of `logAt`. */
function receiptAt(
  block: bigint,
  change: Readonly<Record<string, unknown>> = {},
  log: Readonly<Record<string, unknown>> = {},
) {
  return {
    transactionHash: HASH,
    blockHash: HASH,
    blockNumber: `0x${block.toString(16)}`,
    status: "0x1",
    gasUsed: "0x1",
    effectiveGasPrice: "0x1",
    logs: [logAt(block, log)],
    ...change,
  };
}

/** A chain with a head, a block every two seconds and logs, whose node limits the block range of a query. */
function answerWith(args: {
  readonly head: bigint;
  readonly logs: readonly { readonly blockNumber: string }[];
  readonly spanMax?: bigint;
  readonly receipts?: readonly { readonly transactionHash: string }[];
}): void {
  const { head, logs, spanMax = head + 1n, receipts = [] } = args;
  node.answer(({ method, params }): Reply => {
    if (method === "eth_call") return TRUE;
    if (method === "eth_getTransactionReceipt") {
      return { result: receipts.find((one) => one.transactionHash === params[0]) ?? null };
    }
    if (method === "eth_getBlockByNumber") {
      const [number] = params as readonly [`0x${string}`];
      const timestamp = `0x${(2n * BigInt(number)).toString(16)}`;
      return { result: { number, hash: HASH, parentHash: HASH, timestamp, logsBloom: BLOOM } };
    }
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

const LOCK = { deliveryId: ID, srcChain: 2, escrow: TO, seq: 0n };
const FOUND = { deliveryId: ID, commitment: HASH, to: TO, token: TOKEN, amount: 9n, txHash: HASH };

describe("a delivery", () => {
  test("is not searched for when the contract did not make it", async () => {
    node.answer(() => FALSE);
    expect(await open().findDelivery(LOCK)).toBeNull();
    expect(node.asked.map(({ method }) => method)).toEqual(["eth_call"]);
  });

  test("in the newest blocks is found in the first range", async () => {
    answerWith({ head: 1_000_000n, logs: [logAt(999_000n)] });
    expect(await open().findDelivery(LOCK)).toEqual({ ...FOUND, blockNumber: 999_000n });
    expect(rangesAsked()).toBe(1n);
  });

  test("in an old block is found in few ranges", async () => {
    answerWith({ head: 20_000_000n, logs: [logAt(3n)] });
    expect(await open().findDelivery(LOCK)).toEqual({ ...FOUND, blockNumber: 3n });
    expect(rangesAsked()).toBeLessThan(20n);
  });

  test.each([1n, 2n, 100n, 10_000n])(
    "is found on a node that limits ranges to %d blocks",
    async (spanMax) => {
      answerWith({ head: 50n, logs: [logAt(48n)], spanMax });
      expect(await open().findDelivery(LOCK)).toEqual({ ...FOUND, blockNumber: 48n });
    },
  );

  test("in the block of the contract's deployment is found, without queries before it", async () => {
    answerWith({ head: 100_000n, logs: [logAt(90_000n)] });
    expect(await open(90_000n).findDelivery(LOCK)).toEqual({ ...FOUND, blockNumber: 90_000n });
    const first = node.asked.at(-1)?.params[0];
    expect(first).toMatchObject({ fromBlock: "0x15f90" });
  });

  test("beyond the newest blocks is proved by the receipt of a hinted transaction [T148]", async () => {
    answerWith({ head: 20_000_000n, logs: [], spanMax: 10n, receipts: [receiptAt(3n)] });
    const found = await open().findDelivery(LOCK, "latest", [OTHER_HASH, TX_HASH]);
    expect(found).toEqual({ ...FOUND, blockNumber: 3n });
    expect(rangesAsked()).toBe(0n);
  });

  test("is not asked for by the transactions of another family of chains [T148]", async () => {
    answerWith({ head: 20_000_000n, logs: [], spanMax: 10n, receipts: [receiptAt(3n)] });
    const onSolana = toTxHash(`0x${"5a".repeat(64)}`);
    expect(await open().findDelivery(LOCK, "latest", [onSolana, TX_HASH])).not.toBeNull();
    const read = node.asked.filter(({ method }) => method === "eth_getTransactionReceipt");
    expect(read.map(({ params }) => params)).toEqual([[TX_HASH]]);
  });

  test.each([
    ["failed", receiptAt(3n, { status: "0x0" })],
    ["paid another lock", receiptAt(3n, {}, { topics: [DELIVERED, HASH, HASH, padAddress(TO)] })],
    ["emitted the event from another contract", receiptAt(3n, {}, { address: TO })],
  ])("is not proved by a hinted transaction that %s", async (_what, receipt) => {
    answerWith({ head: 50n, logs: [], receipts: [receipt] });
    expect(await open().findDelivery(LOCK, "latest", [TX_HASH])).toBe("unlocated");
  });

  test("beyond the reach of a node is unlocated, not missing", async () => {
    answerWith({ head: 20_000_000n, logs: [logAt(3n)], spanMax: 10n });
    expect(await open().findDelivery(LOCK)).toBe("unlocated");
    expect(rangesAsked()).toBeLessThan(30n);
  });

  test("that was made but has no event is unlocated, not missing", async () => {
    answerWith({ head: 50n, logs: [] });
    expect(await open().findDelivery(LOCK)).toBe("unlocated");
  });

  test.each([
    ["has the event of another id", [logAt(5n, { topics: [DELIVERED, HASH, HASH, HASH] })]],
    ["has the event of another contract", [logAt(5n, { address: TO })]],
    ["has an orphaned event", [logAt(5n, { removed: true })]],
  ])("that was made but %s is an error, not a missing delivery", async (_what, logs) => {
    answerWith({ head: 50n, logs });
    await expect(open().findDelivery(LOCK)).rejects.toMatchObject({ code: "RPC_UNAVAILABLE" });
  });

  test("is not searched for forever on a node that refuses every range", async () => {
    answerWith({ head: 20_000_000n, logs: [], spanMax: 0n });
    await expect(open().findDelivery(LOCK)).rejects.toMatchObject({ code: "RPC_UNAVAILABLE" });
    expect(rangesAsked()).toBeLessThan(20n);
  });
});

describe("the search for a payout in parts", () => {
  test("finds it in its blocks, however few the node gives per request", async () => {
    answerWith({ head: 20_000_000n, logs: [logAt(7_000_123n)], spanMax: 10n });
    const { payoutSearch } = open();
    const found = await payoutSearch?.findIn(LOCK, { from: 7_000_000n, to: 7_000_319n });
    expect(found).toEqual({ ...FOUND, blockNumber: 7_000_123n });
    expect(await payoutSearch?.findIn(LOCK, { from: 7_000_124n, to: 7_000_300n })).toBeNull();
  });

  test("refuses a part for which the node needs too many requests", async () => {
    answerWith({ head: 20_000_000n, logs: [], spanMax: 10n });
    const part = { from: 7_000_000n, to: 7_100_000n };
    await expect(open().payoutSearch?.findIn(LOCK, part)).rejects.toMatchObject({
      code: "RPC_UNAVAILABLE",
    });
    expect(rangesAsked()).toBeLessThan(100n);
  });

  test.each([
    ["between two blocks", 1_001n, 501n],
    ["of a block", 1_000n, 500n],
    ["before the contract", 1n, 90n],
    ["after the head", 9_000n, 1_001n],
  ])("begins at the first block at or after a time %s", async (_what, timeS, block) => {
    answerWith({ head: 1_000n, logs: [] });
    expect(await open(90n).payoutSearch?.findBlockAt(timeS)).toBe(block);
  });
});

describe("payouts in a range", () => {
  test("are listed completely, however few blocks the node gives per request [T315]", async () => {
    const logs = [logAt(7_000_003n), logAt(7_000_123n, { transactionHash: OTHER_HASH })];
    answerWith({ head: 20_000_000n, logs, spanMax: 10n });
    const { payoutSearch } = open();
    expect(await payoutSearch?.listIn({ from: 7_000_000n, to: 7_000_319n })).toEqual([
      { ...FOUND, blockNumber: 7_000_003n },
      { ...FOUND, blockNumber: 7_000_123n, txHash: OTHER_HASH },
    ]);
    expect(await payoutSearch?.listIn({ from: 7_000_004n, to: 7_000_122n })).toEqual([]);
    const wide = { from: 7_000_000n, to: 7_100_000n };
    await expect(payoutSearch?.listIn(wide)).rejects.toMatchObject({ code: "RPC_UNAVAILABLE" });
  });

  test("have the orders of the transaction that called the contract itself [T315]", async () => {
    const { payoutSearch, buildDeliver } = open();
    const orders = [orderOf(1n), orderOf(2n)];
    const padded = orders.map((order) => ({
      ...order,
      escrow: padAddress(order.escrow),
      srcToken: padAddress(order.srcToken),
    }));
    const [one, other] = orders.map((order) => buildDeliver(order, "0x51"));
    const many = encodeFunctionData({
      abi: deliveryAbi,
      functionName: "deliverMany",
      args: [
        orders.map((order) => ({ order: toOrder(order), signatures: "0x" as const })),
        100_000n,
      ],
    });
    const sent = (to: string | null, input = one?.data) =>
      node.answer(() => ({ result: { hash: HASH, to, input } }));
    sent(DELIVERY);
    expect(await payoutSearch?.listOrdered(TX_HASH)).toEqual([padded[0]]);
    sent(DELIVERY, other?.data);
    expect(await payoutSearch?.listOrdered(TX_HASH)).toEqual([padded[1]]);
    sent(DELIVERY, many);
    expect(await payoutSearch?.listOrdered(TX_HASH)).toEqual(padded);
    for (const to of [TOKEN, null]) {
      sent(to);
      expect(await payoutSearch?.listOrdered(TX_HASH)).toEqual([]);
    }
    sent(DELIVERY, "0x12345678");
    await expect(payoutSearch?.listOrdered(TX_HASH)).rejects.toMatchObject({
      code: "RPC_UNAVAILABLE",
    });
    node.answer(() => ({ result: null }));
    await expect(payoutSearch?.listOrdered(TX_HASH)).rejects.toMatchObject({
      details: { reason: "transaction unknown" },
    });
  });
});

/** Returns a payout as the contract takes it. */
function toOrder({ commitment: c, escrow, srcToken, ...order }: Payout) {
  return { c, ...order, escrow: padAddress(escrow), srcToken: padAddress(srcToken) };
}

function orderOf(seq: bigint): Payout {
  return {
    commitment: {
      integrator: HASH,
      userId: ID,
      destChain: 30,
      destWallet: padAddress(TO),
      destToken: padAddress(TOKEN),
      refundAuthority: HASH,
      maxFeeBps: 1,
      maxSlippageBps: 2,
      ...GOVERNED,
    },
    srcChain: 2,
    escrow: TO,
    srcToken: TOKEN,
    lockedAmount: 9n,
    minOut: 8n,
    seq,
    windowStart: 3n,
    amount: 9n,
  };
}

test("a claim stays provable behind a provider that gives ten blocks per request [T148]", async () => {
  // Three days of Arbitrum: the newest 16 requests reach back forty seconds.
  const head = 300_000_000n;
  const paidAt = head - 1_000_000n;
  answerWith({ head, logs: [logAt(paidAt)], receipts: [receiptAt(paidAt)] });
  const limits = { rangeBlocks: 10, ratePerSecond: null };
  const provider = await startProvider({
    upstream: node.rpcUrl,
    profile: "alchemy-like",
    ...limits,
  });
  try {
    const chain = open(0n, { rpcUrl: provider.url });
    const found = { ...FOUND, blockNumber: paidAt };
    expect(await chain.findDelivery(LOCK)).toBe("unlocated");
    expect(await chain.findDelivery(LOCK, "latest", [TX_HASH])).toEqual(found);
    const from = await chain.payoutSearch?.findBlockAt(2n * paidAt - 60n);
    if (from === undefined) throw new Error("expected a search in parts");
    expect(await chain.payoutSearch?.findIn(LOCK, { from, to: from + 319n })).toEqual(found);
  } finally {
    await provider.close();
  }
});
