import { describe, expect, test } from "vitest";
import { ask, hashOf, hex, post, useProviders } from "./test-node.ts";

const { start } = useProviders();

describe("limits", () => {
  test("a range above the limit is refused in the provider's words, one at the limit is not", async () => {
    const { provider, node } = await start({ profile: "alchemy-like", rangeBlocks: 10 });
    const logs = (fromBlock: number, toBlock: number) =>
      ask(provider, "eth_getLogs", [{ fromBlock: hex(fromBlock), toBlock: hex(toBlock) }]);
    expect((await logs(1, 10)).result).toHaveLength(10);
    node.seen.length = 0;
    expect(await logs(1, 11)).toEqual({
      status: 400,
      result: undefined,
      error: {
        code: -32600,
        message:
          "You can make eth_getLogs requests with up to a 10 block range. Based on your parameters, this block range should work: [0x1, 0xa]",
      },
    });
    expect(node.seen).toEqual([]);
    expect(provider.stats().refusals).toEqual({ "alchemy.range": 1 });
  });

  test("too many results are refused with the range that fits", async () => {
    const { provider } = await start({ profile: "infura-like", results: 5 });
    const refused = await ask(provider, "eth_getLogs", [{ fromBlock: "0x1", toBlock: "0x9" }]);
    expect(refused.error).toEqual({
      code: -32005,
      message: "query returned more than 5 results. Try with this block range [0x1, 0x5].",
      data: { from: "0x1", limit: 5, to: "0x5" },
    });
    const fits = await ask(provider, "eth_getLogs", [{ fromBlock: "0x1", toBlock: "0x5" }]);
    expect(fits.result).toHaveLength(5);
  });

  test("a large answer is refused", async () => {
    const { provider } = await start({ bodyBytes: 500 });
    const logs = (to: number) => [{ fromBlock: "0x1", toBlock: hex(to) }];
    expect((await ask(provider, "eth_getLogs", logs(2))).result).toHaveLength(2);
    expect((await ask(provider, "eth_getLogs", logs(90))).error.code).toBe(-32003);
  });

  test("requests above the rate get 429 with Retry-After, and each item of a batch counts", async () => {
    const { provider } = await start({ profile: "infura-like", ratePerSecond: 4 });
    const call = { jsonrpc: "2.0", id: 1, method: "eth_blockNumber", params: [] };
    expect((await post(provider, [call, call, call])).status).toBe(200);
    const refused = await post(provider, [call, call, call]);
    expect(refused.status).toBe(429);
    expect(refused.headers.get("retry-after")).toBe("1");
    expect(JSON.parse(refused.text).error.message).toBe("project ID request rate exceeded");
    const { byMethod, requests, messages } = provider.stats();
    expect({ byMethod, requests, messages }).toEqual({
      byMethod: { eth_blockNumber: 6 },
      requests: 6,
      messages: 2,
    });
  });

  test("the rate refusal of quicknode-like has no envelope", async () => {
    const { provider } = await start({ profile: "quicknode-like", ratePerSecond: 1 });
    await ask(provider, "eth_blockNumber");
    const refused = await post(provider, { id: 1, method: "eth_blockNumber" });
    expect(JSON.parse(refused.text)).toEqual({
      code: -32007,
      message:
        "1/second request limit reached - reduce calls per second or upgrade your account at quicknode.com",
    });
  });

  test("a batch above the limit is refused whole", async () => {
    const { provider, node } = await start({ profile: "drpc-like" });
    const call = (id: number) => ({ jsonrpc: "2.0", id, method: "eth_blockNumber", params: [] });
    expect(JSON.parse((await post(provider, [call(1), call(2), call(3)])).text)).toHaveLength(3);
    node.seen.length = 0;
    const refused = await post(provider, [call(1), call(2), call(3), call(4)]);
    expect(refused.status).toBe(500);
    expect(
      JSON.parse(refused.text).map(({ error }: { error: { code: number } }) => error.code),
    ).toEqual([31, 31, 31, 31]);
    expect(node.seen).toEqual([]);
  });

  test("a batch that is too large is refused in the form of each node", async () => {
    const call = (id: number) => ({ jsonrpc: "2.0", id, method: "eth_blockNumber", params: [] });
    const refusalOf = async (profile: "geth-like" | "erigon-like") => {
      const { provider } = await start({ profile, batchItems: 1 });
      return JSON.parse((await post(provider, [call(1), call(2)])).text);
    };
    expect(await refusalOf("geth-like")).toMatchObject([{ id: 1, error: { code: -32600 } }]);
    expect(await refusalOf("erigon-like")).toMatchObject({
      id: null,
      error: { message: "batch limit 1 exceeded: 2 requests given" },
    });
  });

  test("a spent plan refuses every request until it is renewed", async () => {
    const { provider } = await start({ profile: "alchemy-like", quotaRequests: 2 });
    const statuses: number[] = [];
    for (let index = 0; index < 4; index += 1) {
      statuses.push((await ask(provider, "eth_blockNumber")).status);
    }
    expect(statuses).toEqual([200, 200, 403, 403]);
    provider.set({ quotaRequests: null });
    expect((await ask(provider, "eth_blockNumber")).status).toBe(200);
  });

  test("missing methods, logs without an address and pruned state are refused", async () => {
    const { provider } = await start({ profile: "publicnode-like", stateBlocks: 20 });
    const codes = [
      await ask(provider, "debug_traceBlockByHash", [hashOf(1)]),
      await ask(provider, "eth_getLogs", [{ fromBlock: "0x1", toBlock: "0x2" }]),
      await ask(provider, "eth_getBalance", [hashOf(1).slice(0, 42), hex(80)]),
    ].map(({ error }) => error.code);
    expect(codes).toEqual([-32601, -32701, -32602]);
    expect((await ask(provider, "eth_getBalance", ["0x", hex(81)])).error).toBeUndefined();
  });
});

