import { createSluiceClient } from "@sluice/sdk";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type RunningApi, startApi } from "../../test/support/api.ts";
import { createTestDatabase, type TestDatabase } from "../../test/support/database.ts";
import {
  createTenant,
  insertAddress,
  PEPPER,
  type Tenant,
  USDC,
} from "../../test/support/tenants.ts";
import { createKey } from "../integrators/index.ts";
import { systemRandom } from "../roles/system-ports.ts";
import type { RefundAsked } from "../settlements/index.ts";

const TRANSACTION = { evmChainId: 1, from: USDC, to: USDC, data: "0x", value: "0" };

let database: TestDatabase;
let api: RunningApi;
let asked: RefundAsked[] = [];
let tenant: Tenant;

beforeAll(async () => {
  database = await createTestDatabase();
  api = await startApi({
    db: database.db,
    scanned: [{ chainId: 2, name: "ethereum", kind: "evm", tokens: [] }],
    refunds: {
      async request(request) {
        asked.push(request);
        return { refund: null, transaction: TRANSACTION, reason: "by the authority" };
      },
      list: async () => ({ items: [], nextCursor: null }),
      find: async () => null,
    },
  });
  tenant = await createTenant(database.db);
});
afterAll(async () => {
  await api.close();
  await database.drop();
});

const clientOf = ({ apiKey }: Pick<Tenant, "apiKey">) =>
  createSluiceClient({ baseUrl: api.url, quoteUrl: api.url, apiKey });

test("a refund is asked for a wallet of the integrator, once per idempotency key", async () => {
  asked = [];
  const { wallet, id } = await insertAddress(database.db, tenant);
  const body = { walletAddress: wallet, tokenAddress: "native", chain: 2, note: "order 17" };
  const options = { idempotencyKey: "refund-17" };
  for (const _ of [1, 2]) {
    expect(await clientOf(tenant).requestRefund(body, options)).toEqual({
      refund: null,
      transaction: TRANSACTION,
      reason: "by the authority",
    });
  }
  expect(asked).toMatchObject([
    { chainId: 2, address: { id }, keyId: tenant.keyId, note: "order 17" },
  ]);
});

test("a request names no wallet of others and no recipient [T233] [T234]", async () => {
  asked = [];
  const { wallet } = await insertAddress(database.db, await createTenant(database.db));
  const own = await insertAddress(database.db, tenant);
  const ask = (body: object) => clientOf(tenant).requestRefund(body as never);
  const token = { tokenAddress: "native", chain: 2 };
  await expect(ask({ walletAddress: wallet, ...token })).rejects.toMatchObject({
    code: "NOT_FOUND",
  });
  await expect(ask({ walletAddress: own.wallet, ...token, to: USDC })).rejects.toMatchObject({
    code: "VALIDATION_ERROR",
    details: { field: "to" },
  });
  expect(asked).toEqual([]);
});

test("asking needs the scope refunds, reading the scope read [T225]", async () => {
  const deps = { db: database.db, random: systemRandom, pepper: PEPPER };
  const reader = await createKey(deps, {
    integrator: tenant.id,
    depositAddresses: true,
    scopes: ["read"],
  });
  expect(await clientOf(reader).listRefunds()).toEqual({ items: [], nextCursor: null });
  await expect(
    clientOf(reader).requestRefund({ walletAddress: USDC, tokenAddress: USDC, chain: 2 }),
  ).rejects.toMatchObject({ code: "FORBIDDEN", details: { scope: "refunds" } });
  await expect(clientOf(tenant).getRefund(systemRandom.uuid())).rejects.toMatchObject({
    code: "NOT_FOUND",
  });
});
