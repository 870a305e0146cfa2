import { once } from "node:events";
import { hexToBytes, keccak256 } from "viem";
import { describe, expect, test } from "vitest";
import { spawnProvider } from "../spawn.ts";
import { useClosing } from "../test-node.ts";
import { startSyntheticChain, type SyntheticChainOptions } from "./chain.ts";
import { parseSyntheticOptions } from "./options.ts";
import { spawnSyntheticChain } from "./spawn.ts";

const closing = useClosing();

const TOKEN = "0x1111111111111111111111111111111111111111";
const WALLET = "0x2222222222222222222222222222222222222222";
const TRANSFER = "0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef";
const hex = (value: number) => `0x${value.toString(16)}` as const;
const topicOf = (address: string) => `0x${address.slice(2).padStart(64, "0")}`;

interface Log {
  readonly address: string;
  readonly topics: readonly string[];
  readonly data: string;
  readonly blockHash: string;
  readonly blockNumber: string;
  readonly transactionHash: string;
  readonly logIndex: string;
}

interface Block {
  readonly number: string;
  readonly hash: string;
  readonly parentHash: string;
  readonly timestamp: string;
  readonly logsBloom: `0x${string}`;
  readonly transactions: readonly {
    readonly hash: string;
    readonly to: string;
    readonly value: string;
  }[];
}

async function start(options: SyntheticChainOptions = {}) {
  const chain = await startSyntheticChain({ tokens: [TOKEN], head: 1000, ...options });
  closing.push(chain.close);
  return { chain, ...clientOf(chain.url) };
}

function clientOf(url: string) {
  const post = async (body: unknown) => {
    const response = await fetch(url, { method: "POST", body: JSON.stringify(body) });
    return response.text();
  };
  const send = async (method: string, ...params: readonly unknown[]) =>
    JSON.parse(await post({ jsonrpc: "2.0", id: 1, method, params }));
  const ask = async (method: string, ...params: readonly unknown[]) => {
    const { result, error } = await send(method, ...params);
    expect(error).toBeUndefined();
    return result;
  };
  return {
    post,
    send,
    ask,
    block: (tag: string, hydrated = false): Promise<Block> =>
      ask(tag.length === 66 ? "eth_getBlockByHash" : "eth_getBlockByNumber", tag, hydrated),
    logs: (filter: object): Promise<Log[]> => ask("eth_getLogs", filter),
  };
}

/** Reports whether a bloom contains a value. */
function bloomHas(bloom: `0x${string}`, value: `0x${string}`): boolean {
  const bytes = hexToBytes(bloom);
  const hash = hexToBytes(keccak256(value));
  return [0, 2, 4].every((at) => {
    const bit = (((hash[at] ?? 0) << 8) | (hash[at + 1] ?? 0)) & 2047;
    return ((bytes[255 - (bit >> 3)] ?? 0) & (1 << (bit & 7))) !== 0;
  });
}

describe("blocks", () => {
  test("have the size of real ones, are linked, and are the same by number and by hash", async () => {
    const { block, post } = await start();
    const found = await block(hex(900), true);
    expect(found.transactions).toHaveLength(150);
    expect(found.number).toBe(hex(900));
    expect(await block(found.hash, true)).toEqual(found);
    expect((await block(hex(899))).hash).toBe(found.parentHash);
    const text = await post({ id: 1, method: "eth_getBlockByNumber", params: [hex(900), true] });
    expect(text.length).toBeGreaterThan(100_000);
    const logs = await post({ id: 1, method: "eth_getLogs", params: [{ blockHash: found.hash }] });
    expect(logs.length).toBeGreaterThan(150_000);
  });

  test("are the same for the same seed and different for another", async () => {
    const hashes = await Promise.all(
      [1, 1, 2].map(async (seed) => (await start({ seed })).chain.hashAt(500)),
    );
    expect(hashes[0]).toBe(hashes[1]);
    expect(hashes[2]).not.toBe(hashes[0]);
  });

  test("have a bloom with every address and topic of their logs, and few others", async () => {
    const { block, logs } = await start({ transfersPerBlock: 20 });
    const { logsBloom, hash } = await block(hex(700));
    for (const log of await logs({ blockHash: hash })) {
      // CAST: addresses and topics are hex.
      for (const value of [log.address, ...log.topics] as `0x${string}`[]) {
        expect(bloomHas(logsBloom, value)).toBe(true);
      }
    }
    expect(bloomHas(logsBloom, WALLET)).toBe(false);
  });

  test("the head, final blocks and unknown blocks follow the tags", async () => {
    const { chain, block, send } = await start({ finalDepth: 10 });
    expect((await block("latest")).number).toBe(hex(1000));
    expect((await block("finalized")).number).toBe(hex(990));
    expect((await send("eth_getBlockByNumber", hex(1001), false)).result).toBeNull();
    const future = await send("eth_getLogs", { fromBlock: hex(999), toBlock: hex(1001) });
    expect(future.error.code).toBe(-32602);
    chain.setHead(1001);
    expect((await block(hex(1001))).parentHash).toBe(chain.hashAt(1000));
  });
});

