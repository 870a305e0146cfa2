/** Sections of blocks, from a node that serves a short chain over HTTP and can misbehave. */
import { toEventSelector } from "viem";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { connectChain } from "../../../test/evm/connect-chain.ts";
import { type MalformedNode, startMalformedNode } from "../../../test/evm/malformed-node.ts";
import { NATIVE_TOKEN, padAddress, toEvmAddress, toHex32 } from "../../core/hex.ts";
import type { Chain, Section, SectionRequest } from "../port/index.ts";

const TOKEN = toEvmAddress(`0x${"70".repeat(20)}`);
const PAYER = toEvmAddress(`0x${"01".repeat(20)}`);
const OURS = toEvmAddress(`0x${"02".repeat(20)}`);
const STRANGER = toEvmAddress(`0x${"03".repeat(20)}`);
const CONTRACT = toEvmAddress(`0x${"0f".repeat(20)}`);
const TRANSFER = toEventSelector("Transfer(address,address,uint256)");

let node: MalformedNode;
let chain: Chain;

beforeAll(async () => {
  node = await startMalformedNode();
});
afterAll(async () => {
  await node.stop();
});

const hashOf = (number: number, fork = "a") =>
  toHex32(`0x${number.toString(16).padStart(63, "0")}${fork}`);
const quantity = (value: number) => `0x${value.toString(16)}`;

/** The chain of the node: heights up to `head`, and the accounts that each block pays. */
let head = 0;
let pays: Map<number, readonly string[]>;
/** The fork that the node follows from a height on. */
let fork: { from: number; name: string } | null;
let logFork: string | null;
/** Most blocks of a search. */
let rangeMax: number;

beforeEach(() => {
  // It remembers the node's limits.
  chain = connectChain(node, CONTRACT);
  head = 100;
  pays = new Map();
  fork = null;
  logFork = null;
  rangeMax = 1_000;
  node.answer(({ method, params: [given] }) => {
    if (method === "eth_getBlockByNumber") return { result: blockAt(Number(given)) };
    if (method !== "eth_getLogs") return { error: { code: -32601, message: "no such method" } };
    // CAST: the filter as the adapter sends it.
    const filter = given as { blockHash?: string; fromBlock?: string; toBlock?: string };
    const blocks = Number(filter.toBlock) - Number(filter.fromBlock) + 1;
    if (blocks > rangeMax) return { error: { code: -32005, message: "range too wide" } };
    const heights = [...pays.keys()].filter((number) =>
      filter.blockHash === undefined
        ? number >= Number(filter.fromBlock) && number <= Number(filter.toBlock)
        : filter.blockHash === blockAt(number)?.hash,
    );
    return { result: heights.sort((one, other) => one - other).flatMap(logsAt) };
  });
});

function nameAt(number: number): string {
  return fork && number >= fork.from ? fork.name : "a";
}

function blockAt(number: number) {
  if (number > head) return null;
  return {
    number: quantity(number),
    hash: hashOf(number, nameAt(number)),
    parentHash: hashOf(number - 1, nameAt(number - 1)),
    timestamp: quantity(1_700_000_000 + number),
    transactions: [],
  };
}

function logsAt(number: number) {
  return (pays.get(number) ?? []).map((to, index) => ({
    address: TOKEN,
    topics: [TRANSFER, padAddress(PAYER), padAddress(toEvmAddress(to))],
    data: `0x${(7).toString(16).padStart(64, "0")}`,
    blockHash: hashOf(number, logFork ?? nameAt(number)),
    blockNumber: quantity(number),
    transactionHash: `0x${number.toString(16).padStart(64, "c")}`,
    transactionIndex: "0x0",
    logIndex: quantity(index),
    removed: false,
  }));
}

const read = (request: Partial<SectionRequest>) =>
  chain.readSection({
    after: 10n,
    max: 4,
    isFinal: false,
    isOld: false,
    tokens: [TOKEN],
    choose: async (accounts) => new Set(accounts.filter((one) => one === OURS)),
    ...request,
  });

/** Returns the heights of a section, each with the number of transfers. */
function heightsOf(section: Section | null): [number, number][] | undefined {
  return section?.blocks.map(({ number, transfers }) => [Number(number), transfers.length]);
}

