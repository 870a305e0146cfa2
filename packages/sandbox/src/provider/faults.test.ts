import { describe, expect, test } from "vitest";
import { ask, hashOf, hex, post, useProviders } from "./test-node.ts";

const { start } = useProviders();

describe("faults", () => {
  test("latency delays each answer, and requests wait side by side", async () => {
    const { provider } = await start({ latencyMs: 60 });
    const started = performance.now();
    await Promise.all(Array.from({ length: 20 }, () => ask(provider, "eth_blockNumber")));
    const elapsed = performance.now() - started;
    expect(elapsed).toBeGreaterThanOrEqual(58);
    expect(elapsed).toBeLessThan(1000);
    expect(provider.stats().concurrentMax).toBeGreaterThan(10);
  });

  test("connections are dropped and errors are HTML with their probabilities, the same for a seed", async () => {
    const play = async () => {
      const { provider } = await start({ drop: 0.3, htmlErrors: 0.3, seed: 9 });
      const outcomes: string[] = [];
      for (let index = 0; index < 100; index += 1) {
        const body = JSON.stringify({ id: 1, method: "eth_blockNumber" });
        const response = await fetch(provider.url, { method: "POST", body }).catch(() => undefined);
        const text = await response?.text().catch(() => "cut");
        outcomes.push(
          response === undefined ? "dropped" : `${response.status} ${text?.slice(0, 6)}`,
        );
      }
      return outcomes;
    };
    const first = await play();
    expect(new Set(first)).toEqual(
      new Set(["dropped", "200 cut", '200 {"json', "502 <html>", "503 <html>", "504 <html>"]),
    );
    expect(await play()).toEqual(first);
  });

  test("a stalled request is never answered, and its connection stays open", async () => {
    const { provider } = await start({ stall: 1 });
    const body = JSON.stringify({ id: 1, method: "eth_blockNumber" });
    const signal = AbortSignal.timeout(100);
    await expect(fetch(provider.url, { method: "POST", body, signal })).rejects.toThrow("timeout");
    expect(provider.stats().stalled).toBe(1);
  });

  test("a new connection takes its round trips once", async () => {
    const { provider } = await start({ latencyMs: 60, connectRoundTrips: 10 });
    const elapsed: number[] = [];
    for (let index = 0; index < 5; index += 1) {
      const started = performance.now();
      await ask(provider, "eth_blockNumber");
      elapsed.push(performance.now() - started);
    }
    const { connections } = provider.stats();
    expect(connections).toBeLessThan(5);
    expect(elapsed.filter((ms) => ms >= 650)).toHaveLength(connections);
  });

  test("a reorg changes the hashes of blocks that are not final, as a chain, and ends", async () => {
    const { provider, node } = await start({ reorg: 1, reorgDepth: 3, seed: 3 });
    const chain = async () => {
      const numbers = [97, 98, 99, 100];
      const call = (id: number) => ({
        id,
        method: "eth_getBlockByNumber",
        params: [hex(id), false],
      });
      const blocks: { result: { hash: string; parentHash: string } }[] = JSON.parse(
        (await post(provider, numbers.map(call))).text,
      );
      return blocks.map(({ result }) => result);
    };
    const forked = await chain();
    expect(forked.map(({ hash }) => hash)).not.toEqual([97, 98, 99, 100].map(hashOf));
    expect(forked.slice(1).map(({ parentHash }) => parentHash)).toEqual(
      forked.slice(0, -1).map(({ hash }) => hash),
    );
    const tip = forked[3]?.hash;
    const byHash = await ask(provider, "eth_getBlockByHash", [tip, false]);
    expect(byHash.result.hash).toBe(tip);
    expect((await ask(provider, "eth_getBlockByHash", [hashOf(100), false])).result).toBeNull();
    provider.set({ reorg: 0 });
    node.final = 100;
    expect((await chain()).map(({ hash }) => hash)).toEqual([97, 98, 99, 100].map(hashOf));
    expect(provider.stats().reorgs).toBe(2);
  });

  test("answers are compressed if the client accepts it", async () => {
    const { provider } = await start({ gzip: true });
    const answer = await post(provider, { id: 1, method: "eth_blockNumber" });
    expect(answer.headers.get("content-encoding")).toBe("gzip");
    expect(JSON.parse(answer.text).result).toBe(hex(100));
  });
});
