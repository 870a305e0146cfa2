/** Requests refused below the router are answered with the interface's error object. */
import { connect } from "node:net";
import { ErrorResponse } from "@sluice/sdk/wire";
import { io } from "socket.io-client";
import { Value } from "typebox/value";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  createGenerousLimiter,
  createGenerousPlaces,
  createTestKeys,
  createTestUses,
  type RunningStream,
  SERVED_BY,
  startStream,
} from "../../test/support/api.ts";
import { createTestDatabase, type TestDatabase } from "../../test/support/database.ts";
import { silentLog } from "../../test/support/doubles.ts";
import { createTenant, PEPPER } from "../../test/support/tenants.ts";
import { systemClock, systemRandom } from "../roles/system-ports.ts";
import { createNodeMeter } from "../roles/node-meter.ts";
import { createCapacity } from "./capacity.ts";
import { createQuoteApp } from "./quote-app.ts";

let database: TestDatabase;
let service: RunningStream;
let quotes: ReturnType<typeof createQuoteApp>;
const ports = { service: 0, quotes: 0 };

beforeAll(async () => {
  database = await createTestDatabase();
  const limiter = createGenerousLimiter();
  service = await startStream({ db: database.db, limiter });
  quotes = createQuoteApp({
    nodeMeter: createNodeMeter(),
    random: systemRandom,
    db: database.db,
    pepper: PEPPER,
    clock: systemClock,
    log: silentLog,
    atOnce: createGenerousPlaces(),
    capacity: createCapacity(systemClock),
    keys: createTestKeys(),
    uses: createTestUses(database.db),
    limiter,
    trustedProxies: [],
    corsOrigins: [],
    describeService: () => SERVED_BY,
    quote: () => Promise.reject(new Error("the test did not expect a quote")),
    issueMany: () => Promise.reject(new Error("the test did not expect new addresses")),
  });
  ports.service = service.port;
  ports.quotes = Number(new URL(await quotes.listen({ host: "127.0.0.1", port: 0 })).port);
});
afterAll(async () => {
  await service.close();
  await quotes.close();
  await database.drop();
});

/** Sends the raw bytes of a request and reads until the server closes the connection. */
async function send(port: number, lines: readonly string[]) {
  const socket = connect(port, "127.0.0.1");
  socket.write(`${[...lines, "Connection: close"].join("\r\n")}\r\n\r\n`);
  let text = "";
  for await (const chunk of socket) text += String(chunk);
  const [head = "", body = ""] = text.split("\r\n\r\n");
  return { status: Number(head.split(" ")[1]), head, body, text };
}

function expectRefusal(answer: Awaited<ReturnType<typeof send>>, status: number, field: string) {
  expect(answer.head).toMatch(/^content-type: application\/json/im);
  const { error }: ErrorResponse = JSON.parse(answer.body);
  expect([...Value.Errors(ErrorResponse, { error })]).toEqual([]);
  expect(answer.status).toBe(status);
  expect(error).toMatchObject({ code: "VALIDATION_ERROR", details: { field } });
}

