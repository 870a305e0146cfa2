/** A server in front of the sandbox's chain that changes answers. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

/** The fields of a request that the proxy reads. */
export interface Asked {
  readonly method: string;
  readonly params: readonly unknown[];
}

/** A node's answer: a result or an error. */
export interface Said {
  result?: unknown;
  error?: { code: number; message: string };
}

/** Replaces a node's answer; an unchanged one passes through. A number is an HTTP status. */
export type Tamper = (asked: Asked, said: Said) => Said | number;

export interface TamperingProxy {
  readonly url: string;
  tamper: Tamper;
  close(): Promise<void>;
}

/** Starts a proxy in front of a node. */
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
      forward(body).then(
        ({ status, text }) => {
          response.writeHead(status, { "content-type": "application/json" });
          response.end(text);
        },
        // The node is down, and so is this one.
        () => response.destroy(),
      );
    });
  });
  async function forward(body: string): Promise<{ status: number; text: string }> {
    const answer = await fetch(node, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body,
    });
    // CAST: the forms of our adapter's requests and of the sandbox's answers.
    const asked = JSON.parse(body) as Asked & { id: number };
    const { result, error } = (await answer.json()) as Said;
    const said = proxy.tamper(asked, error ? { error } : { result });
    if (typeof said === "number") return { status: said, text: "{}" };
    return { status: 200, text: JSON.stringify({ jsonrpc: "2.0", id: asked.id, ...said }) };
  }
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  // CAST: the server listens on a port.
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
