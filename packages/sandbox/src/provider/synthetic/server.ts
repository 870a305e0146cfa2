/** HTTP and WebSocket of the synthetic chain. */
import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import { type WebSocket, WebSocketServer } from "ws";
import { SandboxError } from "../../errors.ts";
import { type Call, parseMessage, writeError } from "../json-rpc.ts";
import { readBody } from "../upstream.ts";
import type { MethodResult } from "./methods.ts";
import { NodeError } from "./node-error.ts";

/** Milliseconds between two polls of the head while it has subscribers. */
const HEAD_MS = 5;

export interface ChainServer {
  readonly url: string;
  readonly wsUrl: string;
  close(): Promise<void>;
}

export async function startChainServer(options: {
  readonly host: string;
  readonly port: number;
  readonly answer: (call: Call) => MethodResult;
  readonly head: () => number;
  /** Returns the header of a block, as a notification names it. */
  readonly header: (number: number) => string;
  readonly hashAt: (number: number) => string;
}): Promise<ChainServer> {
  const server = createServer((request, response) => {
    // The client has gone.
    readBody(request).then(
      (body) => write(response, respond(options.answer, body.toString("utf8"))),
      () => response.destroy(),
    );
  });
  server.listen(options.port, options.host);
  await once(server, "listening");
  const address = server.address();
  if (typeof address !== "object" || address === null) throw new Error("the server has no port");
  const sockets = new WebSocketServer({ server });
  sockets.on("connection", (socket) => serveSocket(socket, options));
  return {
    url: `http://${options.host}:${address.port}`,
    wsUrl: `ws://${options.host}:${address.port}`,
    close: async () => {
      for (const socket of sockets.clients) socket.terminate();
      sockets.close();
      const closed = once(server, "close");
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

const OPEN = Buffer.from("[");
const COMMA = Buffer.from(",");
const CLOSE = Buffer.from("]");
const END = Buffer.from("}");

/** Returns the response in parts, so that the large ones are not copied. */
function respond(answer: (call: Call) => MethodResult, text: string): readonly Buffer[] {
  const message = parseMessage(text);
  if (message === undefined) return [writeError(null, { code: -32700, message: "parse error" })];
  const answers = message.calls.map((call) => respondOne(answer, call));
  if (!message.batch) return answers.flat();
  const items = answers.flatMap((parts, index) => (index === 0 ? parts : [COMMA, ...parts]));
  return [OPEN, ...items, CLOSE];
}

function respondOne(answer: (call: Call) => MethodResult, call: Call): readonly Buffer[] {
  try {
    const result = answer(call);
    const json = "json" in result ? result.json : Buffer.from(JSON.stringify(result.value ?? null));
    const start = `{"jsonrpc":"2.0","id":${JSON.stringify(call.id)},"result":`;
    return [Buffer.from(start), json, END];
  } catch (error) {
    if (error instanceof NodeError) return [writeError(call.id, error.error)];
    if (error instanceof SandboxError) {
      return [writeError(call.id, { code: -32602, message: error.message })];
    }
    throw error;
  }
}

function write(response: ServerResponse, parts: readonly Buffer[]): void {
  const length = parts.reduce((sum, part) => sum + part.length, 0);
  response.writeHead(200, { "content-type": "application/json", "content-length": length });
  response.cork();
  for (const part of parts) response.write(part);
  response.end();
  response.uncork();
}

function serveSocket(
  socket: WebSocket,
  options: Pick<Parameters<typeof startChainServer>[0], "answer" | "head" | "header" | "hashAt">,
): void {
  const { answer, head, header, hashAt } = options;
  const subscriptions = new Map<string, NodeJS.Timeout>();
  const cancel = (id: string) => {
    clearInterval(subscriptions.get(id));
    return subscriptions.delete(id);
  };
  let created = 0;
  const subscribe = (): string => {
    created += 1;
    const id = `0x${created.toString(16).padStart(32, "0")}`;
    let last = head();
    let hash = hashAt(last);
    const send = (number: number) => {
      socket.send(
        `{"jsonrpc":"2.0","method":"eth_subscription","params":{"subscription":"${id}","result":${header(number)}}}`,
      );
    };
    const announce = () => {
      const newest = head();
      // After a reorg the head is announced again, with its new hash.
      if (hashAt(last) !== hash) send(last);
      for (let number = last + 1; number <= newest; number += 1) send(number);
      last = newest;
      hash = hashAt(newest);
    };
    subscriptions.set(id, setInterval(announce, HEAD_MS));
    return id;
  };
  // A client that breaks the protocol ends its own connection.
  socket.on("error", () => socket.terminate());
  socket.on("close", () => {
    for (const id of subscriptions.keys()) cancel(id);
  });
  socket.on("message", (data) => {
    const text = Buffer.isBuffer(data) ? data.toString("utf8") : "";
    const parts = respond((call) => {
      if (call.method === "eth_subscribe" && call.params[0] === "newHeads") {
        return { value: subscribe() };
      }
      if (call.method === "eth_unsubscribe") return { value: cancel(String(call.params[0])) };
      return answer(call);
    }, text);
    socket.send(Buffer.concat(parts).toString("utf8"));
  });
}
