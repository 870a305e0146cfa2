/** A real node behind a compromised proxy: it lies about calls, or allows front-running of a transaction. */
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
  /** Runs before a signed transaction is forwarded; null for nothing. */
  beforeSend: ((raw: string) => Promise<void>) | null;
  /** Replaces the return value of a contract call; null for the true one. */
  tamperCall: ((to: string, returned: string) => string) | null;
  close(): void;
}

/** Listens on 127.0.0.1 in front of a node, honest until a test changes that. */
export async function startTamperingNode(target: string): Promise<TamperingNode> {
  const tampering: Pick<TamperingNode, "beforeSend" | "tamperCall"> = {
    beforeSend: null,
    tamperCall: null,
  };

  async function respond(text: string): Promise<string> {
    // CAST: the form of the service's requests.
    const { id, method, params } = JSON.parse(text) as Request;
    if (method === "eth_sendRawTransaction") await tampering.beforeSend?.(String(params[0]));
    const headers = { "content-type": "application/json" };
    const response = await fetch(target, { method: "POST", headers, body: text });
    // CAST: the form of the node's answer.
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
