/** For tests: a server between us and the sandbox's chain that changes what it is told. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

/** One request, as far as a proxy cares. */
export interface Asked {
  readonly method: string;
  readonly params: readonly unknown[];
}

/** What a node answers: its result, or its error. */
export interface Said {
  result?: unknown;
  error?: { code: number; message: string };
}

/** Answers otherwise than the node; what it does not change goes through. A number is an HTTP status. */
export type Tamper = (asked: Asked, said: Said) => Said | number;

export interface TamperingProxy {
  readonly url: string;
  tamper: Tamper;
  close(): Promise<void>;
}

/** Starts one in front of a node. */
export async function startTamperingProxy(
  node: string,
  tamper: Tamper = (_, said) => said,
): Promise<TamperingProxy> {
  const server = createServer((request, response) => {
    let body = "";
    request.on("data", (part) => {
      body += String(part);
    });
    request.on("end", () => {
      void forward(body).then(({ status, text }) => {
        response.writeHead(status, { "content-type": "application/json" });
        response.end(text);
      });
    });
  });
  async function forward(body: string): Promise<{ status: number; text: string }> {
    const answer = await fetch(node, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body,
    });
    // CAST: what our own adapter sends, and what the sandbox answers.
    const asked = JSON.parse(body) as Asked & { id: number };
    const { result, error } = (await answer.json()) as Said;
    const said = proxy.tamper(asked, error ? { error } : { result });
    if (typeof said === "number") return { status: said, text: "{}" };
    return { status: 200, text: JSON.stringify({ jsonrpc: "2.0", id: asked.id, ...said }) };
  }
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  // CAST: it listens on a port.
  const { port } = server.address() as AddressInfo;
  const proxy: TamperingProxy = {
    url: `http://127.0.0.1:${port}`,
    tamper,
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
  return proxy;
}
