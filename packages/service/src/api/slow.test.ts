/** Slow clients, and requests that wait for a slow node, get the interface's error object and do not delay others. */
import { connect } from "node:net";
import { ErrorResponse } from "@sluice/sdk/wire";
import { Value } from "typebox/value";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type RunningApi, startApi } from "../../test/support/api.ts";
import { createTestDatabase, type TestDatabase } from "../../test/support/database.ts";
import { createTenant, insertAddress, type Tenant } from "../../test/support/tenants.ts";

let database: TestDatabase;
let api: RunningApi;
let alice: Tenant;

beforeAll(async () => {
  database = await createTestDatabase();
  api = await startApi({
    db: database.db,
    scanned: [{ chainId: 2, name: "ethereum", kind: "evm", tokens: [] }],
    requestIndex: () => new Promise(() => undefined),
  });
  alice = await createTenant(database.db);
});
afterAll(async () => {
  await api.close();
  await database.drop();
});

/** Sends the beginning of a request, and returns the bytes received until the server closes the connection. */
async function dawdle(beginning: string): Promise<string> {
  const socket = connect(Number(new URL(api.url).port), "127.0.0.1");
  let answer = "";
  socket.on("data", (chunk) => (answer += String(chunk)));
  socket.on("error", () => undefined);
  socket.write(beginning);
  await new Promise((resolve) => socket.once("close", resolve));
  return answer;
}

const headers = (length: number) =>
  `POST /request-index HTTP/1.1\r\nHost: x\r\nX-Api-Key: ${alice.apiKey}\r\n` +
  `Content-Type: application/json\r\nContent-Length: ${length}\r\n\r\n`;

/** Sends a request that waits for a node that never answers. */
async function askSlowNode(): Promise<{ readonly status: number; readonly body: unknown }> {
  const { wallet } = await insertAddress(database.db, alice);
  const response = await fetch(`${api.url}/request-index`, {
    method: "POST",
    headers: { "x-api-key": alice.apiKey, "content-type": "application/json" },
    body: JSON.stringify({ walletAddress: wallet, tokenAddress: "native", chain: 2 }),
  });
  return { status: response.status, body: await response.json() };
}

test("stalled bodies, headers and nodes get the interface's error object, and other clients are served [T94]", async () => {
  const slow = [
    dawdle(`${headers(100)}{"walletAddress"`),
    dawdle("GET /swaps HTTP/1.1\r\nHost: x\r\nX-Api-Key: "),
  ];
  const node = askSlowNode();
  const others = await fetch(`${api.url}/swaps`, { headers: { "x-api-key": alice.apiKey } });
  expect(others.status).toBe(200);
  for (const answer of await Promise.all(slow)) {
    const [head = "", body = ""] = answer.split("\r\n\r\n");
    expect(head).toMatch(/^HTTP\/1\.1 400 /);
    expect([...Value.Errors(ErrorResponse, JSON.parse(body))]).toEqual([]);
  }
  expect(await node).toMatchObject({
    status: 503,
    body: { error: { code: "RPC_UNAVAILABLE", details: { reason: "timeout" } } },
  });
}, 90_000);
