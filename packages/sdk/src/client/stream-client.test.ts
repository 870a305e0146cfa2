import { createServer } from "node:http";
import { Server } from "socket.io";
import { afterEach, describe, expect, test } from "vitest";
import type { StreamEvent } from "../wire/index.ts";
import { SluiceApiError, SluiceResponseError } from "./errors.ts";
import { connectStream, type Stream, type StreamOptions } from "./stream-client.ts";

const KEY = "0b5e0a4e-6f3c-4a53-9d7a-2f9f0a3f6c11";
const EVENT: StreamEvent = {
  type: "deposit_detected",
  data: { walletAddress: "0x1", chainId: 30, tokenAddress: "0x2", queued: true },
  timestamp: "2026-01-31T12:00:00.000Z",
};

let open: { stream?: Stream; server: Server } | undefined;

afterEach(async () => {
  open?.stream?.close();
  await open?.server.close();
  open = undefined;
});

/** Starts a server that checks the key, sends `connected`, and then emits `messages` on the channel `event`. */
async function serve(messages: readonly unknown[], path = "/socket.io"): Promise<string> {
  const http = createServer();
  const server = new Server(http, { transports: ["websocket"], path });
  open = { server };
  server.use((socket, next) => {
    if (socket.handshake.auth["apiKey"] === KEY) {
      next();
      return;
    }
    const data = { code: "FORBIDDEN", message: "The key is not valid.", retryable: false };
    next(Object.assign(new Error(data.message), { data }));
  });
  server.on("connection", (socket) => {
    socket.emit("connected", { integratorName: "acme" });
    for (const message of messages) socket.emit("event", message);
  });
  await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve));
  const address = http.address();
  if (typeof address !== "object" || address === null) throw new Error("the server has no port");
  return `http://127.0.0.1:${address.port}`;
}

/** Rejects the first `count` handshakes with a retryable error, and counts all handshakes. */
function rejectFirst(count: number, details: Record<string, number> = {}) {
  const handshakes = { count: 0 };
  open?.server.use((_, next) => {
    handshakes.count += 1;
    const data = { code: "INTERNAL", message: "Try again.", retryable: true, details };
    next(handshakes.count > count ? undefined : Object.assign(new Error(data.message), { data }));
  });
  return handshakes;
}

type Handlers = Pick<StreamOptions, "onEvent" | "onConnected" | "onDisconnected" | "onError">;

function connect(baseUrl: string, apiKey: string, handlers: Partial<Handlers>): Stream {
  const onEvent = () => {
    throw new Error("unexpected event");
  };
  const stream = connectStream({ baseUrl, apiKey, onEvent, ...handlers });
  if (open) open.stream = stream;
  return stream;
}

