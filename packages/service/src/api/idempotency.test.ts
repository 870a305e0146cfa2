/** A repeated POST with the same idempotency key has the same answer and one effect [T227] [T228] [T229]. */
import { ErrorResponse } from "@sluice/sdk/wire";
import { sql } from "kysely";
import { Value } from "typebox/value";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { startApi, startQuoteApp } from "../../test/support/api.ts";
import { createTestDatabase, type TestDatabase } from "../../test/support/database.ts";
import { createTenant, insertAddress, type Tenant, USDC } from "../../test/support/tenants.ts";
import { OperatingError } from "../core/errors.ts";
import { toEvmAddress } from "../core/hex.ts";
import { systemClock, systemRandom } from "../roles/system-ports.ts";
import { deleteExpiredKeys } from "./idempotency-store.ts";

const QUOTE = {
  amountIn64: "1000000",
  fromChain: "ethereum",
  fromToken: USDC,
  toChain: "base",
  toToken: USDC,
  slippageBps: "auto",
};
const SCANNED = [
  {
    chainId: 30,
    name: "base",
    kind: "evm" as const,
    tokens: [
      { symbol: "USDC", address: toEvmAddress(USDC), decimals: 6, minDepositUnits: undefined },
    ],
  },
];

let database: TestDatabase;
let alice: Tenant;
let bob: Tenant;
const closing: (() => Promise<void>)[] = [];

beforeAll(async () => {
  database = await createTestDatabase();
});
beforeEach(async () => {
  alice = await createTenant(database.db);
  bob = await createTenant(database.db);
});
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});
afterAll(() => database.drop());

type Quoting = () => Promise<{ quotes: []; minimumSdkVersion: [number, number, number] }>;

/** Starts a quote service whose answers are told apart by their number. */
async function listen(options: { readonly quote?: Quoting; readonly clock?: typeof systemClock }) {
  let quoted = 0;
  const number = async () => ({
    quotes: [] as [],
    minimumSdkVersion: [quoted, 0, 0] as [number, number, number],
  });
  const { quote = number, ...rest } = options;
  const app = await startQuoteApp({
    db: database.db,
    ...rest,
    quote: () => {
      quoted += 1;
      return quote();
    },
  });
  closing.push(app.close);
  return {
    countQuoted: () => quoted,
    async ask(tenant: Tenant, key: string, body: object = QUOTE) {
      const response = await fetch(`${app.url}/v3/quote?apiKey=${tenant.apiKey}`, {
        method: "POST",
        headers: { "content-type": "application/json", "idempotency-key": key },
        body: JSON.stringify(body),
      });
      return { status: response.status, headers: response.headers, text: await response.text() };
    },
  };
}

type Answer = Awaited<ReturnType<Awaited<ReturnType<typeof listen>>["ask"]>>;

function errorOf({ text }: Answer) {
  const body: unknown = JSON.parse(text);
  expect([...Value.Errors(ErrorResponse, body)]).toEqual([]);
  // CAST: checked against its schema.
  return (body as ErrorResponse).error;
}

const storedOf = (tenant: Tenant) =>
  database.db
    .selectFrom("idempotency_keys")
    .selectAll()
    .where("integrator_id", "=", tenant.id)
    .execute();

test("the same request gets the stored answer, and runs once", async () => {
  const { ask, countQuoted } = await listen({});
  const first = await ask(alice, "order-1");
  expect(first.status).toBe(200);
  expect(first.headers.get("idempotent-replayed")).toBe(null);
  // The order of fields does not matter.
  const reversed = Object.fromEntries(Object.entries(QUOTE).toReversed());
  for (const body of [QUOTE, reversed]) {
    const again = await ask(alice, "order-1", body);
    expect([again.status, again.text]).toEqual([200, first.text]);
    expect(again.headers.get("idempotent-replayed")).toBe("true");
    expect(again.headers.get("content-type")).toBe(first.headers.get("content-type"));
    expect(again.headers.get("x-request-id")).not.toBe(first.headers.get("x-request-id"));
  }
  expect(countQuoted()).toBe(1);
  expect((await ask(alice, "order-2")).text).not.toBe(first.text);
  expect(countQuoted()).toBe(2);
});

