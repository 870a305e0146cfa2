/** WebSocket connections of a provider: calls as over HTTP, and subscriptions to new heads. */
import type { Server } from "node:http";
import { type WebSocket, WebSocketServer } from "ws";
import type { Heads } from "./heads.ts";
import { type Call, parseMessage, writeError, writeResult } from "./json-rpc.ts";
import { profileOf, refusalOf } from "./profiles.ts";
import { renderError } from "./refusal.ts";
import type { Responder } from "./responder.ts";
import type { ProviderSettings } from "./settings.ts";
import type { Counter } from "./stats.ts";

interface Parts {
  readonly settings: () => ProviderSettings;
  readonly responder: Responder;
  readonly heads: Heads;
  readonly counter: Counter;
}

/** Accepts WebSockets at the server's port. The returned function ends them. */
export function acceptSockets(server: Server, parts: Parts): () => void {
  const sockets = new WebSocketServer({ server });
  sockets.on("connection", (socket) => serve(socket, parts));
  return () => {
    for (const socket of sockets.clients) socket.terminate();
    sockets.close();
  };
}

function serve(socket: WebSocket, parts: Parts): void {
  const subscriptions = new Map<string, () => void>();
  // A client that breaks the protocol ends its own connection.
  socket.on("error", () => socket.terminate());
  socket.on("close", () => {
    for (const cancel of subscriptions.values()) cancel();
  });
  socket.on("message", (data) => {
    const text = Buffer.isBuffer(data) ? data.toString("utf8") : "";
    answer(socket, parts, subscriptions, text).catch(() => {
      parts.counter.add("nodeFailures", 1);
      socket.terminate();
    });
  });
}

async function answer(
  socket: WebSocket,
  parts: Parts,
  subscriptions: Map<string, () => void>,
  text: string,
): Promise<void> {
  const [call, ...more] = parseMessage(text)?.calls ?? [];
  if (call !== undefined && more.length === 0 && isSubscription(call)) {
    parts.counter.add("messages", 1);
    parts.counter.count(call);
    await parts.responder.travel();
    const body = changeSubscription(socket, parts, subscriptions, call);
    await parts.responder.travel();
    socket.send(body);
    return;
  }
  const reply = await parts.responder.respond(text);
  if (reply.kind === "drop") socket.terminate();
  else socket.send(reply.body.toString("utf8"));
}

function isSubscription({ method }: Call): boolean {
  return /^(eth_(un)?subscribe|slot(Uns|S)ubscribe)$/.test(method);
}

/** Begins or ends a subscription and returns the response. */
function changeSubscription(
  socket: WebSocket,
  parts: Parts,
  subscriptions: Map<string, () => void>,
  call: Call,
): string {
  const { counter, heads } = parts;
  const [param] = call.params;
  if (call.method.endsWith("nsubscribe")) {
    const cancel = subscriptions.get(String(param));
    cancel?.();
    subscriptions.delete(String(param));
    return writeResult(call.id, cancel !== undefined).toString();
  }
  if (call.method === "eth_subscribe" && param !== "newHeads") {
    const refusal = refusalOf(profileOf(parts.settings().profile).words.method);
    counter.refuse(refusal.id, 1);
    return writeError(call.id, renderError(refusal, { method: call.method })).toString();
  }
  const ethereum = call.method === "eth_subscribe";
  const number = subscriptions.size + 1;
  const id = ethereum ? `0x${number.toString(16).padStart(32, "0")}` : number;
  const method = ethereum ? "eth_subscription" : "slotNotification";
  counter.add("subscriptions", 1);
  const cancel = heads.subscribe((result) => {
    void notify(socket, parts, { jsonrpc: "2.0", method, params: { subscription: id, result } });
  });
  subscriptions.set(String(id), cancel);
  return writeResult(call.id, id).toString();
}

async function notify(socket: WebSocket, parts: Parts, message: object): Promise<void> {
  if (parts.settings().wsSilent) return;
  await parts.responder.travel();
  const text = JSON.stringify(message);
  parts.counter.add("notifications", 1);
  parts.counter.add("bytesOut", text.length);
  // A socket that has closed meanwhile takes nothing.
  if (socket.readyState === socket.OPEN) socket.send(text);
}