describe("new blocks", () => {
  test("are all of them, in two requests each, with the transfers to our wallets", async () => {
    pays.set(12, [OURS, STRANGER, OURS]);
    pays.set(13, [STRANGER]);
    expect(heightsOf(await read({}))).toEqual([
      [11, 0],
      [12, 2],
      [13, 0],
      [14, 0],
    ]);
    expect(node.asked).toHaveLength(8);
  });

  test("end at the head; one request finds that there is none", async () => {
    head = 12;
    expect(heightsOf(await read({}))).toEqual([
      [11, 0],
      [12, 0],
    ]);
    const before = node.asked.length;
    expect(await read({ after: 12n, max: 1 })).toBeNull();
    expect(node.asked.length - before).toBe(1);
  });

  test("end where the chain moved to another fork while they were read [T44]", async () => {
    // Answers the headers of another fork from block 13 on, whose parent is not block 12 of this one.
    node.answer(({ method, params: [given] }) => {
      if (method !== "eth_getBlockByNumber") return { result: [] };
      const number = Number(given);
      const name = number >= 13 ? "b" : "a";
      const parent = number >= 13 ? "b" : "a";
      const hash = hashOf(number, name);
      return { result: { ...blockAt(number), hash, parentHash: hashOf(number - 1, parent) } };
    });
    expect(heightsOf(await read({}))).toEqual([
      [11, 0],
      [12, 0],
    ]);
  });

  test("of which there are many are read in parts, the logs of one while headers of another are awaited", async () => {
    const logsAsked = Promise.withResolvers<void>();
    node.answer(async ({ method, params: [given] }) => {
      if (method === "eth_getLogs") {
        logsAsked.resolve();
        return { result: [] };
      }
      // Header 27 is the first of the second part.
      if (Number(given) === 27) await logsAsked.promise;
      return { result: blockAt(Number(given)) };
    });
    const section = await read({ max: 20 });
    expect(section?.blocks.map(({ number }) => Number(number))).toEqual(
      Array.from({ length: 20 }, (_, index) => 11 + index),
    );
  });

  test("end at the first part that is cut, also when later ones are whole [T44]", async () => {
    node.answer(({ method, params: [given] }) => {
      if (method === "eth_getLogs") return { result: [] };
      return { result: Number(given) === 20 ? null : blockAt(Number(given)) };
    });
    const section = await read({ max: 40 });
    expect(section?.blocks.map(({ number }) => Number(number))).toEqual(
      Array.from({ length: 9 }, (_, index) => 11 + index),
    );
  });

  test("name the parent of the first, which the caller compares", async () => {
    expect((await read({}))?.parentHash).toBe(hashOf(10));
  });
});

describe("final blocks", () => {
  const final = { isFinal: true, max: 50 } as const;

  test("need one search and the headers of both ends, however many they are", async () => {
    expect(heightsOf(await read(final))).toEqual([[60, 0]]);
    expect(node.asked.map(({ method }) => method).sort()).toEqual([
      "eth_getBlockByNumber",
      "eth_getBlockByNumber",
      "eth_getLogs",
    ]);
  });

  test("include the header of each block that pays ours, at the edges of the range too", async () => {
    for (const number of [10, 11, 30, 60, 61]) pays.set(number, [OURS]);
    pays.set(40, [STRANGER]);
    const section = await read(final);
    expect(heightsOf(section)).toEqual([
      [11, 1],
      [30, 1],
      [60, 1],
    ]);
    expect(section?.parentHash).toBe(hashOf(10));
    expect(node.asked).toHaveLength(4);
  });

  test("two ranges in a row leave no gap and repeat nothing", async () => {
    for (let number = 11; number <= 60; number++) pays.set(number, [OURS]);
    const [one, other] = [
      await read({ ...final, max: 20 }),
      await read({ ...final, after: 30n, max: 30 }),
    ];
    const heights = [...(heightsOf(one) ?? []), ...(heightsOf(other) ?? [])].map(([at]) => at);
    expect(heights).toEqual(Array.from({ length: 50 }, (_, index) => 11 + index));
    expect(other?.parentHash).toBe(one?.blocks.at(-1)?.hash);
  });

  test("are all of them where the node takes only a few in one search", async () => {
    for (let number = 11; number <= 60; number++) pays.set(number, [OURS]);
    rangeMax = 7;
    const heights = heightsOf(await read(final))?.map(([at]) => at);
    expect(heights).toEqual(Array.from({ length: 50 }, (_, index) => 11 + index));
  });

  test("are refused when a log is of another fork than the header [T48]", async () => {
    pays.set(30, [OURS]);
    logFork = "b";
    await expect(read(final)).rejects.toMatchObject({ code: "RPC_UNAVAILABLE" });
  });

  test("are refused when the node lacks the last one [T47]", async () => {
    head = 40;
    await expect(read(final)).rejects.toMatchObject({ code: "RPC_UNAVAILABLE" });
  });

  test("are read with their transactions where the native coin is listed", async () => {
    pays.set(30, [OURS]);
    const tokens = [TOKEN, NATIVE_TOKEN];
    expect(heightsOf(await read({ ...final, tokens }))).toEqual([
      [30, 1],
      [60, 0],
    ]);
    // One request per block, and one search.
    expect(node.asked).toHaveLength(51);
  });
});
