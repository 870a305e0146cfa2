/** Subscriptions to new blocks over real WebSockets, with servers that drop, stay silent and send garbage. */
import { once } from "node:events";
import { createServer } from "node:http";
import { setTimeout as delay } from "node:timers/promises";
import { afterEach, describe, expect, test, vi } from "vitest";
import { type WebSocket, WebSocketServer } from "ws";
import { createCountingRandom } from "../../../test/support/doubles.ts";
import type { Clock } from "../../core/ports.ts";
import { type HeadSubscription, NEW_HEADS, slotsAt } from "./push-messages.ts";
import { type Ended, type Push, startPush } from "./push.ts";

const SECRET = "canary-of-a-socket";
/** Times faster than the time of the subscription's limits: ten seconds are one, which a busy machine keeps. */
const HASTE = 10;

const closers: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).toReversed()) await close();
});

/** A clock on which the limits of seconds are reached in tenths. */
function createHastyClock(): Clock & { readonly slept: number[] } {
  const startMs = performance.now();
  const slept: number[] = [];
  return {
    slept,
    now: () => (performance.now() - startMs) * HASTE,
    async sleep(ms, signal) {
      slept.push(ms);
      if (signal?.aborted) return;
      await delay(ms / HASTE, undefined, signal ? { signal } : {}).catch(() => undefined);
    },
  };
}

interface Connection {
  readonly socket: WebSocket;
  /** Requests received. */
  readonly received: string[];
}

/** A node that answers each connection as told. */
async function startNode(serve: (connection: Connection, index: number) => void) {
  const server = new WebSocketServer({ port: 0, host: "127.0.0.1" });
  await once(server, "listening");
  closers.push(() => {
    for (const socket of server.clients) socket.terminate();
    server.close();
  });
  const connections: Connection[] = [];
  server.on("connection", (socket) => {
    const connection = { socket, received: [] as string[] };
    connections.push(connection);
    socket.on("error", () => socket.terminate());
    socket.on("message", (data) => connection.received.push(String(data)));
    serve(connection, connections.length - 1);
  });
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("no port was given");
  return { port: address.port, connections };
}

/** Answers the subscription, and calls `after` then. */
const subscribed =
  (after: (send: (message: unknown) => void, connection: Connection) => void = () => undefined) =>
  (connection: Connection) => {
    const { socket } = connection;
    const send = (message: unknown) => socket.send(JSON.stringify(message));
    socket.once("message", () => {
      send({ jsonrpc: "2.0", id: 1, result: "0xabc" });
      after(send, connection);
    });
  };

const head = (number: number, subscription = "0xabc") => ({
  jsonrpc: "2.0",
  method: "eth_subscription",
  params: { subscription, result: { number: `0x${number.toString(16)}`, hash: "0x00" } },
});

function listen(port: number, subscription: HeadSubscription = NEW_HEADS) {
  return listenAt(`ws://127.0.0.1:${port}/v2/${SECRET}`, subscription);
}

function listenAt(wsUrl: string, subscription: HeadSubscription = NEW_HEADS) {
  const heads: bigint[] = [];
  const ended: Ended[] = [];
  let connected = 0;
  const clock = createHastyClock();
  const push: Push = startPush({
    wsUrl,
    subscription,
    clock,
    random: createCountingRandom(),
    onHead: (height) => heads.push(height),
    onConnected: () => {
      connected += 1;
    },
    onDisconnected: (end) => ended.push(end),
  });
  closers.push(() => push.stop());
  return { push, heads, ended, clock, countConnected: () => connected };
}

const until = (holds: () => void) => vi.waitFor(holds, { timeout: 20_000, interval: 5 });

describe("a subscription", () => {
  test("reports the heights of new blocks of an EVM chain", async () => {
    const { port, connections } = await startNode(
      subscribed((send) => [7, 8].forEach((n) => send(head(n)))),
    );
    const { heads, ended } = listen(port);
    await until(() => expect(heads).toEqual([7n, 8n]));
    expect(connections[0]?.received.map((text) => JSON.parse(text))).toEqual([
      { jsonrpc: "2.0", id: 1, method: "eth_subscribe", params: ["newHeads"] },
    ]);
    expect(ended).toEqual([]);
  });

  test.each([
    ["confirmed", 10n],
    ["finalized", 3n],
  ] as const)("reports the %s slot of Solana", async (level, height) => {
    const result = { parent: 11, root: 3, slot: 12 };
    const notice = {
      jsonrpc: "2.0",
      method: "slotNotification",
      params: { subscription: 0, result },
    };
    const { port } = await startNode(({ socket }) =>
      socket.once("message", () => {
        socket.send(JSON.stringify({ jsonrpc: "2.0", result: 0, id: 1 }));
        socket.send(JSON.stringify(notice));
      }),
    );
    const { heads } = listen(port, slotsAt(level));
    await until(() => expect(heads).toEqual([height]));
  });

  test("ignores notices of other subscriptions and messages of other kinds", async () => {
    const { port } = await startNode(
      subscribed((send) => {
        send(head(9, "0xdef"));
        send({ jsonrpc: "2.0", method: "ping", params: [] });
        send(head(10));
      }),
    );
    const { heads, ended } = listen(port);
    await until(() => expect(heads).toEqual([10n]));
    expect(ended).toEqual([]);
  });

  test("stops at once, also while it connects and while it waits", async () => {
    const { port } = await startNode(subscribed());
    const live = listen(port);
    await until(() => expect(live.countConnected()).toBe(1));
    await live.push.stop();
    expect(live.ended).toEqual([{ reason: "stopped", wasConnected: true, isStopped: true }]);
    const connecting = listen(port);
    await connecting.push.stop();
    expect(connecting.ended).toEqual([{ reason: "stopped", wasConnected: false, isStopped: true }]);
    const waiting = listen(1);
    await until(() => expect(waiting.ended).toHaveLength(3));
    await waiting.push.stop();
  });
});

