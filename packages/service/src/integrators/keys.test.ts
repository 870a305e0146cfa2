/** Rights, expiry and rotation of API keys; authentication itself is in `integrators.test.ts`. */
import { KEY_SCOPES } from "@sluice/sdk/wire";
import { sql } from "kysely";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { createTestDatabase, type TestDatabase } from "../../test/support/database.ts";
import { createTenant, PEPPER, type Tenant } from "../../test/support/tenants.ts";
import { systemRandom } from "../roles/system-ports.ts";
import {
  authenticate,
  createKey,
  isAllowedFrom,
  listKeys,
  readRights,
  revokeKey,
  rotateKey,
  setKey,
} from "./index.ts";

const HOUR_MS = 3_600_000;

let database: TestDatabase;
let deps: {
  readonly db: TestDatabase["db"];
  readonly random: typeof systemRandom;
  readonly pepper: typeof PEPPER;
};
let tenant: Tenant;

beforeAll(async () => {
  database = await createTestDatabase();
  deps = { db: database.db, random: systemRandom, pepper: PEPPER };
});
afterAll(() => database.drop());
beforeEach(async () => {
  tenant = await createTenant(database.db);
});

type Settings = Omit<Parameters<typeof createKey>[1], "integrator" | "depositAddresses">;
const create = (settings: Settings = {}) =>
  createKey(deps, { integrator: tenant.id, depositAddresses: true, ...settings });

const factsOf = async (keyId: string) =>
  (await listKeys(database.db, { integrator: tenant.id })).find((key) => key.keyId === keyId);

/** Ends the lifetime of a key now. */
const expire = (keyId: string) =>
  database.db
    .updateTable("api_keys")
    .set({ expires_at: sql<string>`now()` })
    .where("id", "=", keyId)
    .execute();

const refused = (field: string) => ({ code: "VALIDATION_ERROR", details: { field } });

describe("rights of a key", () => {
  test("are those it was created with, networks in canonical form", async () => {
    const { keyId, apiKey } = await create({
      label: "payouts, Zürich",
      scopes: ["quote", "read", "read"],
      allowedNetworks: ["203.0.113.7", "::ffff:10.0.0.0/104", "2001:DB8::/32"],
      expiresInMs: HOUR_MS,
    });
    const allowedNetworks = ["203.0.113.7", "10.0.0.0/8", "2001:db8::/32"];
    const scopes = new Set(["quote", "read"]);
    expect(await authenticate(deps, apiKey)).toMatchObject({ keyId, scopes, allowedNetworks });
    expect(await readRights(database.db, [keyId])).toEqual(
      new Map([[keyId, { scopes, allowedNetworks }]]),
    );
    const facts = await factsOf(keyId);
    expect(facts).toMatchObject({ label: "payouts, Zürich", state: "valid", allowedNetworks });
    expect(facts?.scopes.toSorted()).toEqual(["quote", "read"]);
    const left = Date.parse(facts?.expiresAt ?? "") - Date.parse(facts?.createdAt ?? "");
    expect(left).toBe(HOUR_MS);
  });

  test("are all scopes from every address without restrictions", async () => {
    const principal = await authenticate(deps, tenant.apiKey);
    expect(principal).toMatchObject({ scopes: new Set(KEY_SCOPES), allowedNetworks: null });
    expect(isAllowedFrom(principal, "unknown")).toBe(true);
  });

  test.each([
    ["203.0.113.7", true],
    ["::ffff:203.0.113.7", true],
    ["::ffff:cb00:7107", true],
    ["203.0.113.8", false],
    ["::203.0.113.7", false],
    ["64:ff9b::203.0.113.7", false],
    ["2001:db8::1", true],
    ["2001:db9::1", false],
    ["unknown", false],
    ["", false],
  ])("allow %j: %s, by the address and not by its spelling [T226]", async (address, isAllowed) => {
    const { apiKey } = await create({ allowedNetworks: ["203.0.113.7", "2001:db8::/32"] });
    expect(isAllowedFrom(await authenticate(deps, apiKey), address)).toBe(isAllowed);
  });

  test("change at once, and null removes a restriction", async () => {
    const { keyId, apiKey } = await create({ scopes: ["read"], expiresInMs: HOUR_MS });
    await setKey(database.db, { keyId, allowedNetworks: ["10.0.0.0/8"] });
    expect(await authenticate(deps, apiKey)).toMatchObject({
      scopes: new Set(["read"]),
      allowedNetworks: ["10.0.0.0/8"],
    });
    await setKey(database.db, { keyId, scopes: null, allowedNetworks: null, expiresInMs: null });
    expect(await authenticate(deps, apiKey)).toMatchObject({
      scopes: new Set(KEY_SCOPES),
      allowedNetworks: null,
    });
    expect((await factsOf(keyId))?.expiresAt).toBe(null);
  });

  test.each<[string, Settings]>([
    ["label", { label: "" }],
    ["label", { label: "a\nb" }],
    ["label", { label: "x".repeat(101) }],
    ["scopes", { scopes: [] }],
    ["allow", { allowedNetworks: [] }],
    ["allow", { allowedNetworks: ["10.0.0.1/8"] }],
    ["allow", { allowedNetworks: ["example.com"] }],
    ["allow", { allowedNetworks: Array.from({ length: 51 }, (_, n) => `10.0.0.${n}`) }],
  ])("are refused with a bad %s: %j", async (field, settings) => {
    await expect(create(settings)).rejects.toMatchObject(refused(field));
    const change = setKey(database.db, { keyId: tenant.keyId, ...settings });
    await expect(change).rejects.toMatchObject(refused(field));
  });
});

