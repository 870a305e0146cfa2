/** A real node behind a proxy that somebody has bent: it lies about calls, or lets somebody in before a transaction. */
import { once } from "node:events";
import { createServer } from "node:http";

interface Request {
  readonly id: number;
  readonly method: string;
  readonly params: readonly [unknown, ...unknown[]];
}

interface Answer {
  result?: unknown;
  readonly error?: unknown;
}

export interface TamperingNode {
  readonly rpcUrl: string;
  /** Done before a signed transaction is passed on; null for nothing. */
  beforeSend: ((raw: string) => Promise<void>) | null;
  /** What a call of a contract is said to return; null for the truth. */
  tamperCall: ((to: string, returned: string) => string) | null;
  close(): void;
}

/** Listens on 127.0.0.1 in front of a node, honest until it is told otherwise. */
export async function startTamperingNode(target: string): Promise<TamperingNode> {
  const tampering: Pick<TamperingNode, "beforeSend" | "tamperCall"> = {
    beforeSend: null,
    tamperCall: null,
  };

  async function respond(text: string): Promise<string> {
    // CAST: what the service sends.
    const { id, method, params } = JSON.parse(text) as Request;
    if (method === "eth_sendRawTransaction") await tampering.beforeSend?.(String(params[0]));
    const headers = { "content-type": "application/json" };
    const response = await fetch(target, { method: "POST", headers, body: text });
    // CAST: the node's own answer.
    const answer = (await response.json()) as Answer;
    if (method === "eth_call" && typeof answer.result === "string" && tampering.tamperCall) {
      // CAST: the form of the method's parameter.
      const { to = "" } = params[0] as { readonly to?: string };
      answer.result = tampering.tamperCall(to, answer.result);
    }
    return JSON.stringify({ ...answer, id });
  }

  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      respond(Buffer.concat(chunks).toString()).then(
        (text) => response.setHeader("content-type", "application/json").end(text),
        () => response.destroy(),
      );
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  if (typeof address !== "object" || address === null) throw new Error("it listens on a port");
  return Object.assign(tampering, {
    rpcUrl: `http://127.0.0.1:${address.port}`,
    close() {
      server.closeAllConnections();
      server.close();
    },
  });
}
