/** Ranges of logs on a real HTTP server with limits, and answers that do not match the question. */
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { toEvmAddress, toHex32 } from "../../core/hex.ts";
import {
  type MalformedNode,
  type Reply,
  startMalformedNode,
} from "../../../test/evm/malformed-node.ts";
import { createLogRange, listLogsInRange, type LogQuery } from "./log-range.ts";
import { createRpc, type Rpc } from "./rpc.ts";

const TOKEN = toEvmAddress(`0x${"aa".repeat(20)}`);
const OTHER = toEvmAddress(`0x${"bb".repeat(20)}`);
const TRANSFER = toHex32(`0x${"dd".repeat(32)}`);
const word = (value: bigint) => toHex32(`0x${value.toString(16).padStart(64, "0")}`);

let node: MalformedNode;
let rpc: Rpc;

beforeEach(async () => {
  node = await startMalformedNode();
  rpc = createRpc({ chainId: 2, rpcUrl: node.rpcUrl, timeoutMs: 2_000 });
});
afterEach(async () => {
  await node.stop();
});

interface Block {
  readonly from: bigint;
  readonly to: bigint;
}

/** Answers a range with a limit of its own, or with the logs. */
function answerRanges(answer: (range: Block) => Reply): void {
  node.answer(({ params: [filter] }) => {
    // CAST: the requests of this file.
    const { fromBlock, toBlock } = filter as { fromBlock: string; toBlock: string };
    return answer({ from: BigInt(fromBlock), to: BigInt(toBlock) });
  });
}

function logAt(block: bigint, given: object = {}) {
  return {
    address: TOKEN,
    topics: [TRANSFER],
    data: "0x",
    blockHash: word(block),
    blockNumber: `0x${block.toString(16)}`,
    transactionHash: word(block),
    transactionIndex: "0x0",
    logIndex: "0x0",
    ...given,
  };
}

const refused = (message: string, code = -32000): Reply => ({ error: { code, message } });
const QUERY: LogQuery = { from: 100n, to: 1_099n, address: [TOKEN], topics: [TRANSFER] };
const read = (
  query: Partial<LogQuery> = {},
  range = createLogRange({ first: 1_000n, most: 5_000n }),
) => listLogsInRange(rpc, { ...QUERY, ...query }, range);

describe("a range", () => {
  test("is read with one request, its logs in the order of the chain", async () => {
    answerRanges(() => ({
      result: [logAt(300n, { logIndex: "0x2" }), logAt(300n, { logIndex: "0x1" }), logAt(200n)],
    }));
    const { logs, through } = await read();
    expect(logs.map((log) => [log.blockNumber, log.logIndex])).toEqual([
      [200n, 0],
      [300n, 1],
      [300n, 2],
    ]);
    expect(through).toBe(1_099n);
    expect(node.asked).toHaveLength(1);
  });

  test("is halved after an unknown error, and the half is remembered", async () => {
    const range = createLogRange({ first: 1_000n, most: 5_000n });
    answerRanges(({ from, to }) =>
      to - from >= 300n ? refused("no, thank you") : { result: [logAt(from)] },
    );
    expect(await read({}, range)).toMatchObject({ through: 349n });
    expect(node.asked).toHaveLength(3);
    expect(await read({ from: 350n }, range)).toMatchObject({ through: 599n });
    expect(node.asked).toHaveLength(4);
  });

  test("becomes the one that the node suggests", async () => {
    answerRanges(({ from, to }) =>
      to - from >= 64n
        ? refused("query returned more than 10000 results. Try with this block range [0x64, 0x83].")
        : { result: [] },
    );
    expect(await read()).toEqual({ logs: [], through: 131n });
    expect(node.asked).toHaveLength(2);
  });

  test("is halved when the suggestion is not less", async () => {
    answerRanges(({ from, to }) =>
      to - from >= 500n ? refused("exceed maximum block range: 50000") : { result: [] },
    );
    expect(await read()).toEqual({ logs: [], through: 599n });
  });

  test.each(["header not found", "missing trie node", "the method eth_getLogs is not available"])(
    "is not halved after %s",
    async (message) => {
      answerRanges(() => refused(message));
      await expect(read()).rejects.toMatchObject({ code: "RPC_UNAVAILABLE" });
      expect(node.asked).toHaveLength(1);
    },
  );

  test("of one block that is refused is unavailable, with a reason of ours", async () => {
    answerRanges(() => refused("query returned more than 10000 results", -32005));
    await expect(read({ to: 107n })).rejects.toMatchObject({
      code: "RPC_UNAVAILABLE",
      details: { reason: "too many results" },
    });
    expect(node.asked).toHaveLength(4);
  });
});

describe("the remembered range", () => {
  const accept = (range: ReturnType<typeof createLogRange>, times: number) => {
    for (let index = 0; index < times; index++) range.accepted(range.now());
    return range.now();
  };

  test("doubles until the first refusal, up to its limit", () => {
    const range = createLogRange({ first: 100n, most: 1_000n });
    expect(accept(range, 1)).toBe(200n);
    expect(accept(range, 10)).toBe(1_000n);
  });

  test("grows slowly after a refusal", () => {
    const range = createLogRange({ first: 1_000n, most: 10_000n });
    range.refused(1_000n);
    expect(accept(range, 7)).toBe(500n);
    expect(accept(range, 1)).toBe(625n);
  });

  test("does not grow by requests of fewer blocks", () => {
    const range = createLogRange({ first: 100n, most: 1_000n });
    for (let index = 0; index < 50; index++) range.accepted(10n);
    expect(range.now()).toBe(100n);
  });

  test("is not widened by refusals of wider requests that were open meanwhile", () => {
    const range = createLogRange({ first: 1_000n, most: 1_000n });
    range.refused(1_000n, 50n);
    range.refused(1_000n);
    expect(range.now()).toBe(50n);
  });
});

describe("an answer with", () => {
  test.each<[string, object[], string]>([
    ["a log before the range", [logAt(99n)], "logs nobody asked for"],
    ["a log after the range", [logAt(1_100n)], "logs nobody asked for"],
    ["a log of another contract", [logAt(200n, { address: OTHER })], "logs nobody asked for"],
    ["a log of another event", [logAt(200n, { topics: [word(1n)] })], "logs nobody asked for"],
    ["a log without topics", [logAt(200n, { topics: [] })], "logs nobody asked for"],
    ["a log twice", [logAt(200n), logAt(200n)], "duplicate logs"],
    ["an orphaned log", [logAt(200n, { removed: true })], "removed logs"],
    [
      "logs of two forks",
      [logAt(200n), logAt(200n, { logIndex: "0x1", blockHash: word(9n) })],
      "logs of two forks",
    ],
    ["a log without a block", [logAt(200n, { blockHash: null })], "malformed answer"],
  ])("%s is rejected", async (_what, result, reason) => {
    answerRanges(() => ({ result }));
    await expect(read()).rejects.toMatchObject({
      code: "RPC_UNAVAILABLE",
      details: { reason },
    });
  });
});