test.each(["sk_live_", "sk_test_"] as const)("a key can begin with %s", async (prefix) => {
  const { keyId, apiKey } = await create({ prefix });
  expect(apiKey).toMatch(new RegExp(`^${prefix}[0-9a-f]{32}$`));
  expect(await authenticate(deps, apiKey)).toMatchObject({ keyId });
  const digits = apiKey.slice(prefix.length);
  const other = prefix === "sk_live_" ? "sk_test_" : "sk_live_";
  const uuid = digits.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
  for (const wrong of [`${other}${digits}`, digits, uuid, `${apiKey} `, prefix]) {
    await expect(authenticate(deps, wrong)).rejects.toMatchObject({ code: "FORBIDDEN" });
  }
});

describe("an expired key", () => {
  test("is refused by name, keeps no rights, and cannot be changed or rotated [T225]", async () => {
    const { keyId, apiKey } = await create({ expiresInMs: HOUR_MS });
    await expire(keyId);
    await expect(authenticate(deps, apiKey)).rejects.toMatchObject({
      code: "FORBIDDEN",
      details: { reason: "expired" },
    });
    expect(await readRights(database.db, [keyId, tenant.keyId])).toEqual(
      new Map([[tenant.keyId, { scopes: new Set(KEY_SCOPES), allowedNetworks: null }]]),
    );
    expect(await factsOf(keyId)).toMatchObject({ state: "expired" });
    const change = setKey(database.db, { keyId, expiresInMs: null });
    await expect(change).rejects.toMatchObject(refused("keyId"));
    const rotation = rotateKey(deps, { keyId, overlapMs: HOUR_MS });
    await expect(rotation).rejects.toMatchObject(refused("keyId"));
    await revokeKey(database.db, { keyId });
    expect(await factsOf(keyId)).toMatchObject({ state: "revoked" });
  });
});

describe("rotation", () => {
  test("leaves both keys valid for the overlap, with the same rights", async () => {
    const old = await create({
      label: "shop",
      scopes: ["read"],
      allowedNetworks: ["10.0.0.0/8"],
      prefix: "sk_live_",
    });
    const next = await rotateKey(deps, { keyId: old.keyId, overlapMs: HOUR_MS });
    const [before, after] = [await factsOf(old.keyId), await factsOf(next.keyId)];
    expect(after).toMatchObject({
      label: "shop",
      prefix: "sk_live_",
      scopes: ["read"],
      allowedNetworks: ["10.0.0.0/8"],
      replaces: old.keyId,
      expiresAt: null,
      state: "valid",
    });
    expect(before?.expiresAt).toBe(next.replacedExpiresAt);
    expect(Date.parse(next.replacedExpiresAt) - Date.parse(after?.createdAt ?? "")).toBe(HOUR_MS);
    for (const { apiKey, keyId } of [old, next]) {
      expect(await authenticate(deps, apiKey)).toMatchObject({ keyId, integratorId: tenant.id });
    }
    await expire(old.keyId);
    await expect(authenticate(deps, old.apiKey)).rejects.toMatchObject({ code: "FORBIDDEN" });
    expect(await authenticate(deps, next.apiKey)).toMatchObject({ keyId: next.keyId });
  });

  test("never prolongs a key, and repeats its lifetime unless told otherwise", async () => {
    const old = await create({ expiresInMs: HOUR_MS });
    const until = (await factsOf(old.keyId))?.expiresAt;
    const next = await rotateKey(deps, { keyId: old.keyId, overlapMs: 24 * HOUR_MS });
    expect(next.replacedExpiresAt).toBe(until);
    const facts = await factsOf(next.keyId);
    const lifetime = Date.parse(facts?.expiresAt ?? "") - Date.parse(facts?.createdAt ?? "");
    expect(lifetime).toBe(HOUR_MS);
    const last = await rotateKey(deps, {
      keyId: next.keyId,
      overlapMs: HOUR_MS,
      expiresInMs: null,
    });
    expect((await factsOf(last.keyId))?.expiresAt).toBe(null);
  });

  test("gives a key one successor, also when run twice at the same time, until that is revoked", async () => {
    const { keyId } = await create();
    const rotate = () => rotateKey(deps, { keyId, overlapMs: HOUR_MS });
    const results = await Promise.allSettled([rotate(), rotate()]);
    const [won] = results.flatMap((result) => (result.status === "fulfilled" ? result.value : []));
    const lost = results.flatMap((result) => (result.status === "rejected" ? result.reason : []));
    expect(lost).toMatchObject([refused("keyId")]);
    await revokeKey(database.db, { keyId: won?.keyId ?? "" });
    expect(await rotate()).toMatchObject({ apiKey: expect.any(String) });
  });

  test.each(["nothing", "0b5e0a4e-6f3c-4a53-9d7a-2f9f0a3f6c11"])(
    "is refused for %s, which is no key",
    async (keyId) => {
      const rotation = rotateKey(deps, { keyId, overlapMs: HOUR_MS });
      await expect(rotation).rejects.toMatchObject(refused("keyId"));
    },
  );
});
