/** One key has a bounded number of requests in service, and a slow statement is answered in the interface's form. */
import { ErrorResponse } from "@sluice/sdk/wire";
import { toChecksumAddress } from "@sluice/sdk/address";
import { Value } from "typebox/value";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { startApi } from "../../test/support/api.ts";
import { createTestDatabase, type TestDatabase } from "../../test/support/database.ts";
import { createStillClock } from "../../test/support/doubles.ts";
import { createTenant, insertAddress, type Tenant } from "../../test/support/tenants.ts";
import { openPool } from "../db/pool.ts";
import { systemClock } from "../roles/system-ports.ts";
import { createAtOnce } from "./at-once.ts";
import { createCapacity } from "./capacity.ts";

let database: TestDatabase;
let alice: Tenant;
let bob: Tenant;
const cleanups: (() => Promise<unknown> | void)[] = [];

beforeAll(async () => {
  database = await createTestDatabase();
  alice = await createTenant(database.db);
  bob = await createTenant(database.db);
});
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).toReversed()) await cleanup();
});
afterAll(() => database.drop());

async function listen(deps: Partial<Parameters<typeof startApi>[0]>) {
  const api = await startApi({ db: database.db, ...deps });
  cleanups.push(api.close);
  return (path: string, key: string) =>
    fetch(`${api.url}${path}`, { headers: { "x-api-key": key } });
}

async function expectRefusal(answer: Response, expected: object) {
  const body: unknown = await answer.json();
  expect([...Value.Errors(ErrorResponse, body)]).toEqual([]);
  expect(body).toMatchObject({ error: { code: "RPC_UNAVAILABLE", retryable: true, ...expected } });
}

/** Locks the settlements, so that lists of them wait, until the returned function is called. */
async function lockSwaps() {
  const client = await database.pool.connect();
  await client.query("begin; lock table settlements in access exclusive mode");
  let isLocked = true;
  const unlock = async () => {
    if (!isLocked) return;
    isLocked = false;
    await client.query("rollback");
    client.release();
  };
  // A test that fails meanwhile leaves no lock to the others.
  cleanups.push(unlock);
  return unlock;
}

/** Requests to settle what an address of alice's holds. */
const requestIndex = (api: { readonly url: string }, { wallet }: { readonly wallet: string }) =>
  fetch(`${api.url}/request-index`, {
    method: "POST",
    headers: { "x-api-key": alice.apiKey, "content-type": "application/json" },
    body: JSON.stringify({
      walletAddress: toChecksumAddress(wallet),
      tokenAddress: "native",
      chain: 2,
    }),
  });

async function untilWaiting(count: number) {
  await expect
    .poll(async () => {
      const { rows } = await database.pool.query(
        "select 1 from pg_locks where not granted and database = (select oid from pg_database where datname = current_database())",
      );
      return rows.length;
    })
    .toBe(count);
}

test("serves a few requests of a key at the same time, and refuses more after a short wait [T178]", async () => {
  const ask = await listen({ atOnce: createAtOnce({ perKey: 2, waitMs: 50 }, systemClock) });
  const unlock = await lockSwaps();
  const served = [ask("/swaps", alice.apiKey), ask("/swaps", alice.apiKey)];
  await untilWaiting(2);
  const refused = await ask("/swaps", alice.apiKey);
  expect(refused.status).toBe(429);
  expect(refused.headers.get("retry-after")).toBe("1");
  await expectRefusal(refused, { details: { reason: "too_many_at_once", max: 2 } });
  // Another key has places of its own.
  expect((await ask("/deposit-addresses", bob.apiKey)).status).toBe(200);
  await unlock();
  expect((await Promise.all(served)).map(({ status }) => status)).toEqual([200, 200]);
  expect((await ask("/swaps", alice.apiKey)).status).toBe(200);
});

test("serves a waiting request when another one ends", async () => {
  const ask = await listen({ atOnce: createAtOnce({ perKey: 1, waitMs: 60_000 }, systemClock) });
  const unlock = await lockSwaps();
  const answers = Array.from({ length: 5 }, () => ask("/swaps", alice.apiKey));
  await untilWaiting(1);
  await unlock();
  expect((await Promise.all(answers)).map(({ status }) => status)).toEqual([
    200, 200, 200, 200, 200,
  ]);
});

test("work that outlives its answer, or its client, keeps its place [T178]", async () => {
  const { promise: work, resolve } = Promise.withResolvers<{
    queued: false;
    reason: "below_min";
  }>();
  const address = await insertAddress(database.db, alice);
  const api = await startApi({
    db: database.db,
    // The deadline of answers has come at once.
    clock: createStillClock(),
    atOnce: createAtOnce({ perKey: 1, waitMs: 0 }, systemClock),
    scanned: [{ chainId: 2, name: "ethereum", kind: "evm", tokens: [] }],
    requestIndex: () => work,
  });
  cleanups.push(api.close);
  const late = await requestIndex(api, address);
  expect(late.status).toBe(503);
  const list = () => fetch(`${api.url}/swaps`, { headers: { "x-api-key": alice.apiKey } });
  expect((await list()).status).toBe(429);
  resolve({ queued: false, reason: "below_min" });
  await expect.poll(async () => (await list()).status).toBe(200);
});

test("requests that wait for nodes delay no other integrator [T321]", async () => {
  const { promise: work, resolve } = Promise.withResolvers<{
    queued: false;
    reason: "below_min";
  }>();
  const address = await insertAddress(database.db, alice);
  const capacity = createCapacity(systemClock);
  // As few places as there ever are.
  for (let n = 0; n < 20; n += 1) capacity.adjust(1);
  let asked = 0;
  const api = await startApi({
    db: database.db,
    capacity,
    scanned: [{ chainId: 2, name: "ethereum", kind: "evm", tokens: [] }],
    requestIndex() {
      asked += 1;
      return work;
    },
  });
  cleanups.push(api.close);
  const waiting = Array.from({ length: 6 }, () => requestIndex(api, address));
  await expect.poll(() => asked).toBeGreaterThanOrEqual(4);
  const list = await fetch(`${api.url}/swaps`, { headers: { "x-api-key": bob.apiKey } });
  expect(list.status).toBe(200);
  resolve({ queued: false, reason: "below_min" });
  expect((await Promise.all(waiting)).map(({ status }) => status)).toEqual(Array(6).fill(200));
});

test("bounds the requests that wait", async () => {
  const atOnce = createAtOnce({ perKey: 1, waitMs: 60_000 }, systemClock);
  const leave = await atOnce.enter("key");
  const waiting = Array.from({ length: 8 }, () => atOnce.enter("key"));
  await expect(atOnce.enter("key")).rejects.toMatchObject({ httpStatus: 429 });
  leave();
  // Giving a place back twice frees one place.
  leave();
  for (const next of waiting) (await next)();
});

test("answers 503 in the interface's form when a statement takes too long [T178]", async () => {
  const seen: string[] = [];
  const pool = openPool(database.address, {
    max: 1,
    statementTimeoutMs: 50,
    onTimeout: (statement) => seen.push(statement),
  });
  cleanups.push(pool.close);
  const ask = await listen({ db: pool.db });
  const unlock = await lockSwaps();
  const answer = await ask("/swaps", alice.apiKey);
  await unlock();
  expect(answer.status).toBe(503);
  await expectRefusal(answer, { details: { reason: "timeout" } });
  expect(seen).toEqual([expect.stringMatching(/^select .* from "settlements"/)]);
});
