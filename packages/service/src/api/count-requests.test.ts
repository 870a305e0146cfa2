/** Refusals are counted by reason, without a key or an address [T205]. */
import { setTimeout as sleep } from "node:timers/promises";
import { io } from "socket.io-client";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { WebSocket } from "ws";
import { createTestApi, createTestKeys, startStream } from "../../test/support/api.ts";
import { createTestDatabase, type TestDatabase } from "../../test/support/database.ts";
import { createTenant, type Tenant } from "../../test/support/tenants.ts";
import { QuotaExceeded } from "../integrators/index.ts";
import { systemClock } from "../roles/system-ports.ts";
import { createMetrics } from "../telemetry/metrics.ts";
import { createAtOnce } from "./at-once.ts";
import { Overloaded } from "./capacity.ts";
import { countRequests, createRefusals } from "./count-requests.ts";
import { createRateLimiter, type RateLimiter, type RateLimits } from "./rate-limits.ts";
import { type Refusal, refusalOf, REFUSALS } from "./refusals.ts";

const LIMITS: RateLimits = {
  perKey: 1_000,
  perAddress: 1_000,
  wrongKeyPerAddress: 2,
  requestIndexPerKey: 1,
  newAddressesPerKey: 1_000,
  nodeRequestsPerKey: 1_000,
};

let database: TestDatabase;
let alice: Tenant;
beforeAll(async () => {
  database = await createTestDatabase();
  alice = await createTenant(database.db);
});
afterAll(() => database.drop());

/** Returns the counts above zero, after checking that every reason has a count. */
async function readCounts(metrics: ReturnType<typeof createMetrics>) {
  const { values } = await metrics.refusals.get();
  expect(values.map(({ labels }) => labels.reason)).toEqual([...REFUSALS]);
  for (const { labels } of values) expect(Object.keys(labels)).toEqual(["service", "reason"]);
  return Object.fromEntries(
    values.flatMap(({ labels, value }) => (value > 0 ? [[labels.reason, value]] : [])),
  );
}

test("counts refused requests by their reason, and no others", async () => {
  const metrics = createMetrics();
  let release = () => {};
  const app = createTestApi({
    db: database.db,
    limiter: createRateLimiter(LIMITS),
    atOnce: createAtOnce({ perKey: 1, waitMs: 0 }, systemClock),
  });
  countRequests(app, metrics, { service: "api", onRefused: createRefusals(metrics, "api") });
  app.get(
    "/slow",
    { config: { admission: { keyOf: ({ headers }) => headers["x-api-key"], scope: null } } },
    () =>
      new Promise<string>((resolve) => {
        release = () => resolve("late");
      }),
  );
  onTestFinished(() => app.close());
  const ask = async (url: string, key?: string, method: "GET" | "POST" = "GET") =>
    (await app.inject({ url, method, ...(key !== undefined && { headers: { "x-api-key": key } }) }))
      .statusCode;
  const wrong = "00000000-0000-4000-8000-000000000000";

  expect(await ask("/swaps", alice.apiKey)).toBe(200);
  expect(await ask("/swaps?limit=x", alice.apiKey)).toBe(400);
  expect(await ask("/nothing")).toBe(404);
  expect(await readCounts(metrics)).toEqual({});

  expect(await ask("/swaps")).toBe(401);
  expect(await ask("/swaps", wrong)).toBe(403);
  expect(await ask("/swaps", wrong)).toBe(403);
  expect(await ask("/swaps", wrong)).toBe(429);
  expect(await ask("/request-index", alice.apiKey, "POST")).toBe(400);
  expect(await ask("/request-index", alice.apiKey, "POST")).toBe(429);
  const held = ask("/slow", alice.apiKey);
  await sleep(50);
  expect(await ask("/swaps", alice.apiKey)).toBe(429);
  release();
  expect(await held).toBe(200);
  expect(await readCounts(metrics)).toEqual({
    no_key: 1,
    wrong_key: 2,
    wrongKeyPerAddress: 1,
    requestIndexPerKey: 1,
    at_once: 1,
  });
  expect(refusalOf(new QuotaExceeded("addresses", 1))).toBe("quota" satisfies Refusal);
  expect(refusalOf(new Overloaded())).toBe("overloaded" satisfies Refusal);
});

async function openStream(limiter: RateLimiter) {
  const metrics = createMetrics();
  const stream = await startStream({
    db: database.db,
    limiter,
    keys: createTestKeys(),
    socketCaps: { perKey: 1, perAddress: 3 },
    onRefused: createRefusals(metrics, "stream"),
  });
  onTestFinished(stream.close);
  const connect = (apiKey?: string) =>
    new Promise<string>((resolve) => {
      const socket = io(stream.url, {
        transports: ["websocket"],
        reconnection: false,
        forceNew: true,
        auth: apiKey === undefined ? {} : { apiKey },
      });
      onTestFinished(() => void socket.close());
      socket.on("connected", () => resolve("connected"));
      socket.on("connect_error", (error) => resolve(error.message));
    });
  return { metrics, connect, stream };
}

test("counts refused handshakes of the stream", async () => {
  const { metrics, connect } = await openStream(createRateLimiter(LIMITS));
  expect(await connect(alice.apiKey)).toBe("connected");
  expect(await connect()).toMatch(/API key is required/);
  expect(await connect(alice.apiKey)).toMatch(/Too many sockets/);
  expect(await readCounts(metrics)).toEqual({ no_key: 1, sockets: 1 });
});

test("a connection whose limit cannot be counted ends only itself", async () => {
  const broken: RateLimiter = {
    take: () => Promise.reject(new Error("the database is away")),
    peek: () => Promise.reject(new Error("the database is away")),
  };
  const { connect, stream } = await openStream(broken);
  // It never asks for admission, so nobody waits for its limit: an unhandled rejection would fail this file.
  const socket = new WebSocket(
    `${stream.url.replace("http", "ws")}/socket.io/?EIO=4&transport=websocket`,
  );
  await new Promise((resolve) => socket.once("message", resolve));
  await sleep(50);
  socket.terminate();
  expect(await connect(alice.apiKey)).toMatch(/Something went wrong/);
});
