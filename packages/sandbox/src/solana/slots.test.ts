/** Notices of slots over WebSocket. */
import { once } from "node:events";
import { afterEach, describe, expect, test } from "vitest";
import { WebSocket } from "ws";
import { createSolanaChain, type SolanaChain } from "./solana-chain.ts";

let chain: SolanaChain;
const sockets: WebSocket[] = [];

afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.terminate();
  await chain.close();
});

async function open() {
  const socket = new WebSocket(chain.url.replace(/^http/, "ws"));
  sockets.push(socket);
  await once(socket, "open");
  const read = async () => JSON.parse(String((await once(socket, "message"))[0]));
  const ask = async (method: string) => {
    socket.send(JSON.stringify({ jsonrpc: "2.0", id: 7, method }));
    return read();
  };
  return { socket, read, ask };
}

describe("slotSubscribe", () => {
  test("announces the slot that begins, the block before it and the final one", async () => {
    chain = await createSolanaChain();
    await chain.setLags({ confirmed: 1, finalized: 2 });
    await chain.tick(5);
    const { ask, read } = await open();
    expect(await ask("slotSubscribe")).toEqual({ jsonrpc: "2.0", id: 7, result: 0 });
    const slot = Number(await chain.tick());
    expect(await read()).toEqual({
      jsonrpc: "2.0",
      method: "slotNotification",
      params: { subscription: 0, result: { slot: slot + 1, parent: slot, root: slot - 2 } },
    });
    await chain.skipSlots(3);
    await chain.tick();
    expect((await read()).params.result).toMatchObject({ slot: slot + 5, parent: slot + 4 });
  });

  test("is the only method", async () => {
    chain = await createSolanaChain();
    const { ask } = await open();
    expect(await ask("getSlot")).toMatchObject({ id: 7, error: { code: -32601 } });
  });

  test("ends with the chain", async () => {
    chain = await createSolanaChain();
    const { socket } = await open();
    const closed = once(socket, "close");
    await chain.close();
    expect((await closed)[0]).toBe(1006);
    chain = await createSolanaChain();
  });
});