test("another request with a used key is refused: another body, or another endpoint", async () => {
  const { ask, countQuoted } = await listen({});
  await ask(alice, "order-1");
  const other = await ask(alice, "order-1", { ...QUOTE, amountIn64: "2000000" });
  expect(other.status).toBe(422);
  const refusal = {
    code: "VALIDATION_ERROR",
    retryable: false,
    details: { field: "idempotency-key", reason: "other_request" },
  };
  expect(errorOf(other)).toMatchObject(refusal);
  expect(countQuoted()).toBe(1);
  const api = await startApi({
    db: database.db,
    scanned: SCANNED,
    requestIndex: () => Promise.reject(new Error("the request is refused before it runs")),
  });
  closing.push(api.close);
  const response = await fetch(`${api.url}/request-index`, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      "x-api-key": alice.apiKey,
      "idempotency-key": "order-1",
    },
    body: JSON.stringify(QUOTE),
  });
  expect(response.status).toBe(422);
  expect(await response.json()).toMatchObject({ error: refusal });
});

test("of POST /request-index the answer is repeated, not the settlement", async () => {
  const { wallet } = await insertAddress(database.db, alice);
  const settlementId = systemRandom.uuid();
  let asked = 0;
  const api = await startApi({
    db: database.db,
    scanned: SCANNED,
    requestIndex: async () => {
      asked += 1;
      return asked === 1
        ? { queued: true, settlementId }
        : { queued: false, reason: "already_queued" };
    },
  });
  closing.push(api.close);
  const ask = async (headers: object) => {
    const response = await fetch(`${api.url}/request-index`, {
      method: "POST",
      headers: { "content-type": "application/json", "x-api-key": alice.apiKey, ...headers },
      body: JSON.stringify({ walletAddress: wallet, tokenAddress: USDC, chain: 30 }),
    });
    return response.json();
  };
  const first = await ask({ "idempotency-key": "a" });
  expect(first).toMatchObject({ queued: true, queueItemId: settlementId });
  expect(await ask({ "idempotency-key": "a" })).toEqual(first);
  expect(await ask({})).toMatchObject({ queued: false, reason: "already_queued" });
  expect(asked).toBe(2);
});

test("a request is refused while the same one is in progress, and then gets its answer", async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  const started = Promise.withResolvers<void>();
  const { ask, countQuoted } = await listen({
    async quote() {
      started.resolve();
      await promise;
      return { quotes: [], minimumSdkVersion: [7, 0, 0] };
    },
  });
  const first = ask(alice, "order-1");
  await started.promise;
  const second = await ask(alice, "order-1");
  expect(second.status).toBe(409);
  expect(second.headers.get("retry-after")).toBe("1");
  const details = { field: "idempotency-key", reason: "in_progress", retryAfterSeconds: 1 };
  expect(errorOf(second)).toMatchObject({ code: "RPC_UNAVAILABLE", retryable: true, details });
  resolve();
  const { text } = await first;
  expect(await ask(alice, "order-1")).toMatchObject({ status: 200, text });
  expect(countQuoted()).toBe(1);
});

test("of a burst of the same request one runs", async () => {
  const { ask, countQuoted } = await listen({});
  const answers = await Promise.all(Array.from({ length: 20 }, () => ask(alice, "burst")));
  expect(countQuoted()).toBe(1);
  expect(new Set(answers.map(({ status }) => status)).has(200)).toBe(true);
  expect(answers.every(({ status }) => status === 200 || status === 409)).toBe(true);
});

test("a request that failed runs again", async () => {
  let fails = true;
  const { ask, countQuoted } = await listen({
    async quote() {
      if (fails) throw new OperatingError("NO_ROUTE", "There is no route.");
      return { quotes: [], minimumSdkVersion: [7, 0, 0] };
    },
  });
  expect((await ask(alice, "order-1")).status).toBe(422);
  expect((await ask(alice, "order-1", {})).status).toBe(400);
  expect(await storedOf(alice)).toEqual([]);
  fails = false;
  expect((await ask(alice, "order-1")).status).toBe(200);
  expect(countQuoted()).toBe(2);
});