describe("logs and deposits", () => {
  const deposits = [
    { block: 400, to: WALLET, token: TOKEN, amount: 5_000_000n },
    { block: 800, to: WALLET, token: TOKEN, amount: 7n },
    { block: 800, to: WALLET, token: "native", amount: 10n ** 18n },
  ];

  test("a range is the logs of its blocks, in order, and a filter by token, signature and account holds", async () => {
    const { logs } = await start({ deposits, transfersPerBlock: 6, transactionsPerBlock: 3 });
    const range = await logs({ fromBlock: hex(799), toBlock: hex(801) });
    const each = await Promise.all(
      [799, 800, 801].map((height) => logs({ fromBlock: hex(height), toBlock: hex(height) })),
    );
    expect(range).toEqual(each.flat());
    expect(range).toHaveLength(19);
    const to = { topics: [TRANSFER, null, [topicOf(WALLET)]] };
    const ours = await logs({ address: [TOKEN], fromBlock: "0x0", toBlock: "latest", ...to });
    expect(ours.map(({ blockNumber, data }) => [Number(blockNumber), BigInt(data)])).toEqual([
      [400, 5_000_000n],
      [800, 7n],
    ]);
    expect(await logs({ address: WALLET, fromBlock: hex(790), toBlock: hex(810) })).toEqual([]);
    expect(
      await logs({ topics: [topicOf(WALLET)], fromBlock: hex(790), toBlock: hex(810) }),
    ).toEqual([]);
  });

  test("a range of 900,000 blocks filtered by account takes less than a second", async () => {
    const { logs } = await start({ head: 1_000_000, deposits });
    const started = performance.now();
    const to = { topics: [TRANSFER, null, [topicOf(WALLET)]] };
    expect(await logs({ fromBlock: "0x0", toBlock: hex(900_000), ...to })).toHaveLength(2);
    expect(performance.now() - started).toBeLessThan(1000);
  });

  test("transfers of listed tokens have the configured share", async () => {
    const { logs } = await start({ listedShare: 0.25, transfersPerBlock: 400 });
    const listed = await logs({ address: [TOKEN], fromBlock: hex(10), toBlock: hex(10) });
    expect(listed.length).toBeGreaterThan(50);
    expect(listed.length).toBeLessThan(150);
  });

  test("a deposit is a transaction with a receipt, and the native coin is its value", async () => {
    const { block, ask, logs } = await start({ deposits });
    const found = await block(hex(800), true);
    const [paid] = found.transactions.filter(({ to }) => to === WALLET);
    expect(paid?.value).toBe(hex(1e18));
    expect(await ask("eth_getTransactionReceipt", paid?.hash)).toMatchObject({
      status: "0x1",
      blockHash: found.hash,
      logs: [],
    });
    const [log] = (await logs({ blockHash: found.hash })).slice(-1);
    const receipt = await ask("eth_getTransactionReceipt", log?.transactionHash);
    expect(receipt.logs).toEqual([log]);
    const receipts: { logs: Log[] }[] = await ask("eth_getBlockReceipts", found.hash);
    expect(receipts.flatMap((one) => one.logs)).toEqual(await logs({ blockHash: found.hash }));
  });

  test("balances are the deposits up to the block", async () => {
    const { chain, ask } = await start({ deposits });
    const call = { to: TOKEN, data: `0x70a08231${topicOf(WALLET).slice(2)}` };
    const balances = [
      await ask("eth_call", call, hex(399)),
      await ask("eth_call", call, hex(400)),
      await ask("eth_call", call, { blockHash: chain.hashAt(800), requireCanonical: true }),
      await ask("eth_getBalance", WALLET, hex(799)),
      await ask("eth_getBalance", WALLET, "latest"),
    ].map(BigInt);
    expect(balances).toEqual([0n, 5_000_000n, 5_000_007n, 0n, 10n ** 18n]);
    const block = chain.deposit({ to: WALLET, token: TOKEN, amount: 3n });
    chain.setHead(block);
    expect(BigInt(await ask("eth_call", call, "latest"))).toBe(5_000_010n);
  });
});

