import { once } from "node:events";
import { describe, expect, test } from "vitest";
import { hex, useProviders } from "./test-node.ts";
import type { Provider } from "./provider.ts";

const { start, closing } = useProviders();

describe("WebSocket", () => {
  async function open(provider: Provider) {
    const socket = new WebSocket(provider.wsUrl);
    const messages: { id?: number; result?: unknown; params?: { result: { number: string } } }[] =
      [];
    let wake = () => {};
    socket.addEventListener("message", ({ data }) => {
      messages.push(JSON.parse(String(data)));
      wake();
    });
    await once(socket, "open");
    closing.push(async () => socket.close());
    const until = async (count: number) => {
      while (messages.length < count) {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
      return messages;
    };
    return { socket, messages, until };
  }

  test("newHeads are announced, each once, and calls are answered", async () => {
    const { provider, node } = await start();
    const { socket, until } = await open(provider);
    socket.send(JSON.stringify({ id: 1, method: "eth_subscribe", params: ["newHeads"] }));
    await until(2);
    node.head = 103;
    const messages = await until(5);
    expect(messages.slice(1).map(({ params }) => params?.result.number)).toEqual(
      [100, 101, 102, 103].map(hex),
    );
    socket.send(JSON.stringify({ id: 2, method: "eth_blockNumber", params: [] }));
    expect((await until(6))[5]).toMatchObject({ id: 2, result: hex(103) });
    expect(provider.stats().notifications).toBe(4);
  });

  test("notifications keep their order, whatever the jitter", async () => {
    const { provider, node } = await start({ jitterMs: 40, seed: 2 });
    const { socket, until } = await open(provider);
    socket.send(JSON.stringify({ id: 1, method: "eth_subscribe", params: ["newHeads"] }));
    await until(2);
    node.head = 110;
    const numbers = (await until(12)).slice(1).map(({ params }) => Number(params?.result.number));
    expect(numbers).toEqual(Array.from({ length: 11 }, (_, index) => 100 + index));
  });

  test("a silent socket accepts the subscription and notifies nothing", async () => {
    const { provider, node } = await start({ wsSilent: true });
    const { socket, until } = await open(provider);
    socket.send(JSON.stringify({ id: 1, method: "eth_subscribe", params: ["newHeads"] }));
    await until(1);
    node.head = 105;
    socket.send(JSON.stringify({ id: 2, method: "eth_blockNumber", params: [] }));
    expect((await until(2)).map(({ id }) => id)).toEqual([1, 2]);
  });
});
