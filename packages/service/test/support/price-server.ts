/** A price server on loopback whose behaviour the test sets, and which records its requests. */
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { onTestFinished } from "vitest";

/** Answers one request. A response that it does not end stays open until the end of the test. */
export type Behaviour = (response: ServerResponse, request: IncomingMessage) => void;

export interface PriceServer {
  readonly url: string;
  /** Requests since the start. */
  readonly asked: { readonly path: string; readonly headers: IncomingMessage["headers"] }[];
  behave(behaviour: Behaviour): void;
}

/** Answers a body with a status. */
export const says =
  (body: string, status = 200, headers: Readonly<Record<string, string>> = {}): Behaviour =>
  (response) =>
    response.writeHead(status, headers).end(body);

/** A price as a plain number under `usd`. */
export const priced = (usd: string): Behaviour => says(`{"usd":${usd}}`);

export const HTML = says("<!doctype html><title>Attention Required!</title>", 200, {
  "content-type": "text/html",
});

/** Takes the request and never answers. */
export const silent: Behaviour = () => undefined;

/** Answers endlessly with whitespace, which JSON allows, as fast as it is read. */
export const endless: Behaviour = (response) => {
  const chunk = " ".repeat(16_384);
  const write = (): void => {
    while (!response.destroyed && response.write(chunk));
  };
  response.writeHead(200, { "content-type": "application/json" });
  response.on("drain", write);
  write();
};

/** Sends a byte at short intervals, so that no idle timeout ends the response. */
export const dripping: Behaviour = (response) => {
  response.writeHead(200, { "content-type": "application/json" });
  const timer = setInterval(() => response.write(" "), 20);
  response.on("close", () => clearInterval(timer));
};

/** Ends the connection in the middle of an answer. */
export const breaksOff: Behaviour = (response) => {
  response.writeHead(200, { "content-length": "100" }).write('{"usd":');
  setImmediate(() => response.destroy());
};

/** Starts a price server for the current test. */
export async function startPriceServer(first: Behaviour = silent): Promise<PriceServer> {
  let behaviour = first;
  const asked: PriceServer["asked"] = [];
  const server = createServer((request, response) => {
    asked.push({ path: request.url ?? "", headers: request.headers });
    behaviour(response, request);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(async () => {
    server.closeAllConnections();
    server.close();
    await once(server, "close");
  });
  // CAST: a server that listens on TCP has a port.
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    asked,
    behave(next) {
      behaviour = next;
    },
  };
}
