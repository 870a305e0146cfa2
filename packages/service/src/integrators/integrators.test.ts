import { KEY_SCOPES } from "@sluice/sdk/wire";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createTestDatabase, type TestDatabase } from "../../test/support/database.ts";
import { toBase58 } from "../core/base58.ts";
import { Secret } from "../core/secret.ts";
import { systemRandom } from "../roles/system-ports.ts";
import {
  authenticate,
  createIntegrator,
  createKey,
  listIntegrators,
  listKeys,
  readRights,
  revokeKey,
  setRefundSolana,
} from "./index.ts";

const REFUND = "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed";
const ID = "0b5e0a4e-6f3c-4a53-9d7a-2f9f0a3f6c11";
const pepper = new Secret("a pepper that is long enough");

let database: TestDatabase;
let deps: { db: TestDatabase["db"]; random: typeof systemRandom; pepper: Secret };

beforeAll(async () => {
  database = await createTestDatabase();
  deps = { db: database.db, random: systemRandom, pepper };
});
afterAll(() => database.drop());

/** Of the vectors of RFC 8032. */
const [SOLANA_REFUND, OTHER_SOLANA_REFUND] = [
  toBase58("0xd75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a"),
  toBase58("0x3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c"),
];
const FACTS = { refundEvm: REFUND, maxFeeBps: 50, maxSlippageBps: 100 };

describe("integrators", () => {
  test("store the refund authority in its canonical spelling", async () => {
    const { integratorId } = await createIntegrator(deps, { ...FACTS, name: "shop" });
    const rows = await deps.db
      .selectFrom("integrators")
      .selectAll()
      .where("id", "=", integratorId)
      .execute();
    expect(rows).toMatchObject([
      { name: "shop", refund_evm: REFUND.toLowerCase(), max_fee_bps: 50, max_slippage_bps: 100 },
    ]);
  });

  test("have unique names, also when two are created concurrently", async () => {
    const results = await Promise.allSettled(
      [1, 2, 3].map(() => createIntegrator(deps, { ...FACTS, name: "twice" })),
    );
    expect(results.map(({ status }) => status).sort()).toEqual([
      "fulfilled",
      "rejected",
      "rejected",
    ]);
    await expect(createIntegrator(deps, { ...FACTS, name: "twice" })).rejects.toMatchObject({
      code: "VALIDATION_ERROR",
      details: { field: "name" },
    });
  });

  test.each([
    ["name", { name: "" }],
    ["name", { name: "A Shop" }],
    ["name", { name: "shop\n" }],
    ["name", { name: ID }],
    ["refundEvm", { refundEvm: "0x1" }],
    ["refundEvm", { refundEvm: `0x${"0".repeat(40)}` }],
    ["refundEvm", { refundEvm: REFUND.replace("5a", "5A") }],
    ["refundSolana", { refundSolana: REFUND }],
    ["refundSolana", { refundSolana: "11111111111111111111111111111111" }],
    ["refundSolana", { refundSolana: "TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA" }],
    ["refundSolana", { refundSolana: SOLANA_REFUND.slice(1) }],
    ["maxFeeBps", { maxFeeBps: 10_001 }],
    ["maxFeeBps", { maxFeeBps: 0.5 }],
    ["maxSlippageBps", { maxSlippageBps: -1 }],
  ])("are refused with a bad %s: %j", async (field, wrong) => {
    const creating = createIntegrator(deps, { ...FACTS, name: "bad", ...wrong });
    await expect(creating).rejects.toMatchObject({ code: "VALIDATION_ERROR", details: { field } });
  });
});

describe("a refund authority on Solana", () => {
  const refundsOf = async (name: string) =>
    (await listIntegrators(deps.db)).find((one) => one.name === name)?.refundSolana;

  test("is set at creation and shown as it was written", async () => {
    await createIntegrator(deps, { ...FACTS, name: "early", refundSolana: SOLANA_REFUND });
    expect(await refundsOf("early")).toBe(SOLANA_REFUND);
  });

  test("is set later at most once: the same one is accepted, another is refused", async () => {
    await createIntegrator(deps, { ...FACTS, name: "late" });
    expect(await refundsOf("late")).toBe(null);
    const set = (refundSolana: string) =>
      setRefundSolana(deps.db, { integrator: "late", refundSolana });
    await expect(set(REFUND)).rejects.toMatchObject({ details: { field: "refundSolana" } });
    await set(SOLANA_REFUND);
    await set(SOLANA_REFUND);
    await expect(set(OTHER_SOLANA_REFUND)).rejects.toMatchObject({
      code: "VALIDATION_ERROR",
      message:
        "refundSolana: expected the refund authority that is already set; it cannot be changed.",
    });
    expect(await refundsOf("late")).toBe(SOLANA_REFUND);
  });

  test("is refused for an unknown integrator", async () => {
    const change = { integrator: "nobody", refundSolana: SOLANA_REFUND };
    await expect(setRefundSolana(deps.db, change)).rejects.toMatchObject({
      details: { field: "integrator" },
    });
  });
});

