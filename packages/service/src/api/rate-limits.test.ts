/** Clients above the rate limit get the interface's error object at no further cost [T96]. */
import { ErrorResponse } from "@sluice/sdk/wire";
import { Value } from "typebox/value";
import { Kysely, PostgresDialect } from "kysely";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { startApi } from "../../test/support/api.ts";
import { createTestDatabase, type TestDatabase } from "../../test/support/database.ts";
import { createTenant, type Tenant } from "../../test/support/tenants.ts";
import type { Database } from "../db/schema.ts";
import { createLog } from "../telemetry/log.ts";
import { createRateLimiter, type RateLimits } from "./rate-limits.ts";

let database: TestDatabase;
let alice: Tenant;
let bob: Tenant;
let close: () => Promise<void> = async () => {};
let asked = 0;

beforeAll(async () => {
  database = await createTestDatabase();
  alice = await createTenant(database.db);
  bob = await createTenant(database.db);
});
afterEach(() => close());
afterAll(() => database.drop());

const LIMITS = {
  perKey: 5,
  perAddress: 3,
  wrongKeyPerAddress: 2,
  requestIndexPerKey: 2,
  newAddressesPerKey: 2,
  nodeRequestsPerKey: 2,
};

async function listen(limits: Partial<RateLimits>, trustedProxies: readonly string[] = []) {
  asked = 0;
  const api = await startApi({
    db: database.db,
    requestIndex: async () => {
      asked += 1;
      return { queued: false, reason: "below_min" };
    },
    limiter: createRateLimiter({ ...LIMITS, ...limits }),
    trustedProxies,
  });
  close = api.close;
  return (
    path: string,
    options: { readonly key?: string; readonly headers?: object; readonly body?: string } = {},
  ) =>
    fetch(`${api.url}${path}`, {
      headers: {
        ...(options.key === undefined ? {} : { "x-api-key": options.key }),
        ...(options.body === undefined ? {} : { "content-type": "application/json" }),
        ...options.headers,
      },
      ...(options.body === undefined ? {} : { method: "POST", body: options.body }),
    });
}

const statuses = async (calls: readonly (() => Promise<Response>)[]) => {
  const seen: number[] = [];
  for (const call of calls) seen.push((await call()).status);
  return seen;
};
const times = <T>(count: number, value: T): T[] => Array.from({ length: count }, () => value);

test("limits each key separately", async () => {
  const ask = await listen({});
  const byAlice = () => ask("/swaps", { key: alice.apiKey });
  expect(await statuses(times(7, byAlice))).toEqual([200, 200, 200, 200, 200, 429, 429]);
  expect((await ask("/swaps", { key: bob.apiKey })).status).toBe(200);
});

test("states the remaining requests in every answer, and the retry time in a refusal", async () => {
  const ask = await listen({ perKey: 1 });
  const first = await ask("/swaps", { key: alice.apiKey });
  expect(first.headers.get("ratelimit-policy")).toBe('"perKey";q=1;w=60');
  expect(first.headers.get("ratelimit")).toMatch(/^"perKey";r=0;t=\d+$/);
  expect(first.headers.get("retry-after")).toBeNull();
  const refused = await ask("/swaps", { key: alice.apiKey });
  expect(refused.status).toBe(429);
  const wait = Number(refused.headers.get("retry-after"));
  expect(wait).toBeGreaterThan(0);
  expect(wait).toBeLessThanOrEqual(60);
  const body: unknown = await refused.json();
  expect([...Value.Errors(ErrorResponse, body)]).toEqual([]);
  expect(body).toMatchObject({
    error: {
      code: "RPC_UNAVAILABLE",
      retryable: true,
      details: { reason: "rate_limited", retryAfterSeconds: wait },
    },
  });
});

test("counts requests without a key against the address", async () => {
  const ask = await listen({});
  expect(
    await statuses([
      () => ask("/chains"),
      () => ask("/swaps"),
      () => ask("/source-config"),
      () => ask("/swaps"),
      () => ask("/chains"),
      // A valid key is not limited by other clients of its address.
      () => ask("/swaps", { key: alice.apiKey }),
    ]),
  ).toEqual([200, 401, 200, 429, 429, 200]);
});

test("refuses even a right key, if it was not used from there, after too many wrong keys of one address [T87]", async () => {
  const ask = await listen({});
  const guess = () => ask("/swaps", { key: crypto.randomUUID() });
  const right = () => ask("/swaps", { key: alice.apiKey });
  expect(await statuses([guess, guess, right, guess])).toEqual([403, 403, 429, 429]);
  // Requests that need no key continue.
  expect((await ask("/chains")).status).toBe(200);
  const refused = await right();
  expect(refused.headers.get("ratelimit-policy")).toBe('"wrongKeyPerAddress";q=2;w=60');
  expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0);
});

test("refuses simultaneous guesses beyond the limit [T87]", async () => {
  const ask = await listen({});
  const guess = async () => (await ask("/swaps", { key: crypto.randomUUID() })).status;
  const answers = await Promise.all(times(20, guess).map((call) => call()));
  expect(answers.filter((status) => status === 403)).toHaveLength(2);
  expect(answers.filter((status) => status === 429)).toHaveLength(18);
});