describe("connectStream", () => {
  test("reports the integrator's name and delivers events in order", async () => {
    const second = { ...EVENT, timestamp: "2026-01-31T12:00:00.001Z" };
    const baseUrl = await serve([EVENT, second]);
    const log: unknown[] = [];
    await new Promise<void>((resolve) => {
      connect(baseUrl, KEY, {
        onConnected: (greeting) => log.push(greeting),
        onEvent: (event) => {
          if (log.push(event) === 3) resolve();
        },
      });
    });
    expect(log).toEqual([{ integratorName: "acme" }, EVENT, second]);
  });

  test("reports a rejected key with its code and does not retry", async () => {
    const baseUrl = await serve([]);
    const [error, willRetry] = await new Promise<[unknown, boolean]>((resolve) => {
      connect(baseUrl, "wrong", { onError: (...args) => resolve(args) });
    });
    expect(error).toBeInstanceOf(SluiceApiError);
    expect(error).toMatchObject({ code: "FORBIDDEN", status: undefined });
    expect(willRetry).toBe(false);
  });

  test("retries after a retryable rejection", async () => {
    const baseUrl = await serve([]);
    const handshakes = rejectFirst(2);
    const log: unknown[] = [];
    await new Promise<void>((resolve) => {
      connect(baseUrl, KEY, {
        onError: (error, willRetry) => log.push([error, willRetry]),
        onConnected: () => resolve(),
      });
    });
    expect(log).toEqual([
      [expect.objectContaining({ code: "INTERNAL" }), true],
      [expect.objectContaining({ code: "INTERNAL" }), true],
    ]);
    expect(handshakes.count).toBe(3);
  });

  test("waits for the retryAfterSeconds of a rejection", async () => {
    const baseUrl = await serve([]);
    rejectFirst(1, { retryAfterSeconds: 2 });
    const startedAt = performance.now();
    await new Promise<void>((resolve) => {
      connect(baseUrl, KEY, { onConnected: () => resolve() });
    });
    expect(performance.now() - startedAt).toBeGreaterThanOrEqual(1_990);
  });

  test("reconnects when the server disconnects it, until its key is rejected", async () => {
    const baseUrl = await serve([]);
    let isRevoked = false;
    open?.server.use((_, next) => {
      const data = { code: "FORBIDDEN", message: "The key is not valid.", retryable: false };
      next(isRevoked ? Object.assign(new Error(data.message), { data }) : undefined);
    });
    const log: unknown[] = [];
    await new Promise<void>((resolve) => {
      connect(baseUrl, KEY, {
        onConnected: () => {
          isRevoked = log.push("up") > 1;
          open?.server.disconnectSockets(true);
        },
        onDisconnected: (reason) => log.push(reason),
        onError: (error, willRetry) => {
          log.push([error, willRetry]);
          resolve();
        },
      });
    });
    const disconnected = "io server disconnect";
    const rejected = [expect.objectContaining({ code: "FORBIDDEN" }), false];
    expect(log).toEqual(["up", disconnected, "up", disconnected, rejected]);
  });

  test("makes no further attempt when closed between two attempts", async () => {
    const baseUrl = await serve([]);
    const handshakes = rejectFirst(3);
    await new Promise<void>((resolve) => {
      const stream = connect(baseUrl, KEY, {
        onError() {
          stream.close();
          resolve();
        },
      });
    });
    // A second stream is rejected twice, which takes longer than the first stream's next attempt would.
    await new Promise<void>((resolve) => {
      connect(baseUrl, KEY, { onConnected: () => resolve() });
    });
    expect(handshakes.count).toBe(4);
  });

  test("connects to a service below a path", async () => {
    const origin = await serve([], "/pay/sluice/socket.io");
    for (const baseUrl of [`${origin}/pay/sluice`, `${origin}/pay/sluice/`]) {
      const greeting = await new Promise((resolve, reject) => {
        connect(baseUrl, KEY, { onConnected: resolve, onError: reject });
      });
      expect(greeting).toEqual({ integratorName: "acme" });
      open?.stream?.close();
    }
  });

  test("reports a message that does not match the interface and continues", async () => {
    const baseUrl = await serve([{ type: "other" }, EVENT]);
    const log: unknown[] = [];
    await new Promise<void>((resolve) => {
      connect(baseUrl, KEY, {
        onError: (error) => log.push(error),
        onEvent: (event) => {
          log.push(event);
          resolve();
        },
      });
    });
    expect(log).toEqual([expect.any(SluiceResponseError), EVENT]);
  });

  test("reports that it will retry when no server listens", async () => {
    const baseUrl = await serve([]);
    await open?.server.close();
    const [error, willRetry] = await new Promise<[unknown, boolean]>((resolve) => {
      connect(baseUrl, KEY, { onError: (...args) => resolve(args) });
    });
    expect(error).toBeInstanceOf(SluiceResponseError);
    expect(willRetry).toBe(true);
  });

  test("stays closed after close", async () => {
    const baseUrl = await serve([]);
    const reason = await new Promise<string>((resolve) => {
      const stream = connect(baseUrl, KEY, {
        onConnected: () => stream.close(),
        onDisconnected: resolve,
      });
    });
    expect(reason).toBe("io client disconnect");
    expect(open?.stream?.connected).toBe(false);
  });
});