describe("keys", () => {
  test("are stored only as a keyed hash [T88]", async () => {
    const { integratorId } = await createIntegrator(deps, { ...FACTS, name: "hashed" });
    const { keyId, apiKey } = await createKey(deps, {
      integrator: integratorId,
      depositAddresses: true,
    });
    expect(apiKey).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    expect(apiKey).not.toBe(keyId);
    const { rows } = await database.pool.query<{ text: string; size: number }>(
      "select k::text as text, length(k.key_hmac) as size from api_keys k where id = $1",
      [keyId],
    );
    expect(rows[0]?.size).toBe(32);
    const dump = rows[0]?.text ?? "";
    expect(dump).not.toContain(apiKey);
    expect(dump).not.toContain(apiKey.replaceAll("-", ""));
    expect(dump).not.toContain(Buffer.from(apiKey).toString("hex"));
    const wrongPepper = { ...deps, pepper: new Secret("another pepper, long enough") };
    await expect(authenticate(wrongPepper, apiKey)).rejects.toMatchObject({ code: "FORBIDDEN" });
  });

  test("authenticate in either letter case, with their permissions", async () => {
    const { integratorId } = await createIntegrator(deps, { ...FACTS, name: "named" });
    const on = await createKey(deps, { integrator: "named", depositAddresses: true });
    const off = await createKey(deps, { integrator: integratorId, depositAddresses: false });
    const rights = { scopes: new Set(KEY_SCOPES), allowedNetworks: null };
    const holder = { integratorId, integratorName: "named", ...rights };
    expect(await authenticate(deps, on.apiKey.toUpperCase())).toEqual({
      ...holder,
      keyId: on.keyId,
      depositAddresses: true,
    });
    expect(await authenticate(deps, off.apiKey)).toEqual({
      ...holder,
      keyId: off.keyId,
      depositAddresses: false,
    });
  });

  test("are refused for an integrator that does not exist", async () => {
    for (const integrator of ["nobody", ID]) {
      await expect(createKey(deps, { integrator, depositAddresses: true })).rejects.toMatchObject({
        code: "VALIDATION_ERROR",
        details: { field: "integrator" },
      });
    }
  });

  test.each([[undefined], [""], [null]])("T87 %j is a missing key", async (key) => {
    await expect(authenticate(deps, key)).rejects.toMatchObject({ code: "UNAUTHORIZED" });
  });

  test.each([[ID], ["not a uuid"], [`${ID} `], [`${ID}, ${ID}`], [[ID, ID]], [{ a: 1 }], [0]])(
    "T87 %j is an invalid key",
    async (key) => {
      await expect(authenticate(deps, key)).rejects.toMatchObject({ code: "FORBIDDEN" });
    },
  );

  test("are invalid once revoked", async () => {
    await createIntegrator(deps, { ...FACTS, name: "revoked" });
    const { keyId, apiKey } = await createKey(deps, {
      integrator: "revoked",
      depositAddresses: true,
    });
    await authenticate(deps, apiKey);
    await database.pool.query("update api_keys set revoked_at = now() where id = $1", [keyId]);
    await expect(authenticate(deps, apiKey)).rejects.toMatchObject({ code: "FORBIDDEN" });
  });
});

describe("keys of an integrator", () => {
  test("are listed without their secret, and refused once revoked", async () => {
    await createIntegrator(deps, { ...FACTS, name: "keys" });
    const one = await createKey(deps, { integrator: "keys", depositAddresses: true });
    const other = await createKey(deps, { integrator: "keys", depositAddresses: false });
    const before = await listKeys(deps.db, { integrator: "keys" });
    // Both may be of one millisecond, in which their order is that of their ids.
    const factsOf = (keyId: string) => before.find((key) => key.keyId === keyId);
    expect(before).toHaveLength(2);
    expect(factsOf(one.keyId)).toMatchObject({
      integrator: "keys",
      depositAddresses: true,
      state: "valid",
      revokedAt: null,
    });
    expect(factsOf(other.keyId)).toMatchObject({ depositAddresses: false, revokedAt: null });
    expect(JSON.stringify(before)).not.toContain(one.apiKey);
    await revokeKey(deps.db, { keyId: one.keyId });
    await expect(authenticate(deps, one.apiKey)).rejects.toMatchObject({ code: "FORBIDDEN" });
    expect(await authenticate(deps, other.apiKey)).toMatchObject({ keyId: other.keyId });
    expect([...(await readRights(deps.db, [one.keyId, other.keyId])).keys()]).toEqual([
      other.keyId,
    ]);
    const after = await listKeys(deps.db, { integrator: "keys" });
    expect(after.find(({ keyId }) => keyId === one.keyId)?.revokedAt).toMatch(/Z$/);
    const all = await listKeys(deps.db, { integrator: undefined });
    expect(all.length).toBeGreaterThan(2);
  });

  test.each(["nothing", ID, ""])("one that is not there (%s) cannot be revoked", async (keyId) => {
    await expect(revokeKey(deps.db, { keyId })).rejects.toMatchObject({
      code: "VALIDATION_ERROR",
      details: { field: "keyId" },
    });
  });

  test("cannot be revoked twice", async () => {
    await createIntegrator(deps, { ...FACTS, name: "once" });
    const { keyId } = await createKey(deps, { integrator: "once", depositAddresses: true });
    await revokeKey(deps.db, { keyId });
    await expect(revokeKey(deps.db, { keyId })).rejects.toMatchObject({ code: "VALIDATION_ERROR" });
  });

  test("are not listed for an unknown integrator", async () => {
    await expect(listKeys(deps.db, { integrator: "nobody" })).rejects.toMatchObject({
      details: { field: "integrator" },
    });
  });
});
