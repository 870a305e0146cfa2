/** Logs of a block that a node answers wrongly. */
import { listTransfers } from "../../../test/support/read-block.ts";
import { toEventSelector } from "viem";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { padAddress, toEvmAddress, toHex32 } from "../../core/hex.ts";
import type { Chain } from "../port/index.ts";
import { OUTFLOW_TOPICS } from "./outflows.ts";
import { connectChain } from "../../../test/evm/connect-chain.ts";
import { type MalformedNode, startMalformedNode } from "../../../test/evm/malformed-node.ts";

const TOKEN = toEvmAddress(`0x${"70".repeat(20)}`);
const FROM = toEvmAddress(`0x${"01".repeat(20)}`);
const TO = toEvmAddress(`0x${"02".repeat(20)}`);
const HASH = toHex32(`0x${"bb".repeat(32)}`);
const BLOCK = { number: 5n, hash: HASH, parentHash: toHex32(`0x${"ba".repeat(32)}`) };
const SIGNATURE = toEventSelector("Transfer(address,address,uint256)");
const APPROVAL = toEventSelector("Approval(address,address,uint256)");
const EMPTY_BLOOM = `0x${"0".repeat(512)}`;
const FULL_BLOOM = `0x${"f".repeat(512)}`;
/** The bloom of a log with another topic, by another address. */
const OTHER_BLOOM = `0x1${"0".repeat(511)}`;
const OURS = toEvmAddress(`0x${"0f".repeat(20)}`);
const HEADER = { number: "0x5", hash: HASH, parentHash: BLOCK.parentHash, timestamp: "0x0" };

let node: MalformedNode;
let chain: Chain;

beforeAll(async () => {
  node = await startMalformedNode();
  chain = connectChain(node, OURS);
});
afterAll(async () => {
  await node.stop();
});

function logOf(change: Readonly<Record<string, unknown>> = {}) {
  return {
    address: TOKEN,
    topics: [SIGNATURE, padAddress(FROM), padAddress(TO)],
    data: amountOf(7n),
    blockHash: HASH,
    blockNumber: "0x5",
    transactionHash: `0x${"c1".repeat(32)}`,
    transactionIndex: "0x0",
    logIndex: "0x0",
    removed: false,
    ...change,
  };
}

function amountOf(amount: bigint): string {
  return `0x${amount.toString(16).padStart(64, "0")}`;
}

async function listOf(logs: readonly unknown[]) {
  node.answer(({ method }) => ({ result: method === "eth_getLogs" ? logs : HEADER }));
  return listTransfers(chain, BLOCK, [TOKEN]);
}

describe("transfers", () => {
  test("are requested by block hash", async () => {
    expect(await listOf([logOf()])).toMatchObject([{ to: TO, amount: 7n, ordinal: 0 }]);
    expect(node.asked).toEqual([
      { method: "eth_getBlockByNumber", params: ["0x5", false] },
      {
        method: "eth_getLogs",
        params: [
          {
            blockHash: HASH,
            address: [TOKEN, OURS],
            topics: [[SIGNATURE, ...OUTFLOW_TOPICS]],
          },
        ],
      },
    ]);
  });

  test("are in block order, each numbered within its transaction [T53]", async () => {
    const other = `0x${"c2".repeat(32)}`;
    const logs = [
      logOf({ logIndex: "0x9" }),
      logOf({ logIndex: "0x3", transactionHash: other }),
      logOf({ logIndex: "0x2" }),
    ];
    const transfers = await listOf(logs);
    expect(transfers.map(({ logIndex, ordinal }) => [logIndex, ordinal])).toEqual([
      [2, 0],
      [3, 0],
      [9, 1],
    ]);
  });

  test("are numbered before any is omitted", async () => {
    const logs = [
      logOf({ data: amountOf(0n) }),
      logOf({ logIndex: "0x1", topics: [SIGNATURE] }),
      logOf({ logIndex: "0x2", topics: [SIGNATURE, HASH, padAddress(TO)] }),
      logOf({ logIndex: "0x3", data: "0x" }),
      logOf({ logIndex: "0x4", data: `${amountOf(7n)}00` }),
      logOf({ logIndex: "0x5" }),
    ];
    expect(await listOf(logs)).toMatchObject([{ logIndex: 5, ordinal: 5 }]);
  });

  test("omit logs that the node marks as removed [T54]", async () => {
    const removed = logOf({ removed: true });
    expect(await listOf([removed, logOf({ logIndex: "0x1" })])).toMatchObject([
      { logIndex: 1, ordinal: 0 },
    ]);
  });

  test.each([
    ["logs of another block", [logOf({ blockHash: BLOCK.parentHash })]],
    ["logs of another height", [logOf({ blockNumber: "0x6" })]],
    ["logs of a token that was not asked for", [logOf({ address: FROM })]],
    ["logs of another event", [logOf({ topics: [APPROVAL, padAddress(FROM), padAddress(TO)] })]],
    ["the same log twice", [logOf(), logOf()]],
  ])("fail when the node answers with %s [T48]", async (_what, logs) => {
    await expect(listOf(logs)).rejects.toMatchObject({ code: "RPC_UNAVAILABLE" });
  });
});

