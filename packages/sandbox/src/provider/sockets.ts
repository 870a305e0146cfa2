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

/** The subscriptions of one connection. */
interface Subscriptions {
  readonly cancels: Map<string, () => void>;
  created: number;
  /** Notifications arrive in the order in which they were sent, whatever the jitter. */
  sent: Promise<unknown>;
}

function serve(socket: WebSocket, parts: Parts): void {
  const subscriptions: Subscriptions = {
    cancels: new Map(),
    created: 0,
    sent: Promise.resolve(),
  };
  // A client that breaks the protocol ends its own connection.
  socket.on("error", () => socket.terminate());
  socket.on("close", () => {
    for (const cancel of subscriptions.cancels.values()) cancel();
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
  subscriptions: Subscriptions,
  text: string,
): Promise<void> {
  const [call, ...more] = parseMessage(text)?.calls ?? [];
  if (call !== undefined && more.length === 0 && isSubscription(call)) {
    parts.counter.add("messages", 1);
    parts.counter.add("bytesIn", text.length);
    parts.counter.count(call);
    await parts.responder.travel();
    const body = changeSubscription(socket, parts, subscriptions, call);
    // The response comes before the first notification.
    const arrival = parts.responder.travel();
    subscriptions.sent = subscriptions.sent.then(() => arrival).then(() => socket.send(body));
    parts.counter.add("bytesOut", body.length);
    return;
  }
  const reply = await parts.responder.respond(text);
  if (reply.kind === "drop") socket.terminate();
  if (reply.kind === "reply") socket.send(reply.body.toString("utf8"));
}

function isSubscription({ method }: Call): boolean {
  return /^(eth_(un)?subscribe|slot(Uns|S)ubscribe)$/.test(method);
}

/** Begins or ends a subscription and returns the response. */
function changeSubscription(
  socket: WebSocket,
  parts: Parts,
  subscriptions: Subscriptions,
  call: Call,
): string {
  const { counter, heads, settings } = parts;
  const { family, words } = profileOf(settings().profile);
  const [param] = call.params;
  if (call.method.endsWith("nsubscribe")) {
    const cancel = subscriptions.cancels.get(String(param));
    cancel?.();
    subscriptions.cancels.delete(String(param));
    return writeResult(call.id, cancel !== undefined).toString();
  }
  const served =
    family === "evm"
      ? call.method === "eth_subscribe" && param === "newHeads"
      : call.method === "slotSubscribe";
  if (!served) {
    const refusal = refusalOf(words.method);
    counter.refuse(refusal.id, 1);
    return writeError(call.id, renderError(refusal, { method: call.method })).toString();
  }
  subscriptions.created += 1;
  const number = subscriptions.created;
  const id = family === "evm" ? `0x${number.toString(16).padStart(32, "0")}` : number;
  const method = family === "evm" ? "eth_subscription" : "slotNotification";
  counter.add("subscriptions", 1);
  const cancel = heads.subscribe((result) => {
    const text = JSON.stringify({ jsonrpc: "2.0", method, params: { subscription: id, result } });
    const arrival = parts.responder.travel();
    subscriptions.sent = subscriptions.sent
      .then(() => arrival)
      .then(() => notify(socket, parts, text));
  });
  subscriptions.cancels.set(String(id), cancel);
  return writeResult(call.id, id).toString();
}

function notify(socket: WebSocket, { settings, counter }: Parts, text: string): void {
  // A socket that has closed meanwhile takes nothing.
  if (settings().wsSilent || socket.readyState !== socket.OPEN) return;
  counter.add("notifications", 1);
  counter.add("bytesOut", text.length);
  socket.send(text);
}
