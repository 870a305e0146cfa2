/** The JSON-RPC server over HTTP: single requests, batches and simulated faults. */
import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { asRecord, isErrno } from "../../json-file.ts";
import type { Faults } from "../chain.ts";
import { CONTROL_PREFIX } from "../controls.ts";
import type { Methods } from "./method.ts";
import { readParams } from "./params.ts";
import { RPC_CODES, RpcError, writeError } from "./rpc-error.ts";
import { toWireJson } from "./wire-json.ts";

const HOST = "127.0.0.1";
/** Maximum size of a request; a real node accepts 50 KB. */
const BODY_BYTES_MAX = 1_000_000;

/** A running server. */
interface RpcServer {
  readonly url: string;
  /** At the next port, where `@solana/web3.js` opens its subscriptions; `url` accepts WebSockets too. */
  readonly wsUrl: string;
  /** The servers of both ports. */
  readonly servers: readonly Server[];
  close(): Promise<void>;
}

/** Options of `startRpcServer`. */
interface RpcServerOptions {
  readonly methods: Methods;
  readonly faults: Faults;
  /** The port, which needs the next one too; 0 for any free two. */
  readonly port: number;
}

/** Starts a server on the loopback interface, with a second one for WebSockets at the next port. */
export async function startRpcServer(options: RpcServerOptions): Promise<RpcServer> {
  const server = createServer((request, response) => {
    // The client has disconnected, or there is a bug; closing the connection makes the second visible to the client.
    handleHttp(options, request, response).catch(() => request.destroy());
  });
  // Clients give up an idle connection earlier, so that no request meets the close of its connection.
  server.keepAliveTimeout = 75_000;
  const sockets = createServer((_request, response) => {
    response.writeHead(426, { upgrade: "websocket" }).end();
  });
  const port = await listenOnTwo(server, sockets, options.port);
  return {
    url: `http://${HOST}:${port}`,
    wsUrl: `ws://${HOST}:${port + 1}`,
    servers: [server, sockets],
    close: async () => {
      await Promise.all([close(server), close(sockets)]);
    },
  };
}

/** Makes servers listen on a port and the next one. With port 0 another port is drawn while the next one is in use. */
async function listenOnTwo(first: Server, second: Server, port: number): Promise<number> {
  for (;;) {
    await listen(first, port);
    const address = first.address();
    if (typeof address !== "object" || address === null) throw new Error("the server has no port");
    try {
      await listen(second, address.port + 1);
      return address.port;
    } catch (error) {
      await close(first);
      // The last port has no next one.
      const isTaken = isErrno(error, "EADDRINUSE") || isErrno(error, "ERR_SOCKET_BAD_PORT");
      if (port !== 0 || !isTaken) throw error;
    }
  }
}

async function listen(server: Server, port: number): Promise<void> {
  server.listen(port, HOST);
  await once(server, "listening");
}

async function close(server: Server): Promise<void> {
  const closed = once(server, "close");
  server.close();
  server.closeAllConnections();
  await closed;
}

async function handleHttp(
  { methods, faults }: RpcServerOptions,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  response.setHeader("access-control-allow-origin", "*");
  response.setHeader("access-control-allow-headers", "*");
  if (request.method === "OPTIONS") return void response.writeHead(204).end();
  if (request.method === "GET" && request.url === "/health") return void response.end("ok");
  if (request.method !== "POST") return void response.writeHead(405).end();
  const text = await readBody(request);
  if (text === undefined) return void response.writeHead(413).end();

  const body = parse(text);
  const isControl = methodOf(body)?.startsWith(CONTROL_PREFIX) === true;
  response.setHeader("content-type", "application/json");
  if (!isControl && faults.rateLimits > 0) {
    faults.rateLimits -= 1;
    response.writeHead(429, { "retry-after": "1" });
    return void response.end(
      toWireJson({ jsonrpc: "2.0", error: { code: 429, message: "Too many requests" }, id: null }),
    );
  }
  const result = Array.isArray(body)
    ? await Promise.all(body.map((one) => handleOne(methods, faults, one)))
    : await handleOne(methods, faults, body);
  response.end(toWireJson(result));
}

async function handleOne(methods: Methods, faults: Faults, body: unknown) {
  const id = asRecord(body)?.["id"] ?? null;
  try {
    return { jsonrpc: "2.0", result: await call(methods, faults, body), id };
  } catch (error) {
    return { jsonrpc: "2.0", error: writeError(error), id };
  }
}

async function call(methods: Methods, faults: Faults, body: unknown): Promise<unknown> {
  if (body === undefined) throw new RpcError(RPC_CODES.parseError, "Parse error");
  const name = methodOf(body);
  if (name === undefined) throw new RpcError(RPC_CODES.invalidRequest, "Invalid request");
  if (!name.startsWith(CONTROL_PREFIX)) throwFault(faults, name);
  const method = Object.hasOwn(methods, name) ? methods[name] : undefined;
  if (!method) throw new RpcError(RPC_CODES.methodNotFound, "Method not found");
  return method(readParams(asRecord(body)?.["params"]));
}

/** Throws the next simulated error of a method, if there is one. */
function throwFault(faults: Faults, name: string): void {
  const failure = faults.failures.find(({ method }) => method === undefined || method === name);
  if (!failure) return;
  failure.count -= 1;
  if (failure.count <= 0) faults.failures.splice(faults.failures.indexOf(failure), 1);
  throw new RpcError(failure.code, failure.message);
}

function methodOf(body: unknown): string | undefined {
  const method = asRecord(body)?.["method"];
  return typeof method === "string" ? method : undefined;
}

/** Parses JSON; undefined for any other text. */
function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Reads the body of a request; undefined if it is too long. */
async function readBody(request: IncomingMessage): Promise<string | undefined> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of request) {
    const bytes = Buffer.from(chunk);
    length += bytes.length;
    if (length > BODY_BYTES_MAX) return undefined;
    chunks.push(bytes);
  }
  return Buffer.concat(chunks).toString("utf8");
}