describe("an empty list of logs", () => {
  /** Answers the questions for logs in turn; the last answer stands. */
  function answerWith(block: unknown, ...answers: readonly (readonly unknown[])[]) {
    const left = [...answers];
    let last: readonly unknown[] = [];
    node.answer(({ method }) => {
      if (method === "eth_getBlockByNumber") return { result: block };
      last = left.shift() ?? last;
      return { result: last };
    });
    return listTransfers(chain, BLOCK, [TOKEN]);
  }

  const logRequests = () => node.asked.filter(({ method }) => method === "eth_getLogs");

  test("is accepted when the header's bloom is empty", async () => {
    expect(await answerWith({ ...HEADER, logsBloom: EMPTY_BLOOM })).toEqual([]);
    expect(await answerWith(HEADER)).toEqual([]);
  });

  test("is accepted when the header's bloom lacks our tokens and contracts", async () => {
    expect(await answerWith({ ...HEADER, logsBloom: OTHER_BLOOM })).toEqual([]);
    expect(node.asked).toHaveLength(2);
  });

  test("is asked for again, under the same filter, when the bloom may hold such logs [T47]", async () => {
    const block = { ...HEADER, logsBloom: FULL_BLOOM };
    expect(await answerWith(block, [], [logOf()])).toMatchObject([{ to: TO, amount: 7n }]);
    const [first, second] = logRequests();
    expect(second).toEqual(first);
  });

  test("is accepted when asked for twice: strangers can fill the bloom of any block [T131]", async () => {
    expect(await answerWith({ ...HEADER, logsBloom: FULL_BLOOM })).toEqual([]);
    expect(logRequests()).toHaveLength(2);
  });

  test.each([
    ["the node lacks the block", null],
    ["the node has another block", { ...HEADER, number: "0x6" }],
  ])("is rejected when %s [T47]", async (_what, block) => {
    await expect(answerWith(block)).rejects.toMatchObject({ code: "RPC_UNAVAILABLE" });
  });
});

describe("a block with more logs than the node answers at once [T131]", () => {
  const OTHER_TOKEN = toEvmAddress(`0x${"71".repeat(20)}`);
  const hashOf = (index: number) => `0x${index.toString(16).padStart(64, "0")}`;
  /** 3,000 transfers of dust in 30 transactions, and a deposit in the last. */
  const flood = Array.from({ length: 3_001 }, (_, index) => {
    const txIndex = Math.min(29, Math.floor(index / 100));
    return logOf({
      logIndex: `0x${index.toString(16)}`,
      transactionIndex: `0x${txIndex.toString(16)}`,
      transactionHash: hashOf(txIndex),
      topics: [SIGNATURE, padAddress(FROM), padAddress(index === 3_000 ? TO : OURS)],
    });
  });
  const deposit = logOf({ address: OTHER_TOKEN, logIndex: "0xbb9" });

  function answerFlood(error: { readonly code: number; readonly message: string }) {
    node.answer(({ method, params: [given] }) => {
      if (method === "eth_getBlockByNumber") return { result: HEADER };
      if (method === "eth_getBlockByHash") {
        return {
          result: { transactions: Array.from({ length: 30 }, (_, index) => hashOf(index)) },
        };
      }
      if (method === "eth_getTransactionReceipt") {
        const logs = flood.filter(({ transactionHash }) => transactionHash === given);
        const place = { blockHash: HASH, blockNumber: "0x5", transactionIndex: "0x0" };
        return { result: { ...place, transactionHash: given, logs } };
      }
      // CAST: the filter as the adapter sends it.
      const { address } = given as { readonly address: readonly string[] };
      if (address.includes(TOKEN)) return { error };
      return { result: address.includes(OTHER_TOKEN) ? [deposit] : [] };
    });
    return listTransfers(chain, BLOCK, [TOKEN, OTHER_TOKEN]);
  }

  test.each([
    ["the number of results", { code: -32005, message: "query returned more than 10000 results" }],
    ["an unknown reason", { code: -32000, message: "the archive is on holiday" }],
  ])("is read in parts after a refusal for %s", async (_what, error) => {
    const transfers = await answerFlood(error);
    expect(transfers).toHaveLength(3_002);
    expect(transfers.at(-2)).toMatchObject({ to: TO, logIndex: 3_000 });
    expect(transfers.at(-1)).toMatchObject({ token: OTHER_TOKEN, logIndex: 3_001 });
  });
});