describe("a broken connection", () => {
  test("is opened again after a drop, and notices continue", async () => {
    const { port, connections } = await startNode((connection, index) =>
      subscribed((send) => {
        send(head(index));
        if (index < 3) setTimeout(() => connection.socket.terminate(), 5);
      })(connection),
    );
    const { heads, ended, countConnected } = listen(port);
    await until(() => expect(heads).toEqual([0n, 1n, 2n, 3n]));
    expect(countConnected()).toBe(4);
    expect(ended).toEqual(
      Array.from({ length: 3 }, () => ({
        reason: "closed (1006)",
        wasConnected: true,
        isStopped: false,
      })),
    );
    expect(connections).toHaveLength(4);
  });

  test.each([
    ["text that is not JSON", "<html>"],
    ["a notice without a height", JSON.stringify(head(1)).replace('"0x1"', "1")],
    [
      "a notice with an endless height",
      JSON.stringify(head(1)).replace("0x1", `0x${"1".repeat(99)}`),
    ],
    ["bytes", Buffer.from(JSON.stringify(head(1)))],
  ])("is dropped at %s", async (_, garbage) => {
    const { port } = await startNode(subscribed((__, { socket }) => socket.send(garbage)));
    const { heads, ended } = listen(port);
    await until(() => expect(ended.length).toBeGreaterThan(1));
    expect(new Set(ended.map(({ reason }) => reason))).toEqual(new Set(["malformed message"]));
    expect(heads).toEqual([]);
  });

  test("is dropped at a message of more than 256 KiB, which is not read", async () => {
    const { port } = await startNode(
      subscribed((send) => send({ ...head(1), padding: "x".repeat(300_000) })),
    );
    const { heads, ended } = listen(port);
    await until(() => expect(ended.length).toBeGreaterThan(0));
    expect(ended[0]?.reason).toContain("WS_ERR_UNSUPPORTED_MESSAGE_LENGTH");
    expect(heads).toEqual([]);
  });

  test("is dropped at a flood of messages", async () => {
    const { port } = await startNode(
      subscribed((send) => {
        for (let number = 0; number < 3_000; number++) send(head(number));
      }),
    );
    const { heads, ended } = listen(port);
    await until(() => expect(ended[0]?.reason).toBe("too many messages"));
    expect(heads.length).toBeLessThan(2_000);
  });

  test("is dropped when the node answers no ping", async () => {
    const { port } = await startNode((connection) => {
      subscribed()(connection);
      connection.socket.pong = () => undefined;
    });
    const { ended } = listen(port);
    await until(() => expect(ended[0]?.reason).toBe("no answer to a ping"));
  });

  test("is dropped when it brings no notice for a minute, though the node answers pings", async () => {
    const { port } = await startNode(subscribed());
    const { ended, clock } = listen(port);
    await until(() => expect(ended[0]?.reason).toBe("no notice in time"));
    expect(clock.now()).toBeGreaterThan(60_000);
  });

  test("is dropped when the subscription is not answered, or refused", async () => {
    const silent = await startNode(() => undefined);
    const unanswered = listen(silent.port);
    await until(() => expect(unanswered.ended[0]?.reason).toBe("no subscription in time"));
    const error = { code: -32601, message: "notifications not supported" };
    const refusing = await startNode(({ socket }) =>
      socket.once("message", () => socket.send(JSON.stringify({ jsonrpc: "2.0", id: 1, error }))),
    );
    const refused = listen(refusing.port);
    await until(() => expect(refused.ended[0]?.reason).toBe("subscription refused"));
  });

  test("names the HTTP status of a refused handshake, and never the URL", async () => {
    const server = createServer((_, response) => response.writeHead(401).end()).listen(0);
    server.on("upgrade", (_, socket) => socket.end("HTTP/1.1 401 Unauthorized\r\n\r\n"));
    await once(server, "listening");
    closers.push(() => void server.close());
    const address = server.address();
    if (address === null || typeof address === "string") throw new Error("no port was given");
    const { ended } = listen(address.port);
    await until(() => expect(ended[0]?.reason).toBe("HTTP status 401"));
    expect(JSON.stringify(ended)).not.toContain(SECRET);
  });

  test("ends at once at a URL that cannot be used, without naming it", async () => {
    const { ended } = listenAt(`wss://a b/${SECRET}`);
    await until(() => expect(ended[0]?.reason).toBe("invalid URL"));
  });

  test("is opened again later after each failure, at most a minute later", async () => {
    const { clock, ended } = listen(1);
    await until(() => expect(ended).toHaveLength(10));
    expect(ended[0]?.reason).toContain("ECONNREFUSED");
    // Besides the waits for the subscription, which are longer than the first delays.
    const delays = clock.slept.filter((ms) => ms !== 10_000);
    expect(delays.slice(0, 9)).toEqual(delays.slice(0, 9).toSorted((one, other) => one - other));
    expect(delays[0]).toBeLessThanOrEqual(500);
    expect(Math.max(...delays)).toBeGreaterThanOrEqual(30_000);
    expect(Math.max(...delays)).toBeLessThanOrEqual(60_000);
  });
});