test("counts addresses of one IPv6 network as one [T87]", async () => {
  const ask = await listen({ perAddress: 2 }, ["127.0.0.1"]);
  const from = (address: string) => () =>
    ask("/chains", { headers: { "x-forwarded-for": address } });
  expect(
    await statuses([
      from("2001:db8:0:1::1"),
      from("2001:db8:0:1:ffff::2"),
      from("2001:db8:0:1::3"),
      from("2001:db8:0:2::3"),
    ]),
  ).toEqual([200, 200, 429, 200]);
});

test("uses the forwarded address only behind a trusted proxy", async () => {
  const from = (address: string) => ({ headers: { "x-forwarded-for": address } });
  const direct = await listen({ perAddress: 1 });
  expect(
    await statuses([
      () => direct("/chains", from("203.0.113.1")),
      () => direct("/chains", from("203.0.113.2")),
    ]),
  ).toEqual([200, 429]);
  await close();
  const behind = await listen({ perAddress: 1 }, ["127.0.0.1"]);
  expect(
    await statuses([
      () => behind("/chains", from("203.0.113.1")),
      () => behind("/chains", from("203.0.113.2")),
      () => behind("/chains", from("203.0.113.1")),
    ]),
  ).toEqual([200, 200, 429]);
});

test("limits request-index more strictly, before the body is read or a node is called", async () => {
  const ask = await listen({});
  const body = JSON.stringify({ walletAddress: "nothing", tokenAddress: "native", chain: 2 });
  const request = (text: string) => () => ask("/request-index", { key: alice.apiKey, body: text });
  expect(await statuses([request(body), request("{"), request(body), request("{")])).toEqual([
    400, 400, 429, 429,
  ]);
  expect(asked).toBe(0);
});

test("does not count unknown paths", async () => {
  const ask = await listen({ perAddress: 1 });
  expect(await statuses([...times(3, () => ask("/nothing")), () => ask("/chains")])).toEqual([
    404, 404, 404, 200,
  ]);
});

test("a key that was valid from an address lately passes its neighbours' wrong keys [T180]", async () => {
  const proxies = ["127.0.0.1", "::1"];
  const ask = await listen({ perKey: 100 }, proxies);
  const from = (address: string, key: string) =>
    ask("/swaps", { key, headers: { "x-forwarded-for": address } });
  const wrong = "00000000-0000-4000-8000-000000000000";
  expect((await from("203.0.113.1", alice.apiKey)).status).toBe(200);
  expect((await from("203.0.113.2", bob.apiKey)).status).toBe(200);
  const guesses = times(4, () => from("203.0.113.1", wrong));
  expect(await statuses(guesses)).toEqual([403, 403, 429, 429]);
  // Alice's key was valid from here, bob's only from elsewhere: it is not checked, right or wrong.
  expect((await from("203.0.113.1", alice.apiKey)).status).toBe(200);
  expect((await from("203.0.113.1", bob.apiKey)).status).toBe(429);
  expect((await from("203.0.113.2", bob.apiKey)).status).toBe(200);
});

test("a refused request costs no look-up in the database [T180]", async () => {
  let lookups = 0;
  const db = new Kysely<Database>({
    dialect: new PostgresDialect({ pool: database.pool }),
    log: () => {
      lookups += 1;
    },
  });
  const api = await startApi({ db, limiter: createRateLimiter({ ...LIMITS, perKey: 2 }) });
  close = api.close;
  const ask = (key: string) => fetch(`${api.url}/swaps`, { headers: { "x-api-key": key } });
  const wrong = "00000000-0000-4000-8000-000000000000";
  expect(await statuses(times(2, () => ask(alice.apiKey)))).toEqual([200, 200]);
  expect(await statuses(times(2, () => ask(wrong)))).toEqual([403, 403]);
  lookups = 0;
  expect(await statuses(times(3, () => ask(alice.apiKey)))).toEqual([429, 429, 429]);
  expect(await statuses(times(3, () => ask(wrong)))).toEqual([429, 429, 429]);
  expect(lookups).toBe(0);
});

test("logs the first refusal of a limit and the first wrong key of an address, without any key [T180]", async () => {
  const lines: string[] = [];
  const log = createLog({ level: "info", role: "api", write: (line) => lines.push(line) });
  const api = await startApi({
    db: database.db,
    log,
    limiter: createRateLimiter({ ...LIMITS, perKey: 1 }),
  });
  close = api.close;
  const ask = (key: string) => fetch(`${api.url}/swaps`, { headers: { "x-api-key": key } });
  const wrong = "00000000-0000-4000-8000-00000000cafe";
  await statuses(times(4, () => ask(alice.apiKey)));
  await statuses(times(6, () => ask(wrong)));
  const seen = lines.map((line) => JSON.parse(line));
  expect(seen).toMatchObject([
    { msg: "rate limit reached", limit: "perKey", keyId: alice.keyId, max: 1 },
    { msg: "wrong API key", address: "127.0.0.1" },
  ]);
  expect(lines.join()).not.toMatch(new RegExp(`${wrong}|${alice.apiKey}`));
});
