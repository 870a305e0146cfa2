/** Every endpoint and the stream hold a key to its scopes, networks and lifetime. */
import { ErrorResponse, KEY_SCOPES, OPERATIONS } from "@sluice/sdk/wire";
import { sql } from "kysely";
import { io, type Socket } from "socket.io-client";
import { Value } from "typebox/value";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { createGenerousLimiter, startQuoteApp, startStream } from "../../test/support/api.ts";
import { createTestDatabase, type TestDatabase } from "../../test/support/database.ts";
import { createTenant, PEPPER, type Tenant } from "../../test/support/tenants.ts";
import { createKey, setKey } from "../integrators/index.ts";
import { systemRandom } from "../roles/system-ports.ts";

const ID = "0b5e0a4e-6f3c-4a53-9d7a-2f9f0a3f6c11";
const PROXIES = ["127.0.0.1"];

let database: TestDatabase;
let api: Awaited<ReturnType<typeof startStream>>;
let quotes: Awaited<ReturnType<typeof startQuoteApp>>;
let tenant: Tenant;
const sockets: Socket[] = [];

beforeAll(async () => {
  database = await createTestDatabase();
  const { db } = database;
  api = await startStream({ db, limiter: createGenerousLimiter(), trustedProxies: PROXIES });
  quotes = await startQuoteApp({ db, trustedProxies: PROXIES });
  tenant = await createTenant(db);
});
afterEach(() => {
  for (const socket of sockets.splice(0)) socket.disconnect();
});
afterAll(async () => {
  await api.close();
  await quotes.close();
  await database.drop();
});

type Settings = Omit<Parameters<typeof createKey>[1], "integrator" | "depositAddresses">;
const create = (settings: Settings) =>
  createKey(
    { db: database.db, random: systemRandom, pepper: PEPPER },
    { integrator: tenant.id, depositAddresses: true, ...settings },
  );

/** Calls an endpoint without a valid body, as a client at an address. Returns the reason of a refused key, if it was. */
async function call(
  { method, path, key, server }: (typeof OPERATIONS)[number],
  apiKey: string,
  address = "203.0.113.7",
): Promise<unknown> {
  const url = new URL(`${server === "quote" ? quotes.url : api.url}${path.replace("{id}", ID)}`);
  if (key === "query") url.searchParams.set("apiKey", apiKey);
  const response = await fetch(url, {
    method,
    headers: {
      "x-forwarded-for": address,
      ...(key === "header" ? { "x-api-key": apiKey } : {}),
      ...(method === "GET" ? {} : { "content-type": "application/json" }),
    },
    ...(method === "POST" ? { body: "{}" } : {}),
  });
  const text = await response.text();
  if (response.status !== 403) return undefined;
  const body: unknown = JSON.parse(text);
  expect([...Value.Errors(ErrorResponse, body)]).toEqual([]);
  // CAST: checked against its schema.
  const { error } = body as ErrorResponse;
  expect(error).toMatchObject({ code: "FORBIDDEN", retryable: false });
  return error.details;
}

const keyed = OPERATIONS.filter(({ key }) => key !== null);

describe.each(
  keyed.map((operation) => [`${operation.method} ${operation.path}`, operation] as const),
)("%s", (_, operation) => {
  const { scope } = operation;

  test("needs the scope that the description names, and no other [T225]", async () => {
    const every = KEY_SCOPES;
    const others = await create({ scopes: every.filter((one) => one !== scope) });
    const refusal = scope === null ? undefined : { reason: "scope", scope };
    expect(await call(operation, others.apiKey)).toEqual(refusal);
    const own = await create({ scopes: [scope ?? "read"] });
    expect(await call(operation, own.apiKey)).toBeUndefined();
  });

  test("refuses a key from another address than its own, behind a proxy too [T226]", async () => {
    const { apiKey } = await create({ allowedNetworks: ["203.0.113.0/24", "2001:db8::/32"] });
    const refusal = { reason: "address", address: "198.51.100.1" };
    for (const address of ["203.0.113.200", "::ffff:203.0.113.1", "[2001:db8::9]:4711"]) {
      expect(await call(operation, apiKey, address)).toBeUndefined();
    }
    expect(await call(operation, apiKey, "198.51.100.1")).toEqual(refusal);
    expect(await call(operation, apiKey, "::ffff:c633:6401")).toEqual(refusal);
    // The first entry is the client's own claim.
    expect(await call(operation, apiKey, "203.0.113.7, 198.51.100.1")).toEqual(refusal);
  });
});

describe("the stream", () => {
  function open(apiKey: string, address = "203.0.113.7"): Socket {
    const socket = io(api.url, {
      transports: ["websocket"],
      forceNew: true,
      reconnection: false,
      auth: { apiKey },
      extraHeaders: { "x-forwarded-for": address },
    });
    sockets.push(socket);
    return socket;
  }

  const greeted = (socket: Socket) =>
    new Promise<unknown>((resolve, reject) => {
      socket.once("connected", resolve);
      socket.once("connect_error", reject);
    });

  const refusalOf = (socket: Socket) =>
    new Promise<unknown>((resolve) =>
      socket.once("connect_error", (error: Error & { data?: unknown }) => resolve(error.data)),
    );

  test("needs the scope read, and an allowed address [T225] [T226]", async () => {
    const { apiKey } = await create({ scopes: ["quote", "settle", "webhooks", "refunds"] });
    const details = { reason: "scope", scope: "read" };
    expect(await refusalOf(open(apiKey))).toMatchObject({ code: "FORBIDDEN", details });
    const local = await create({ scopes: ["read"], allowedNetworks: ["203.0.113.7"] });
    await greeted(open(local.apiKey, "::ffff:203.0.113.7"));
    const refusal = { code: "FORBIDDEN", details: { reason: "address", address: "203.0.113.8" } };
    expect(await refusalOf(open(local.apiKey, "203.0.113.8"))).toMatchObject(refusal);
  });

  test.each([
    [
      "expired",
      (keyId: string) =>
        database.db
          .updateTable("api_keys")
          .set({ expires_at: sql<string>`now()` })
          .where("id", "=", keyId)
          .execute(),
    ],
    ["lost its scope", (keyId: string) => setKey(database.db, { keyId, scopes: ["quote"] })],
    [
      "lost its address",
      (keyId: string) => setKey(database.db, { keyId, allowedNetworks: ["198.51.100.0/24"] }),
    ],
  ])("closes the sockets of a key that %s, and no others [T225]", async (_, change) => {
    const [lost, kept] = [await create({}), await create({ allowedNetworks: ["203.0.113.7"] })];
    const [closing, staying] = [open(lost.apiKey), open(kept.apiKey)];
    await Promise.all([greeted(closing), greeted(staying)]);
    await api.cutRefused();
    expect(closing.connected).toBe(true);
    await change(lost.keyId);
    const gone = new Promise((resolve) => closing.once("disconnect", resolve));
    await api.cutRefused();
    expect(await gone).toBe("io server disconnect");
    expect(staying.connected).toBe(true);
  });
});
