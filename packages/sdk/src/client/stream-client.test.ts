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

/** A server that asks for the key, greets, and then emits `messages` on the channel `event`. */
async function serve(messages: readonly unknown[]): Promise<string> {
  const http = createServer();
  const server = new Server(http, { transports: ["websocket"] });
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

type Handlers = Pick<StreamOptions, "onEvent" | "onConnected" | "onDisconnected" | "onError">;

function connect(baseUrl: string, apiKey: string, handlers: Partial<Handlers>): Stream {
  const onEvent = () => {
    throw new Error("no event is expected");
  };
  const stream = connectStream({ baseUrl, apiKey, onEvent, ...handlers });
  if (open) open.stream = stream;
  return stream;
}

describe("connectStream", () => {
  test("greets with the integrator's name and hands on events in order", async () => {
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

  test("reports a refused key with its code and does not try again", async () => {
    const baseUrl = await serve([]);
    const [error, willRetry] = await new Promise<[unknown, boolean]>((resolve) => {
      connect(baseUrl, "wrong", { onError: (...args) => resolve(args) });
    });
    expect(error).toBeInstanceOf(SluiceApiError);
    expect(error).toMatchObject({ code: "FORBIDDEN", status: undefined });
    expect(willRetry).toBe(false);
  });

  test("reports a message of another shape and goes on", async () => {
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

  test("says that it will try again when nobody listens", async () => {
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
