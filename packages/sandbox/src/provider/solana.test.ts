import { once } from "node:events";
import { expect, test } from "vitest";
import { createSolanaChain } from "../solana/solana-chain.ts";
import { startProvider } from "./provider.ts";
import type { ProviderOptions } from "./settings.ts";
import { useClosing } from "./test-node.ts";

const closing = useClosing();

async function start(options: Omit<ProviderOptions, "upstream"> = {}) {
  const chain = await createSolanaChain();
  closing.push(chain.close);
  const provider = await startProvider({ upstream: chain.url, profile: "helius-like", ...options });
  closing.push(provider.close);
  const ask = async (method: string, ...params: readonly unknown[]) => {
    const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params });
    const response = await fetch(provider.url, { method: "POST", body });
    return JSON.parse(await response.text());
  };
  return { chain, provider, ask };
}

test("a replica that is two slots behind knows no newer slot", async () => {
  const { chain, ask } = await start({ replicas: 1, lagBlocks: 2 });
  await chain.tick(10);
  const processed = { commitment: "processed" };
  const { result: slot } = await ask("getSlot", processed);
  const newest = slot + 2;
  expect(await ask("getBlock", newest, { commitment: "confirmed" })).toMatchObject({
    error: { code: -32004, message: `Block not available for slot ${newest}` },
  });
  const { result: slots } = await ask("getBlocks", slot - 5, newest, { commitment: "confirmed" });
  expect(slots.length).toBeGreaterThan(0);
  expect(slots.filter((one: number) => one > slot)).toEqual([]);
  expect((await ask("getBlock", slots[0], { commitment: "confirmed" })).result.parentSlot).toBe(
    slots[0] - 1,
  );
});

test("the rate is refused in the provider's words", async () => {
  const { ask, provider } = await start({ ratePerSecond: 1 });
  await ask("getSlot");
  expect(await ask("getSlot")).toMatchObject({ error: { code: -32429, message: "rate limited" } });
  expect(provider.stats().refusals).toEqual({ "helius.rate": 1 });
});

test("slotSubscribe announces each slot once", async () => {
  const { chain, provider } = await start();
  const socket = new WebSocket(provider.wsUrl);
  closing.push(async () => socket.close());
  const slots: number[] = [];
  let wake = () => {};
  socket.addEventListener("message", ({ data }) => {
    const { params } = JSON.parse(String(data));
    if (params !== undefined) slots.push(params.result.slot);
    wake();
  });
  const until = async (count: number) => {
    while (slots.length < count) {
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    }
  };
  await once(socket, "open");
  socket.send(JSON.stringify({ id: 1, method: "slotSubscribe", params: [] }));
  await until(1);
  await chain.tick(3);
  await until(4);
  expect(slots.map((slot) => slot - (slots[0] ?? 0))).toEqual([0, 1, 2, 3]);
});

test("reorgs are refused, with the control to use instead", async () => {
  const { provider } = await start();
  expect(() => provider.set({ reorg: 0.1 })).toThrow("use the control fork of the Solana chain");
});
