import { createSluiceClient, verifyIssuedAddresses } from "@sluice/sdk";
import type { AddressesRequest, AddressRequest } from "@sluice/sdk/wire";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startQuoteApp } from "../../test/support/api.ts";
import { createTestDatabase, type TestDatabase } from "../../test/support/database.ts";
import {
  createSponsoredFees,
  createStillClock,
  createStrictChain,
} from "../../test/support/doubles.ts";
import { createHex, createTenant, type Tenant } from "../../test/support/tenants.ts";
import { listAddresses } from "../addresses/index.ts";
import { hashCommitment, predictWallet } from "../chains/evm/commitment.ts";
import { toEvmAddress } from "../core/hex.ts";
import { setLimits } from "../integrators/index.ts";
import { addressFormat } from "../roles/address-format.ts";
import { systemRandom } from "../roles/system-ports.ts";
import { createRouteBook, type Route } from "../routes/index.ts";
import { issueMany, type QuoteDeps } from "./index.ts";

const FACTORY = toEvmAddress(`0x${"fa".repeat(20)}`);
const USDC = toEvmAddress(`0x${"5".repeat(40)}`);

let database: TestDatabase;
let app: Awaited<ReturnType<typeof startQuoteApp>>;
let tenant: Tenant;
const counted: number[] = [];

function createDeps(): QuoteDeps {
  const chain = createStrictChain({
    kind: "evm",
    chainId: 2,
    wallets: { kind: "contract" } as never,
    predictWallet: (commitment) => predictWallet(FACTORY, commitment),
    isWalletOf: ({ commitment, wallet }) => predictWallet(FACTORY, commitment) === wallet,
    hashCommitment,
    // CAST: issuing reads only the factory's address.
    addresses: { walletRoot: FACTORY } as never,
  });
  const members: Partial<Route> = {
    kind: "SWIFT",
    contract: toEvmAddress(`0x${"a1".repeat(20)}`),
    pair: { srcChain: 2, srcToken: USDC, destChain: 30, destToken: USDC },
  };
  const token = { address: USDC, symbol: "USDC", decimals: 6, minDeposit: undefined };
  return {
    db: database.db,
    clock: createStillClock(),
    random: systemRandom,
    chains: new Map([
      [2, chain],
      [30, chain],
    ]),
    // CAST: issuing reads no other member of a route.
    routes: createRouteBook([members as Route]),
    fees: createSponsoredFees(0),
    tokens: [
      { ...token, chainId: 2, evmChainId: 1 },
      { ...token, chainId: 30, evmChainId: 8453 },
    ],
    evmChainIds: new Map([
      [2, 1],
      [30, 8453],
    ]),
    format: addressFormat,
    reserved: new Set([FACTORY]),
    quotas: { addresses: 1_000, openSettlements: 0 },
    admitNewAddress: async (_, count) => void counted.push(count),
    caps: { maxFeeBps: 50, maxSlippageBps: 100 },
  };
}

beforeAll(async () => {
  database = await createTestDatabase();
  const deps = createDeps();
  app = await startQuoteApp({
    db: database.db,
    issueMany: (request, principal) => issueMany(deps, request, principal),
  });
  tenant = await createTenant(database.db);
});
afterAll(async () => {
  await app.close();
  await database.drop();
});

const clientOf = ({ apiKey }: Pick<Tenant, "apiKey">) =>
  createSluiceClient({ baseUrl: app.url, quoteUrl: app.url, apiKey });

const wanted = (more: Partial<AddressRequest> = {}): AddressRequest => ({
  fromChain: "ethereum",
  toChain: "base",
  toToken: "usdc",
  destinationAddress: createHex(20),
  ...more,
});

const listedOf = async ({ id }: Tenant) => {
  const page = { limit: 100, display: addressFormat.display };
  return (await listAddresses(database.db, id, page)).items;
};