describe.each(["service", "quotes"] as const)("the server of the %s", (name) => {
  test("two hosts are refused", async () => {
    const answer = await send(ports[name], ["GET /swaps HTTP/1.1", "Host: a", "Host: b"]);
    expectRefusal(answer, 400, "host");
  });

  test("every answer forbids guesses of its type and keeps the address to itself", async () => {
    for (const line of ["GET /nothing HTTP/1.1", "nonsense"]) {
      const { head } = await send(ports[name], [line, "Host: a"]);
      expect(head).toMatch(/^x-content-type-options: nosniff/im);
      expect(head).toMatch(/^referrer-policy: no-referrer/im);
    }
  });

  test("a request before garbage is answered, and then the garbage", async () => {
    const request = ["GET /nothing HTTP/1.1", "Host: a", "", "nonsense \u0001"];
    const { status, text } = await send(ports[name], request);
    expect(status).toBe(404);
    expect(text.match(/HTTP\/1\.1 \d+/g)).toEqual(["HTTP/1.1 404", "HTTP/1.1 400"]);
  });

  const path = { service: "/chains", quotes: "/v3/quote" }[name];
  const served = { service: 200, quotes: 401 }[name];

  test.each([
    ["h2c", ["Connection: Upgrade, HTTP2-Settings", "HTTP2-Settings: AAEAAEAAAAIAAAABAAMAAABk"]],
    ["websocket", ["Connection: Upgrade", "Sec-WebSocket-Version: 13"]],
    ["TLS/1.0", ["Connection: Upgrade"]],
  ])("answers a request that asks to upgrade to %s", async (protocol, headers) => {
    const lines = [`GET ${path} HTTP/1.1`, "Host: x", `Upgrade: ${protocol}`, ...headers];
    expect((await send(ports[name], lines)).status).toBe(served);
  });

  test("requires a Host header, except in HTTP/1.0", async () => {
    expectRefusal(await send(ports[name], [`GET ${path} HTTP/1.1`]), 400, "host");
    expect((await send(ports[name], [`GET ${path} HTTP/1.0`])).status).toBe(served);
  });

  test("refuses to act as a proxy", async () => {
    const answer = await send(ports[name], ["CONNECT x:443 HTTP/1.1", "Host: x:443"]);
    expectRefusal(answer, 405, "method");
    expect(answer.head).toMatch(/^allow: GET, POST(, DELETE)?$/im);
  });

  test("refuses an unknown expectation", async () => {
    const lines = [`GET ${path} HTTP/1.1`, "Host: x", "Expect: miracles"];
    expectRefusal(await send(ports[name], lines), 400, "expect");
  });
});

const HANDSHAKE = {
  query: "EIO=4&transport=websocket",
  Host: "x",
  Upgrade: "websocket",
  "Sec-WebSocket-Version": "13",
  "Sec-WebSocket-Key": Buffer.alloc(16).toString("base64"),
};

function knock(changes: Partial<Record<keyof typeof HANDSHAKE, string>> & Record<string, string>) {
  const { query, ...headers } = { ...HANDSHAKE, ...changes };
  return send(ports.service, [
    `GET /socket.io/?${query} HTTP/1.1`,
    "Connection: Upgrade",
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
  ]);
}

describe("the path of the stream", () => {
  test.each([
    ["of another transport", { query: "EIO=4&transport=polling" }],
    ["whose last transport is different", { query: "EIO=4&transport=websocket&transport=polling" }],
    ["of an older protocol", { query: "EIO=3&transport=websocket" }],
    ["without a protocol", { query: "transport=websocket" }],
    ["of an unknown session", { query: "EIO=4&transport=websocket&sid=nothing" }],
    ["with a bad key", { "Sec-WebSocket-Key": "x" }],
    ["of another version of websocket", { "Sec-WebSocket-Version": "7" }],
    ["with malformed subprotocols", { "Sec-WebSocket-Protocol": ",," }],
    ["with another upgrade", { Upgrade: "h2c" }],
  ])("refuses a handshake %s", async (_, changes) => {
    expectRefusal(await knock(changes), 400, "transport");
  });

  test("refuses polling and requests that are not a handshake", async () => {
    for (const query of ["?EIO=4&transport=polling", "?EIO=4&transport=websocket", ""]) {
      const lines = [`GET /socket.io/${query} HTTP/1.1`, "Host: x"];
      expectRefusal(await send(ports.service, lines), 400, "transport");
    }
    const posted = ["POST /socket.io/?EIO=4&transport=polling HTTP/1.1", "Host: x"];
    expectRefusal(await send(ports.service, [...posted, "Content-Length: 0"]), 405, "method");
  });

  test("accepts the handshakes of clients", async () => {
    const { apiKey, name } = await createTenant(database.db);
    const client = io(service.url, { transports: ["websocket"], auth: { apiKey } });
    const greeting = await new Promise((resolve) => client.once("connected", resolve));
    expect(greeting).toEqual({ integratorName: name });
    client.disconnect();
  });
});
