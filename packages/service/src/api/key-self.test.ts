/** A key sees its own rights, limits and use, and nothing of other keys. */
import { KEY_SCOPES, KeySelf } from "@sluice/sdk/wire";
import { Value } from "typebox/value";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { createTestUses, startApi } from "../../test/support/api.ts";
import { createTestDatabase, type TestDatabase } from "../../test/support/database.ts";
import { createTenant, PEPPER } from "../../test/support/tenants.ts";
import { createKey, listKeys } from "../integrators/index.ts";
import { systemRandom } from "../roles/system-ports.ts";
import { createRateLimiter } from "./rate-limits.ts";

const LIMITS = {
  perKey: 50,
  perAddress: 50,
  wrongKeyPerAddress: 50,
  requestIndexPerKey: 7,
  newAddressesPerKey: 8,
  nodeRequestsPerKey: 9,
};

let database: TestDatabase;
let close: () => Promise<void> = async () => {};

beforeAll(async () => {
  database = await createTestDatabase();
});
afterEach(() => close());
afterAll(() => database.drop());

async function listen() {
  const uses = createTestUses(database.db);
  const limiter = createRateLimiter(LIMITS);
  const api = await startApi({ db: database.db, uses, limiter, trustedProxies: ["127.0.0.1"] });
  close = api.close;
  const ask = async (apiKey: string) => {
    const headers = { "x-api-key": apiKey, "x-forwarded-for": "203.0.113.7" };
    const response = await fetch(`${api.url}/keys/self`, { headers });
    const body: unknown = await response.json();
    expect([...Value.Errors(KeySelf, body)]).toEqual([]);
    // CAST: checked against its schema.
    return body as KeySelf;
  };
  return { ask, uses, limiter };
}

test("a key sees its rights and the rest of its limits", async () => {
  const { ask, limiter } = await listen();
  const tenant = await createTenant(database.db);
  const { keyId, apiKey } = await createKey(
    { db: database.db, random: systemRandom, pepper: PEPPER },
    {
      integrator: tenant.id,
      depositAddresses: false,
      label: "reports",
      scopes: ["webhooks"],
      allowedNetworks: ["203.0.113.0/24"],
      expiresInMs: 60_000,
    },
  );
  await limiter.take("nodeRequestsPerKey", keyId, 4);
  const seen = await ask(apiKey);
  expect(seen).toMatchObject({
    id: keyId,
    integratorId: tenant.id,
    integratorName: tenant.name,
    label: "reports",
    scopes: ["webhooks"],
    depositAddresses: false,
    allowedNetworks: ["203.0.113.0/24"],
    address: "203.0.113.7",
    lastUsedAt: null,
    usage: [],
  });
  expect(Date.parse(seen.expiresAt ?? "") - Date.parse(seen.createdAt)).toBe(60_000);
  expect(seen.limits.map(({ name, limit, remaining }) => [name, limit, remaining])).toEqual([
    ["perKey", 50, 49],
    ["requestIndexPerKey", 7, 7],
    ["newAddressesPerKey", 8, 8],
    ["nodeRequestsPerKey", 9, 5],
  ]);
  const other = await ask(tenant.apiKey);
  expect(other).toMatchObject({ id: tenant.keyId, scopes: KEY_SCOPES, allowedNetworks: null });
  expect(other).not.toHaveProperty("label");
});

test("requests are counted per key and day, and added at once for all of them", async () => {
  const { ask, uses } = await listen();
  const [alice, bob] = [await createTenant(database.db), await createTenant(database.db)];
  for (const { apiKey } of [alice, alice, bob]) await ask(apiKey);
  uses.countNodeRequests(alice.keyId, 5);
  const lastUsedOf = async (keyId: string) =>
    (await listKeys(database.db, { integrator: undefined })).find((key) => key.keyId === keyId)
      ?.lastUsedAt;
  expect(await lastUsedOf(alice.keyId)).toBe(null);
  await uses.flush();
  const seen = await ask(alice.apiKey);
  expect(seen.usage).toMatchObject([{ requests: 2, nodeRequests: 5 }]);
  expect(seen.lastUsedAt).toBe(await lastUsedOf(alice.keyId));
  expect(seen.lastUsedAt).not.toBe(null);
  await uses.flush();
  await uses.flush();
  expect((await ask(alice.apiKey)).usage).toMatchObject([{ requests: 3, nodeRequests: 5 }]);
  expect((await ask(bob.apiKey)).usage).toMatchObject([{ requests: 1, nodeRequests: 0 }]);
});

test("counts that could not be added are kept for the next time", async () => {
  const broken = await createTestDatabase();
  const tenant = await createTenant(broken.db);
  const uses = createTestUses(broken.db);
  uses.countRequest(tenant.keyId);
  await broken.pool.query("alter table key_usage rename to away");
  await expect(uses.flush()).rejects.toThrow('relation "key_usage" does not exist');
  uses.countRequest(tenant.keyId);
  await broken.pool.query("alter table away rename to key_usage");
  await uses.flush();
  const rows = await broken.db.selectFrom("key_usage").select("requests").execute();
  expect(rows.map(({ requests }) => Number(requests))).toEqual([2]);
  await broken.drop();
});