describe("lagging replicas", () => {
  /** One replica, two blocks behind. */
  const behind = { replicas: 1, lagBlocks: 2 } as const;

  test("know no block above their head, by number, by hash or by tag", async () => {
    const { provider } = await start(behind);
    expect((await ask(provider, "eth_blockNumber")).result).toBe(hex(98));
    expect((await ask(provider, "eth_getBlockByNumber", ["latest", false])).result.number).toBe(
      hex(98),
    );
    expect((await ask(provider, "eth_getBlockByNumber", ["finalized", false])).result.number).toBe(
      hex(88),
    );
    expect((await ask(provider, "eth_getBlockByNumber", [hex(99), false])).result).toBeNull();
    expect((await ask(provider, "eth_getBlockByHash", [hashOf(99), false])).result).toBeNull();
    expect((await ask(provider, "eth_getBlockByHash", [hashOf(98), false])).result.number).toBe(
      hex(98),
    );
  });

  test("answer logs of an unknown block with an error or with an empty list, as the provider does", async () => {
    const { provider } = await start(behind);
    const logs = () => ask(provider, "eth_getLogs", [{ blockHash: hashOf(99) }]);
    expect((await logs()).error).toEqual({ code: -32000, message: "unknown block" });
    provider.set({ emptyForUnknownBlock: true });
    expect((await logs()).result).toEqual([]);
    const known = await ask(provider, "eth_getLogs", [{ blockHash: hashOf(98) }]);
    expect(known.result).toHaveLength(1);
  });

  test("cut a range at their head silently where the provider does", async () => {
    const { provider } = await start({ ...behind, profile: "ankr-like" });
    const logs = [{ fromBlock: hex(97), toBlock: hex(100) }];
    expect((await ask(provider, "eth_getLogs", logs)).result).toHaveLength(2);
    provider.set({ profile: "geth-like" });
    expect((await ask(provider, "eth_getLogs", logs)).error.code).toBe(-32602);
  });

  test("differ between requests", async () => {
    const { provider } = await start({ replicas: 3, lagBlocks: 2, seed: 5 });
    const heads = new Set<string>();
    for (let index = 0; index < 30; index += 1) {
      heads.add((await ask(provider, "eth_blockNumber")).result);
    }
    expect(heads).toEqual(new Set([hex(100), hex(99), hex(98)]));
  });
});

test("settings of a running provider change over HTTP, and an invalid one is refused by name", async () => {
  const { provider } = await start();
  const change = async (settings: object) => {
    const response = await fetch(`${provider.url}/settings`, {
      method: "POST",
      body: JSON.stringify(settings),
    });
    const body: unknown = await response.json();
    return { status: response.status, body };
  };
  expect(await change({ rangeBlocks: 3 })).toMatchObject({ status: 200, body: { rangeBlocks: 3 } });
  const logs = await ask(provider, "eth_getLogs", [{ fromBlock: "0x1", toBlock: "0x4" }]);
  expect(logs.error.code).toBe(-32602);
  expect(await change({ rangeBlock: 3 })).toEqual({
    status: 400,
    body: { error: "rangeBlock 3: expected a setting of the provider" },
  });
  const stats: unknown = await (await fetch(`${provider.url}/stats`)).json();
  expect(stats).toMatchObject({ byMethod: { eth_getLogs: 1 } });
});