test("a request whose answer was late does not run again before its work ends", async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  // Every deadline is over at once.
  const clock = { ...systemClock, sleep: async () => undefined };
  const { ask } = await listen({
    clock,
    async quote() {
      await promise;
      return { quotes: [], minimumSdkVersion: [7, 0, 0] };
    },
  });
  expect((await ask(alice, "late")).status).toBe(503);
  expect((await ask(alice, "late")).status).toBe(409);
  resolve();
  await expect.poll(async () => (await storedOf(alice)).length, { timeout: 20_000 }).toBe(0);
});

test("a request whose process died runs again after its lease, and a late answer changes nothing", async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  const started = Promise.withResolvers<void>();
  let count = 0;
  const { ask } = await listen({
    async quote() {
      count += 1;
      const number = count;
      started.resolve();
      if (number === 1) await promise;
      return { quotes: [], minimumSdkVersion: [number, 0, 0] };
    },
  });
  const lost = ask(alice, "order-1");
  await started.promise;
  await database.db
    .updateTable("idempotency_keys")
    .set({ leased_until: sql<string>`now()` })
    .where("integrator_id", "=", alice.id)
    .execute();
  const second = await ask(alice, "order-1");
  expect(JSON.parse(second.text)).toMatchObject({ minimumSdkVersion: [2, 0, 0] });
  resolve();
  await lost;
  expect(await ask(alice, "order-1")).toMatchObject({ status: 200, text: second.text });
});

test("a key is another one for another integrator, and its answer is encrypted", async () => {
  const { ask, countQuoted } = await listen({});
  const [one, other] = [await ask(alice, "order-1"), await ask(bob, "order-1")];
  expect(one.text).not.toBe(other.text);
  expect(countQuoted()).toBe(2);
  const [stored] = await storedOf(alice);
  expect(stored?.answer?.toString("latin1")).not.toContain("minimumSdkVersion");
  // Moved into the other integrator's row it cannot be read.
  await database.db
    .updateTable("idempotency_keys")
    .set({ answer: stored?.answer ?? null, execution: stored?.execution ?? "" })
    .where("integrator_id", "=", bob.id)
    .execute();
  expect((await ask(bob, "order-1")).status).toBe(500);
});

test.each([
  ["empty", ""],
  ["too long", "x".repeat(256)],
  ["not ASCII", "é"],
  ["in two words", "a b"],
])("a key that is %s is refused", async (_, key) => {
  const { ask, countQuoted } = await listen({});
  const refused = await ask(alice, key);
  expect(refused.status).toBe(400);
  expect(errorOf(refused)).toMatchObject({ details: { field: "idempotency-key" } });
  expect(countQuoted()).toBe(0);
});

test("10,000 keys of one integrator stop only its own new ones, until they expire [T228]", async () => {
  const { ask } = await listen({});
  const kept = await ask(alice, "kept");
  await sql`
    insert into idempotency_keys
      (integrator_id, key, fingerprint, execution, leased_until, expires_at, status, answer)
    select ${alice.id}, 'filler-' || n, 'x', gen_random_uuid(), now(), now() + interval '1 hour', 200, 'x'
    from generate_series(1, 9999) as n`.execute(database.db);
  const refused = await ask(alice, "new");
  expect(refused.status).toBe(429);
  expect(refused.headers.get("retry-after")).toBe("60");
  expect(errorOf(refused)).toMatchObject({
    code: "RPC_UNAVAILABLE",
    details: { reason: "quota_exceeded" },
  });
  expect((await ask(alice, "kept")).text).toBe(kept.text);
  expect((await ask(bob, "new")).status).toBe(200);
  await database.db
    .updateTable("idempotency_keys")
    .set({ expires_at: sql<string>`now()` })
    .where("integrator_id", "=", alice.id)
    .execute();
  // An expired key begins again, deleted or not.
  expect((await ask(alice, "kept")).text).not.toBe(kept.text);
  while (await deleteExpiredKeys(database.db));
  expect((await storedOf(alice)).map(({ key }) => key)).toEqual(["kept"]);
  expect((await ask(alice, "new")).status).toBe(200);
});

test("a GET and an endpoint without a key ignore the header", async () => {
  const api = await startApi({ db: database.db });
  closing.push(api.close);
  for (const path of ["/swaps", "/chains"]) {
    const headers = { "x-api-key": alice.apiKey, "idempotency-key": "a" };
    expect((await fetch(`${api.url}${path}`, { headers })).status).toBe(200);
  }
  expect(await storedOf(alice)).toEqual([]);
});