describe("POST /addresses", () => {
  test("issues 500 addresses in one call, each with its user, label and metadata", async () => {
    const addresses = Array.from({ length: 500 }, (_, index) =>
      wanted({
        payUserId: `0x${(index + 1).toString(16)}`,
        payLabel: `customer ${index}`,
        payMetadata: { row: String(index) },
      }),
    );
    counted.length = 0;
    const answer = await clientOf(tenant).issueAddresses({ addresses });
    expect(answer.addresses).toHaveLength(500);
    expect(new Set(answer.addresses.map(({ walletAddress }) => walletAddress)).size).toBe(500);
    for (const [index, issued] of answer.addresses.entries()) {
      expect(issued).toMatchObject({
        userId: `0x${(index + 1).toString(16).padStart(40, "0")}`,
        label: `customer ${index}`,
        metadata: { row: String(index) },
        destChain: "30",
      });
      expect(issued.destWallet.toLowerCase()).toBe(addresses[index]?.destinationAddress);
    }
    const verification = verifyIssuedAddresses({
      request: { addresses },
      response: answer,
      trusted: { factory: FACTORY },
      expected: () => ({ integrator: tenant.id, destChain: 30, destToken: USDC }),
    });
    expect(verification).toEqual({
      kind: "ok",
      addresses: answer.addresses.map(({ walletAddress }) => walletAddress),
    });
    expect(counted).toEqual([500]);
    // The same request issues nothing, and one with another label changes only that.
    const [first, ...rest] = addresses;
    const again = await clientOf(tenant).issueAddresses({
      addresses: [{ ...wanted(), ...first, payLabel: "renamed" }, ...rest],
    });
    expect(again.addresses).toEqual([
      { ...answer.addresses[0], label: "renamed" },
      ...answer.addresses.slice(1),
    ]);
  });

  test("repeats the answer of an idempotency key", async () => {
    const body = { addresses: [wanted()] };
    const options = { idempotencyKey: "batch-1" };
    const first = await clientOf(tenant).issueAddresses(body, options);
    expect(await clientOf(tenant).issueAddresses(body, options)).toEqual(first);
    const other = { addresses: [wanted()] };
    await expect(clientOf(tenant).issueAddresses(other, options)).rejects.toMatchObject({
      status: 422,
      details: { reason: "other_request" },
    });
  });

  test.each<[string, string, Partial<AddressRequest>]>([
    ["fromChain", "VALIDATION_ERROR", { fromChain: undefined as never }],
    ["fromChain", "UNSUPPORTED_CHAIN", { fromChain: "nowhere" }],
    ["toChain", "UNSUPPORTED_DEST", { toChain: "polygon" }],
    ["toToken", "UNSUPPORTED_ROUTE", { toToken: `0x${"9".repeat(40)}` }],
    ["toToken", "VALIDATION_ERROR", { toToken: "NOPE" }],
    ["destinationAddress", "VALIDATION_ERROR", { destinationAddress: FACTORY }],
    ["payUserId", "VALIDATION_ERROR", { payUserId: "order-1" }],
    ["payLabel", "VALIDATION_ERROR", { payLabel: "" }],
    ["payLable", "VALIDATION_ERROR", { ["payLable" as "payLabel"]: "typo" }],
  ])("names the index and field %s of a %s and issues none", async (field, code, wrong) => {
    const own = await createTenant(database.db);
    const addresses = [wanted(), wanted(), wanted(wrong), wanted()];
    await expect(clientOf(own).issueAddresses({ addresses })).rejects.toMatchObject({
      code,
      message: expect.stringContaining("addresses.2"),
      details: { field: `addresses.2.${field}` },
    });
    expect(await listedOf(own)).toEqual([]);
  });

  test("refuses the same address twice, a deposit address as destination, and too many", async () => {
    const own = await createTenant(database.db);
    const issue = (addresses: AddressesRequest["addresses"]) =>
      clientOf(own).issueAddresses({ addresses });
    const one = wanted();
    await expect(issue([one, wanted(), one])).rejects.toMatchObject({
      details: { field: "addresses.2.payUserId", index: 2 },
    });
    const [issued] = (await issue([one])).addresses;
    const looping = wanted({ destinationAddress: issued?.walletAddress ?? "" });
    await expect(issue([wanted(), looping])).rejects.toMatchObject({
      details: { field: "addresses.1.destinationAddress" },
    });
    const many = Array.from({ length: 501 }, () => wanted());
    for (const wrong of [[], many]) {
      await expect(issue(wrong)).rejects.toMatchObject({
        code: "VALIDATION_ERROR",
        details: { field: "addresses" },
      });
    }
    expect(await listedOf(own)).toHaveLength(1);
  });

  test("issues none above the quota, whose refusal names it", async () => {
    const own = await createTenant(database.db);
    await setLimits(database.db, { integrator: own.name, limits: { addresses: 2 } });
    const addresses = [wanted(), wanted(), wanted()];
    await expect(clientOf(own).issueAddresses({ addresses })).rejects.toMatchObject({
      status: 429,
      details: { reason: "quota_exceeded", quota: "addresses", limit: 2 },
    });
    expect(await listedOf(own)).toEqual([]);
    const rest = await clientOf(own).issueAddresses({ addresses: addresses.slice(1) });
    const listed = (await listedOf(own)).toReversed();
    expect(rest.addresses).toMatchObject(
      listed.map((address) => ({ ...address, label: null, metadata: {} })),
    );
  });

  test("refuses a key that gets no deposit addresses", async () => {
    const restricted = await createTenant(database.db, false);
    await expect(
      clientOf(restricted).issueAddresses({ addresses: [wanted()] }),
    ).rejects.toMatchObject({
      status: 403,
      code: "FORBIDDEN",
      details: { reason: "deposit_addresses" },
    });
  });
});
