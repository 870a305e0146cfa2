/** Every answer has an id of its own, which the log names. */
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { createTestApi } from "../../test/support/api.ts";
import { createTestDatabase, type TestDatabase } from "../../test/support/database.ts";
import { createKeepingLog } from "../../test/support/doubles.ts";
import { createTenant, insertAddress, type Tenant } from "../../test/support/tenants.ts";

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

let database: TestDatabase;
let alice: Tenant;
beforeAll(async () => {
  database = await createTestDatabase();
  alice = await createTenant(database.db);
});
afterAll(() => database.drop());

function open() {
  const { log, lines } = createKeepingLog();
  const app = createTestApi({
    db: database.db,
    log,
    scanned: [{ chainId: 2, name: "ethereum", kind: "evm", tokens: [] }],
    requestIndex: () => Promise.reject(new Error("a fault of ours")),
  });
  onTestFinished(() => app.close());
  return { app, lines };
}

test("answers of every status have a new id", async () => {
  const { app } = open();
  const headers = { "x-api-key": alice.apiKey };
  const answers = [
    await app.inject({ url: "/swaps", headers }),
    await app.inject({ url: "/swaps", headers }),
    await app.inject({ url: "/swaps?limit=0", headers }),
    await app.inject({ url: "/swaps" }),
    await app.inject({ url: "/nothing" }),
    await app.inject({ url: "/swaps", method: "POST" }),
    await app.inject({ url: "/chains" }),
  ];
  expect(answers.map(({ statusCode }) => statusCode)).toEqual([200, 200, 400, 401, 404, 405, 200]);
  const ids = answers.map((answer) => answer.headers["x-request-id"]);
  for (const id of ids) expect(id).toMatch(UUID);
  expect(new Set(ids).size).toBe(answers.length);
});

test("the log names the id of a failed request, never one of the client", async () => {
  const { app, lines } = open();
  const { wallet } = await insertAddress(database.db, alice);
  const answer = await app.inject({
    url: "/request-index",
    method: "POST",
    headers: { "x-api-key": alice.apiKey, "x-request-id": "forged", "request-id": "forged" },
    payload: { walletAddress: wallet, tokenAddress: "native", chain: 2 },
  });
  expect(answer.statusCode).toBe(500);
  const requestId = answer.headers["x-request-id"];
  expect(requestId).toMatch(UUID);
  expect(lines).toEqual([expect.objectContaining({ msg: "request failed", requestId })]);
});
