/** The node behind a provider, over HTTP with connections that stay open. */
import { Agent, type IncomingMessage, request as httpRequest } from "node:http";
import { Agent as TlsAgent, request as httpsRequest } from "node:https";
import { asRecord } from "../json-file.ts";
import { writeCall } from "./json-rpc.ts";

/** Most milliseconds that a node may take for one answer. */
const TIMEOUT_MS = 60_000;

export interface UpstreamAnswer {
  readonly status: number;
  readonly body: Buffer;
}

export interface Upstream {
  /** Sends a body as it is. Rejects without an answer. */
  send(body: string): Promise<UpstreamAnswer>;
  /** Sends one call and returns its result. Throws for an error of the node. */
  ask(method: string, params: readonly unknown[]): Promise<unknown>;
  close(): void;
}

/** Returns a client of a node. */
export function createUpstream(url: string): Upstream {
  const target = new URL(url);
  const tls = target.protocol === "https:";
  const agent = tls ? new TlsAgent({ keepAlive: true }) : new Agent({ keepAlive: true });

  function send(body: string): Promise<UpstreamAnswer> {
    const { promise, resolve, reject } = Promise.withResolvers<UpstreamAnswer>();
    const onAnswer = (answer: IncomingMessage) => {
      readBody(answer).then(
        (bytes) => resolve({ status: answer.statusCode ?? 0, body: bytes }),
        reject,
      );
    };
    const options = {
      method: "POST",
      agent,
      timeout: TIMEOUT_MS,
      headers: { "content-type": "application/json", "content-length": Buffer.byteLength(body) },
    };
    const sent = tls
      ? httpsRequest(target, options, onAnswer)
      : httpRequest(target, options, onAnswer);
    sent.on("error", reject);
    sent.on("timeout", () => sent.destroy(new Error("the node did not answer in time")));
    sent.end(body);
    return promise;
  }

  return {
    send,
    ask: async (method, params) => {
      const { body } = await send(writeCall({ id: 1, method, params }));
      const answer = asRecord(JSON.parse(body.toString("utf8")));
      if (answer === undefined || answer["result"] === undefined) {
        throw new Error(`the node did not answer ${method}`);
      }
      return answer["result"];
    },
    close: () => agent.destroy(),
  };
}

/** Reads a body to its end. */
export async function readBody(message: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of message) chunks.push(Buffer.from(chunk));
  return chunks.length === 1 && chunks[0] !== undefined ? chunks[0] : Buffer.concat(chunks);
}
