/** Blocks that strangers filled with logs, from a node that would send all of them to a question without a filter. */
import type { ServerResponse } from "node:http";
import { toEventSelector } from "viem";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { connectChain } from "../../../test/evm/connect-chain.ts";
import {
  type Asked,
  type MalformedNode,
  type Reply,
  startMalformedNode,
} from "../../../test/evm/malformed-node.ts";
import { listTransfers } from "../../../test/support/read-block.ts";
import { NATIVE_TOKEN, padAddress, toEvmAddress, toHex32 } from "../../core/hex.ts";
import { createRpc } from "./rpc.ts";

const TOKEN = toEvmAddress(`0x${"70".repeat(20)}`);
const OURS = toEvmAddress(`0x${"0f".repeat(20)}`);
const FROM = toEvmAddress(`0x${"01".repeat(20)}`);
const WALLET = toEvmAddress(`0x${"02".repeat(20)}`);
const HASH = toHex32(`0x${"bb".repeat(32)}`);
const BLOCK = { number: 5n, hash: HASH, parentHash: toHex32(`0x${"ba".repeat(32)}`) };
const HEADER = {
  number: "0x5",
  hash: HASH,
  parentHash: BLOCK.parentHash,
  timestamp: "0x0",
  transactions: [],
};
const EMPTY_BLOOM = `0x${"0".repeat(512)}`;
const FULL_BLOOM = `0x${"f".repeat(512)}`;
const TRANSFER = toEventSelector("Transfer(address,address,uint256)");
const POLYGON = 137;
const MIB = 1024 * 1024;

const deposit = {
  address: TOKEN,
  topics: [TRANSFER, padAddress(FROM), padAddress(WALLET)],
  data: `0x${"7".padStart(64, "0")}`,
  blockHash: HASH,
  blockNumber: "0x5",
  transactionHash: `0x${"c1".repeat(32)}`,
  transactionIndex: "0x0",
  logIndex: "0x0",
};

let node: MalformedNode;
/** Answers of 100 MiB that the node began. */
let floods = 0;

beforeAll(async () => {
  node = await startMalformedNode();
});
afterAll(async () => {
  await node.stop();
});
beforeEach(() => {
  floods = 0;
});

/** Writes an answer of 100 MiB, until the client has enough. */
function flood(response: ServerResponse): void {
  floods += 1;
  const piece = Buffer.alloc(MIB, "0");
  let left = 100;
  const write = () => {
    while (left > 0 && !response.destroyed) {
      left -= 1;
      if (!response.write(piece)) return void response.once("drain", write);
    }
    response.end();
  };
  response.write('{"jsonrpc":"2.0","id":1,"result":"');
  write();
}

/** Answers as a node whose block has 100 MiB of receipts. `listed` are the answers to our filter, in turn. */
function answerFlooded(logsBloom: string, ...listed: readonly (readonly unknown[])[]): void {
  const left = [...listed];
  node.answer(({ method, params }: Asked): Reply => {
    if (method === "eth_getBlockByNumber") return { result: { ...HEADER, logsBloom } };
    if (method !== "eth_getLogs" || !isFiltered(params)) return flood;
    return { result: left.shift() ?? [] };
  });
}

function isFiltered([filter]: readonly unknown[]): boolean {
  const { blockHash, address, topics } = Object(filter);
  return blockHash === HASH && address.includes(TOKEN) && topics[0].length > 0;
}

const methods = () => node.asked.map(({ method }) => method);

describe("a full bloom beside 100 MiB of receipts [T131]", () => {
  test.each([
    ["tokens", [TOKEN]],
    ["tokens and the native coin", [TOKEN, NATIVE_TOKEN]],
  ])("costs our own question twice, for %s", async (_what, tokens) => {
    answerFlooded(FULL_BLOOM);
    expect(await listTransfers(connectChain(node, OURS), BLOCK, tokens)).toEqual([]);
    expect(methods()).toEqual(["eth_getBlockByNumber", "eth_getLogs", "eth_getLogs"]);
    expect(floods).toBe(0);
  });

  test("hides no deposit of the block", async () => {
    answerFlooded(FULL_BLOOM, [], [deposit]);
    const transfers = await listTransfers(connectChain(node, OURS), BLOCK, [TOKEN]);
    expect(transfers).toMatchObject([{ to: WALLET, amount: 7n }]);
    expect(floods).toBe(0);
  });

  test("would be refused if all receipts were requested", async () => {
    answerFlooded(FULL_BLOOM);
    const rpc = createRpc({ chainId: 2, rpcUrl: node.rpcUrl, timeoutMs: 10_000 });
    await expect(rpc.call("eth_getBlockReceipts", [HASH])).rejects.toMatchObject({
      details: { reason: "answer too large" },
    });
    expect(floods).toBe(1);
  });
});

describe("an empty bloom beside logs of ours, as Polygon has for state syncs [T131]", () => {
  const chain = () => connectChain(node, OURS, { evmChainId: POLYGON });

  test("hides no deposit", async () => {
    answerFlooded(EMPTY_BLOOM, [deposit]);
    expect(await listTransfers(chain(), BLOCK, [TOKEN])).toMatchObject([{ to: WALLET }]);
    expect(methods()).toEqual(["eth_getBlockByNumber", "eth_getLogs"]);
  });

  test("is no proof that a server without logs has all of them [T47]", async () => {
    answerFlooded(EMPTY_BLOOM, [], [deposit]);
    expect(await listTransfers(chain(), BLOCK, [TOKEN])).toMatchObject([{ to: WALLET }]);
    expect(floods).toBe(0);
  });
});
