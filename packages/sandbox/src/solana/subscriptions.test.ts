/** Subscriptions over WebSocket, as plain clients use them. */
import { once } from "node:events";
import {
  createSolanaRpcSubscriptions,
  generateKeyPairSigner,
  type KeyPairSigner,
  lamports,
} from "@solana/kit";
import { getTransferSolInstruction } from "@solana-program/system";
import { afterEach, describe, expect, test } from "vitest";
import { WebSocket } from "ws";
import { createSolanaChain, type SolanaChain } from "./solana-chain.ts";
import { connectWallet } from "./test-wallet.ts";

type Message = ReturnType<typeof JSON.parse>;

let chain: SolanaChain;
const sockets: WebSocket[] = [];

afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.terminate();
  await chain.close();
});

/** Opens a connection, by default where `@solana/web3.js` does: at the port after that of the RPC server. */
async function open(url = nextPortOf(chain.url)) {
  const socket = new WebSocket(url);
  sockets.push(socket);
  const waiting: ((message: Message) => void)[] = [];
  const arrived: Message[] = [];
  socket.on("message", (data) => {
    const message: Message = JSON.parse(String(data));
    const next = waiting.shift();
    if (next) next(message);
    else arrived.push(message);
  });
  await once(socket, "open");
  const read = (): Promise<Message> =>
    arrived.length > 0
      ? Promise.resolve(arrived.shift())
      : new Promise((resolve) => waiting.push(resolve));
  const ask = async (method: string, params: unknown[] = []) => {
    socket.send(JSON.stringify({ jsonrpc: "2.0", id: 7, method, params }));
    return read();
  };
  return { socket, read, ask, arrived };
}

function nextPortOf(url: string): string {
  const { hostname, port } = new URL(url);
  return `ws://${hostname}:${Number(port) + 1}`;
}

async function startWithPayer() {
  chain = await createSolanaChain();
  await chain.setLags({ confirmed: 1, finalized: 2 });
  const [payer, other] = await Promise.all([generateKeyPairSigner(), generateKeyPairSigner()]);
  await chain.airdrop({ to: payer.address, amount: 10_000_000_000n });
  const wallet = connectWallet(chain.url);
  const pay = (amount: bigint, to: KeyPairSigner = other) =>
    wallet.send(payer, [
      getTransferSolInstruction({
        source: payer,
        destination: to.address,
        amount: lamports(amount),
      }),
    ]);
  return { payer, other, pay };
}

describe("slotSubscribe", () => {
  test("announces the slot that begins, the block before it and the final one", async () => {
    chain = await createSolanaChain();
    await chain.setLags({ confirmed: 1, finalized: 2 });
    await chain.tick(5);
    const { ask, read } = await open();
    const { result: subscription } = await ask("slotSubscribe");
    const slot = Number(await chain.tick());
    expect(await read()).toEqual({
      jsonrpc: "2.0",
      method: "slotNotification",
      params: { subscription, result: { slot: slot + 1, parent: slot, root: slot - 2 } },
    });
    await chain.skipSlots(3);
    await chain.tick();
    expect((await read()).params.result).toMatchObject({ slot: slot + 5, parent: slot + 4 });
  });

  test("announces every block of several at once, and those after a fork", async () => {
    chain = await createSolanaChain();
    const { ask, read } = await open();
    await ask("slotSubscribe");
    const slot = Number(await chain.tick(3));
    const parents = [];
    for (let n = 0; n < 3; n += 1) parents.push((await read()).params.result.parent);
    expect(parents).toEqual([slot - 2, slot - 1, slot]);
    await chain.fork({ blocks: 1 });
    await chain.tick();
    expect((await read()).params.result.parent).toBeGreaterThan(slot);
  });

  test("is served at the RPC port and at the next one, where @solana/web3.js opens its socket", async () => {
    chain = await createSolanaChain();
    expect(chain.wsUrl).toBe(nextPortOf(chain.url));
    for (const url of [chain.url.replace("http", "ws"), chain.wsUrl]) {
      const { ask, read } = await open(url);
      await ask("slotSubscribe");
      await chain.tick();
      expect((await read()).method).toBe("slotNotification");
    }
  });
});

