/** Slots over WebSocket, at the port of the server: `slotSubscribe`, with one notice per block. */
import type { Server } from "node:http";
import { type WebSocket, WebSocketServer } from "ws";
import { asRecord } from "../../json-file.ts";
import type { Chain } from "../chain.ts";
import { RPC_CODES } from "./rpc-error.ts";

const MESSAGE_BYTES_MAX = 10_000;

/** Accepts WebSockets. Returns the function that ends them. */
export function serveSlots(server: Server, chain: Chain): () => void {
  const sockets = new WebSocketServer({ server, maxPayload: MESSAGE_BYTES_MAX });
  /** Subscriptions of each connection. */
  const subscribed = new Map<WebSocket, number>();
  let isClosed = false;

  async function announce(): Promise<void> {
    for (;;) {
      const { slot } = await chain.nextBlock();
      if (isClosed) return;
      // As on a real node: the slot that begins now, the block before it, and the newest final one.
      const root = Number(chain.ledger.tip("finalized").slot);
      const result = { slot: Number(slot) + 1, parent: Number(slot), root };
      for (const [socket, count] of subscribed) {
        for (let subscription = 0; subscription < count; subscription++) {
          send(socket, { method: "slotNotification", params: { subscription, result } });
        }
      }
    }
  }

  sockets.on("connection", (socket) => {
    // A client that breaks the protocol ends its own connection.
    socket.on("error", () => socket.terminate());
    socket.on("close", () => subscribed.delete(socket));
    socket.on("message", (data) => {
      const { id, method } = parse(String(data));
      if (method !== "slotSubscribe") {
        const error = { code: RPC_CODES.methodNotFound, message: "Method not found" };
        return send(socket, { error, id });
      }
      const subscription = subscribed.get(socket) ?? 0;
      send(socket, { result: subscription, id });
      subscribed.set(socket, subscription + 1);
    });
  });
  void announce();
  return () => {
    isClosed = true;
    for (const socket of sockets.clients) socket.terminate();
    sockets.close();
  };
}

function send(socket: WebSocket, message: object): void {
  if (socket.readyState === socket.OPEN)
    socket.send(JSON.stringify({ jsonrpc: "2.0", ...message }));
}

function parse(text: string): { readonly id: unknown; readonly method: unknown } {
  try {
    const { id = null, method } = asRecord(JSON.parse(text)) ?? {};
    return { id, method };
  } catch {
    return { id: null, method: undefined };
  }
}
