/** A JSON-RPC node over real HTTP whose answers a test writes, down to status, headers and bytes. */
import { once } from "node:events";
import { createServer, type IncomingHttpHeaders } from "node:http";

export interface Sent {
  readonly id: number;
  readonly method: string;
  readonly params: readonly unknown[];
}

/** One HTTP request: a single JSON-RPC request or a list. */
export interface Received {
  readonly isBatch: boolean;
  readonly requests: readonly Sent[];
  readonly headers: IncomingHttpHeaders;
  /** Port of the client's connection. */
  readonly port: number | undefined;
}

export interface Reply {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** Bytes as they are, or a value that is sent as JSON. */
  readonly body: unknown;
  /** Closes the connection instead of answering. */
  readonly closes?: boolean;
}

export interface HttpNode {
  readonly url: string;
  readonly received: readonly Received[];
  /** Most HTTP requests that were open at once. */
  readonly atOnceMax: number;
  stop(): Promise<void>;
}

export type Answer = (received: Received) => Reply | Promise<Reply>;

export async function startHttpNode(answer: Answer): Promise<HttpNode> {
  const received: Received[] = [];
  let open = 0;
  let atOnceMax = 0;
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", async () => {
      const body: Sent | Sent[] = JSON.parse(Buffer.concat(chunks).toString("utf8"));
      const isBatch = Array.isArray(body);
      const requests = isBatch ? body : [body];
      const { headers, socket } = request;
      const one = { isBatch, requests, headers, port: socket.remotePort };
      received.push(one);
      open += 1;
      atOnceMax = Math.max(atOnceMax, open);
      const reply = await answer(one);
      open -= 1;
      if (reply.closes) {
        socket.destroy();
        return;
      }
      response.writeHead(reply.status ?? 200, {
        "content-type": "application/json",
        ...reply.headers,
      });
      const isText = typeof reply.body === "string" || Buffer.isBuffer(reply.body);
      response.end(isText ? reply.body : JSON.stringify(reply.body));
    });
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("no port was given");
  return {
    url: `http://127.0.0.1:${address.port}/`,
    received,
    get atOnceMax() {
      return atOnceMax;
    },
    async stop() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

/** Answers each request with its method and first parameter. */
export const echo: Answer = ({ isBatch, requests }) => {
  const answers = requests.map(answerTo);
  return { body: isBatch ? answers : answers[0] };
};

export function answerTo({ id, method, params }: Sent) {
  return { jsonrpc: "2.0", id, result: [method, params[0]] };
}

export function errorTo(id: number | null, code: number, message: string, data?: unknown) {
  return { jsonrpc: "2.0", id, error: { code, message, ...(data !== undefined && { data }) } };
}