describe("reorgs", () => {
  test("at a head the newest blocks are replaced, and the old ones are unknown", async () => {
    const { chain, block, send } = await start({ reorgAt: [{ at: 1002, depth: 3 }] });
    chain.setHead(1001);
    const before = [999, 1000, 1001].map(chain.hashAt);
    chain.setHead(1002);
    const after = [999, 1000, 1001].map(chain.hashAt);
    expect(after[0]).toBe(before[0]);
    expect(after.slice(1).filter((hash) => before.includes(hash))).toEqual([]);
    expect((await block(hex(1000))).parentHash).toBe(before[0]);
    expect((await block(hex(1002))).parentHash).toBe(after[2]);
    const orphan = before[1];
    expect((await send("eth_getBlockByHash", orphan, false)).result).toBeNull();
    expect((await send("eth_getLogs", { blockHash: orphan })).error).toEqual({
      code: -32000,
      message: "unknown block",
    });
  });

  test("a control with an invalid value is refused by name", async () => {
    const { send } = await start();
    expect((await send("synthetic_reorg", "2")).error).toEqual({
      code: -32602,
      message: 'depth "2": expected an integer from 0',
    });
    expect((await send("synthetic_deposit", { to: WALLET })).error.code).toBe(-32602);
  });

  test("a deposit of one fork vanishes with it", async () => {
    const deposit = { block: 1000, to: WALLET, token: TOKEN, amount: 9n, fork: 0 };
    const { chain, logs } = await start({ deposits: [deposit] });
    const ours = () =>
      logs({ fromBlock: hex(1000), toBlock: hex(1000), topics: [null, null, topicOf(WALLET)] });
    expect(await ours()).toHaveLength(1);
    chain.reorg(2);
    expect(await ours()).toHaveLength(0);
  });
});

test("a batch is answered in order, with an error for each call that fails", async () => {
  const { post } = await start();
  const answers = JSON.parse(
    await post([
      { id: "a", method: "eth_chainId", params: [] },
      { id: 2, method: "eth_sendRawTransaction", params: [] },
      { id: 3, method: "eth_blockNumber", params: [] },
    ]),
  );
  expect(answers).toEqual([
    { jsonrpc: "2.0", id: "a", result: hex(31_337) },
    {
      jsonrpc: "2.0",
      id: 2,
      error: {
        code: -32601,
        message: "the method eth_sendRawTransaction does not exist/is not available",
      },
    },
    { jsonrpc: "2.0", id: 3, result: hex(1000) },
  ]);
});

test("newHeads announces each block of a chain with a pace", async () => {
  const { chain } = await start({ blocksPerSecond: 50 });
  const socket = new WebSocket(chain.wsUrl);
  closing.push(async () => socket.close());
  const numbers: number[] = [];
  const enough = new Promise<void>((resolve) => {
    socket.addEventListener("message", ({ data }) => {
      const { params } = JSON.parse(String(data));
      if (params !== undefined) numbers.push(Number(params.result.number));
      if (numbers.length === 5) resolve();
    });
  });
  await once(socket, "open");
  socket.send(JSON.stringify({ id: 1, method: "eth_subscribe", params: ["newHeads"] }));
  await enough;
  expect(numbers.slice(0, 5).map((number) => number - (numbers[0] ?? 0))).toEqual([0, 1, 2, 3, 4]);
});

test("a chain behind a provider, each in its own process, takes deposits", async () => {
  const chain = await spawnSyntheticChain({ tokens: [TOKEN], head: 50, transfersPerBlock: 4 });
  closing.push(chain.close);
  const provider = await spawnProvider({ upstream: chain.url, profile: "alchemy-like" });
  closing.push(provider.close);
  const block = await chain.deposit({ to: WALLET, token: TOKEN, amount: 12n });
  await chain.setHead(block);
  const { logs } = clientOf(provider.url);
  const filter = {
    fromBlock: hex(block),
    toBlock: "latest",
    topics: [null, null, topicOf(WALLET)],
  };
  expect((await logs(filter)).map(({ data }) => BigInt(data))).toEqual([12n]);
  expect((await provider.stats()).byMethod).toEqual({ eth_getLogs: 1 });
  await provider.set({ rangeBlocks: 0 });
  const refused = await clientOf(provider.url).send("eth_getLogs", filter);
  expect(refused.error.code).toBe(-32600);
  await expect(provider.set({ reorgDepth: -1 })).rejects.toThrow("reorgDepth -1");
});

test("options as JSON are checked by name", () => {
  expect(
    parseSyntheticOptions(
      '{"head":5,"deposits":[{"block":1,"to":"' + WALLET + '","token":"native","amount":"7"}]}',
    ),
  ).toEqual({ head: 5, deposits: [{ block: 1, to: WALLET, token: "native", amount: 7n }] });
  expect(() => parseSyntheticOptions('{"heads":5}')).toThrow("heads 5");
  expect(() => parseSyntheticOptions('{"deposits":[{"block":1}]}')).toThrow("deposit");
  expect(() => parseSyntheticOptions("x")).toThrow("expected the options as a JSON object");
});
