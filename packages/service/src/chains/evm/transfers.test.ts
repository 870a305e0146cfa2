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
  function answerWith(block: unknown, allLogs: readonly unknown[] = []) {
    node.answer(({ method, params: [filter] }) => {
      if (method === "eth_getBlockByNumber") return { result: block };
      const isFiltered = typeof filter === "object" && filter !== null && "topics" in filter;
      return { result: isFiltered ? [] : allLogs };
    });
    return listTransfers(chain, BLOCK, [TOKEN]);
  }

  test("is accepted when the header's bloom is empty", async () => {
    expect(await answerWith({ ...HEADER, logsBloom: EMPTY_BLOOM })).toEqual([]);
    expect(await answerWith(HEADER)).toEqual([]);
  });

  test("is accepted when the header's bloom lacks our tokens and contracts", async () => {
    expect(await answerWith({ ...HEADER, logsBloom: OTHER_BLOOM })).toEqual([]);
    expect(node.asked).toHaveLength(2);
  });

  test("is accepted when the header's bloom comes from other logs", async () => {
    const others = [logOf({ address: FROM })];
    expect(await answerWith({ ...HEADER, logsBloom: FULL_BLOOM }, others)).toEqual([]);
  });

  test.each([
    ["the node lacks the block", null, []],
    ["the node has another block", { ...HEADER, number: "0x6" }, []],
    ["the header's bloom has such logs", { ...HEADER, logsBloom: FULL_BLOOM }, []],
    ["the block has logs of our tokens", { ...HEADER, logsBloom: FULL_BLOOM }, [logOf()]],
  ])("is rejected when %s [T47]", async (_what, block, allLogs) => {
    await expect(answerWith(block, allLogs)).rejects.toMatchObject({ code: "RPC_UNAVAILABLE" });
  });

  describe("of a node that refuses a search without an address", () => {
    function answerWithReceipts(logs: readonly unknown[], blockHash: string = BLOCK.hash) {
      node.answer(({ method, params: [filter] }) => {
        if (method === "eth_getBlockByNumber") {
          return { result: { ...HEADER, logsBloom: FULL_BLOOM } };
        }
        if (method === "eth_getBlockReceipts")
          return { result: [{ blockHash, transactionIndex: "0x0", logs }] };
        const isFiltered = typeof filter === "object" && filter !== null && "topics" in filter;
        // As PublicNode says it.
        const message = "Please specify an address in your request";
        return isFiltered ? { result: [] } : { error: { code: -32701, message } };
      });
      return listTransfers(chain, BLOCK, [TOKEN]);
    }

    test("is accepted when the block's receipts have other logs", async () => {
      expect(await answerWithReceipts([logOf({ address: FROM })])).toEqual([]);
    });

    test.each([
      ["have logs of our tokens", [logOf()], BLOCK.hash],
      ["have no logs", [], BLOCK.hash],
      ["are of another block", [logOf({ address: FROM })], BLOCK.parentHash],
    ])("is rejected when the block's receipts %s [T47]", async (_what, logs, blockHash) => {
      await expect(answerWithReceipts(logs, blockHash)).rejects.toMatchObject({
        code: "RPC_UNAVAILABLE",
      });
    });
  });
});
