/** The sender over real sockets. */
import { once } from "node:events";
import { createServer, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import { afterEach, expect, test } from "vitest";
import { createAddressRules } from "./address-rules.ts";
import { createWebhookPost, parseRetryAfter, type Resolve } from "./post.ts";

const rules = createAddressRules(["127.0.0.0/8"]);
const opened: { close(): void }[] = [];
afterEach(() => {
  for (const part of opened.splice(0)) part.close();
});

async function listen(listener: RequestListener): Promise<{ server: Server; port: number }> {
  const server = createServer(listener);
  server.listen({ host: "127.0.0.1", port: 0 });
  await once(server, "listening");
  opened.push({
    close() {
      server.closeAllConnections();
      server.close();
    },
  });
  // CAST: a server that listens on a TCP port has such an address.
  return { server, port: (server.address() as AddressInfo).port };
}

function open(resolve?: Resolve, of = rules) {
  const post = createWebhookPost({ rules: of, ...(resolve && { resolve }) });
  opened.push(post);
  return (url: string, timeoutMs = 30_000) =>
    post.send({ url, headers: { "webhook-id": "1" }, body: "{}", timeoutMs });
}

test("sends the body with its headers, and returns the status", async () => {
  const seen: unknown[] = [];
  const { port } = await listen(async (request, response) => {
    let body = "";
    for await (const chunk of request) body += String(chunk);
    seen.push([request.method, request.url, request.headers["webhook-id"], body]);
    response.writeHead(204).end();
  });
  expect(await open()(`http://127.0.0.1:${port}/hooks?a=1`)).toEqual({
    kind: "answered",
    status: 204,
    retryAfter: undefined,
  });
  expect(seen).toEqual([["POST", "/hooks?a=1", "1", "{}"]]);
});

test("does not follow a redirect [T216]", async () => {
  let visits = 0;
  const target = await listen((_, response) => {
    visits += 1;
    response.end();
  });
  const { port } = await listen((_, response) =>
    response.writeHead(307, { location: `http://127.0.0.1:${target.port}/` }).end(),
  );
  expect(await open()(`http://127.0.0.1:${port}/`)).toMatchObject({ status: 307 });
  expect(visits).toBe(0);
});

test("resolves a name once per connection and connects to the address that was checked [T215]", async () => {
  const hosts: (string | undefined)[] = [];
  const { port } = await listen((request, response) => {
    hosts.push(request.headers.host);
    response.end();
  });
  // A name that changes its address after it was checked.
  const answers = [["127.0.0.1"], ["10.0.0.1"]];
  const send = open(async () => answers.shift() ?? []);
  expect(await send(`http://rebinding.example:${port}/`)).toMatchObject({ status: 200 });
  expect(hosts).toEqual([`rebinding.example:${port}`]);
  expect(answers).toHaveLength(1);
});

test("refuses a name of which any address is refused, and opens no connection [T215]", async () => {
  let connections = 0;
  const { server, port } = await listen((_, response) => response.end());
  server.on("connection", () => (connections += 1));
  const send = open(async () => ["127.0.0.1", "10.0.0.1"]);
  const refused = { kind: "failed", error: "address_refused" };
  expect(await send(`http://mixed.example:${port}/`)).toEqual(refused);
  const strict = open(async () => ["127.0.0.1"], createAddressRules([]));
  expect(await strict(`https://private.example:${port}/`)).toEqual(refused);
  expect(await strict(`http://127.0.0.1:${port}/`)).toEqual(refused);
  expect(connections).toBe(0);
});

test("returns a reason for each failure without an answer", async () => {
  const send = open(async () => []);
  expect(await send("http://nobody.example/")).toMatchObject({ error: "name_not_resolved" });
  const { server, port } = await listen((_, response) => response.end());
  expect(await open()(`https://localhost:${port}/`)).toMatchObject({ error: "address_refused" });
  expect(await open()(`https://127.0.0.1:${port}/`)).toMatchObject({ error: "tls_failed" });
  server.close();
  server.closeAllConnections();
  await once(server, "close");
  expect(await open()(`http://127.0.0.1:${port}/`)).toMatchObject({ error: "connection_failed" });
});

test("ends a request that is not answered in time", async () => {
  const { port } = await listen(() => undefined);
  expect(await open()(`http://127.0.0.1:${port}/`, 200)).toEqual({
    kind: "failed",
    error: "timed_out",
  });
});

test("does not read a long answer to its end [T217]", async () => {
  let written = 0;
  const { port } = await listen(async (_, response) => {
    response.on("error", () => undefined);
    response.writeHead(200);
    while (!response.destroyed && written < 200_000_000) {
      response.write("x".repeat(100_000));
      written += 100_000;
      await delay(0);
    }
  });
  expect(await open()(`http://127.0.0.1:${port}/`)).toMatchObject({ status: 200 });
  await expect.poll(() => written, { timeout: 30_000 }).toBeGreaterThan(0);
  expect(written).toBeLessThan(200_000_000);
});

test("sends again when the receiver had closed a kept connection", async () => {
  let answers = 0;
  const { server, port } = await listen((_, response) => {
    answers += 1;
    response.end();
  });
  const send = open();
  for (let n = 0; n < 5; n += 1) {
    expect(await send(`http://127.0.0.1:${port}/`)).toMatchObject({ status: 200 });
    server.closeAllConnections();
  }
  expect(answers).toBe(5);
});

test("reads Retry-After as seconds and as a date", () => {
  const nowMs = Date.parse("2026-01-01T00:00:00Z");
  const parse = (value?: string) => parseRetryAfter(value, nowMs);
  expect(parse("120")).toBe(120_000);
  expect(parse("Thu, 01 Jan 2026 00:01:00 GMT")).toBe(60_000);
  expect(parse("Thu, 01 Jan 2015 00:01:00 GMT")).toBe(0);
  for (const wrong of [undefined, "", "-1", "1.5", "soon", "2026-01-01"]) {
    expect(parse(wrong)).toBeUndefined();
  }
});