describe("signatureSubscribe", () => {
  test.each([
    ["processed", 0],
    ["confirmed", 1],
    ["finalized", 2],
  ] as const)("announces a transaction once, when it is %s", async (commitment, blocksOnTop) => {
    const { pay } = await startWithPayer();
    const signature = await pay(5_000_000n);
    const { ask, read, arrived } = await open();
    const { result: subscription } = await ask("signatureSubscribe", [signature, { commitment }]);
    for (let n = 0; n < blocksOnTop; n += 1) await chain.tick();
    expect(arrived).toEqual([]);
    const slot = Number(await chain.tick());
    expect(await read()).toEqual({
      jsonrpc: "2.0",
      method: "signatureNotification",
      params: {
        subscription,
        result: { context: { slot: slot - blocksOnTop }, value: { err: null } },
      },
    });
    expect((await ask("signatureUnsubscribe", [subscription])).error.code).toBe(-32602);
  });

  test("announces at once a transaction that has reached its level before", async () => {
    const { pay } = await startWithPayer();
    const signature = await pay(5_000_000n);
    await chain.tick(3);
    const { ask, read } = await open();
    await ask("signatureSubscribe", [signature]);
    expect((await read()).params.result.value).toEqual({ err: null });
  });
});

test("accountSubscribe announces changes of an account only", async () => {
  const { other, pay } = await startWithPayer();
  const { ask, read, arrived } = await open();
  await ask("accountSubscribe", [other.address, { commitment: "processed", encoding: "base64" }]);
  await chain.tick();
  await pay(2_000_000n);
  await chain.tick();
  expect((await read()).params.result.value).toMatchObject({ lamports: 2_000_000 });
  expect(arrived).toEqual([]);
});

test("logsSubscribe announces the logs of transactions that mention an address", async () => {
  const { other, pay } = await startWithPayer();
  const { ask, read, arrived } = await open();
  await ask("logsSubscribe", [{ mentions: [other.address] }, { commitment: "confirmed" }]);
  await pay(5_000_000n, await generateKeyPairSigner());
  const signature = await pay(6_000_000n);
  await chain.tick(2);
  const { value } = (await read()).params.result;
  expect(value).toMatchObject({ signature, err: null });
  expect(value.logs.join()).toContain("success");
  expect(arrived).toEqual([]);
});

test("the unmodified client follows a signature and the root", async () => {
  const { pay } = await startWithPayer();
  const signature = await pay(5_000_000n);
  const rpc = createSolanaRpcSubscriptions(chain.wsUrl);
  const abortSignal = AbortSignal.timeout(20_000);
  const roots = await rpc.rootNotifications().subscribe({ abortSignal });
  const seen = await rpc
    .signatureNotifications(signature, { commitment: "confirmed" })
    .subscribe({ abortSignal });
  await chain.tick(3);
  for await (const { value } of seen) {
    expect(value).toEqual({ err: null });
    break;
  }
  for await (const root of roots) {
    expect(typeof root).toBe("bigint");
    break;
  }
});

describe("a connection", () => {
  test("ends a subscription on request", async () => {
    chain = await createSolanaChain();
    const { ask, read } = await open();
    const { result: first } = await ask("slotSubscribe");
    const { result: second } = await ask("slotSubscribe");
    expect((await ask("slotUnsubscribe", [first])).result).toBe(true);
    await chain.tick();
    expect((await read()).params.subscription).toBe(second);
  });

  test("answers other methods with an error, and requests without an id not at all", async () => {
    chain = await createSolanaChain();
    const { ask, socket } = await open();
    socket.send(JSON.stringify({ jsonrpc: "2.0", method: "ping" }));
    expect(await ask("getSlot")).toMatchObject({ id: 7, error: { code: -32601 } });
    expect(await ask("logsSubscribe", ["some"])).toMatchObject({ error: { code: -32602 } });
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
