import { sql } from "kysely";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createTestDatabase, type TestDatabase } from "../../test/support/database.ts";
import { createHex, createTenant, type Tenant } from "../../test/support/tenants.ts";
import { hashCommitment, predictWallet } from "../chains/evm/commitment.ts";
import { type AddressTerms, type Commitment, GOVERNED } from "../core/commitment.ts";
import { createInTurn } from "../core/in-turn.ts";
import { OperatingError } from "../core/errors.ts";
import { type EvmAddress, padAddress, toEvmAddress, toHex32 } from "../core/hex.ts";
import { openDatabase } from "../db/pool.ts";
import { lockStamps } from "../events/index.ts";
import { listIntegrators, setAddressTerms, setLimits } from "../integrators/index.ts";
import { systemRandom } from "../roles/system-ports.ts";
import { rootOfRoutes } from "@sluice/sdk/address";
import { assertDerived, issueAddress } from "./issue.ts";
import type { DepositAddress, Destination, RouteSet } from "./types.ts";

const FACTORY = toEvmAddress(`0x${"fa".repeat(20)}`);
const OTHER_FACTORY = toEvmAddress(`0x${"fb".repeat(20)}`);

/** Creates the part of a chain that derives wallets. */
function chainOf(
  factory: EvmAddress,
): Parameters<typeof assertDerived>[0] & Parameters<typeof issueAddress>[1]["chain"] {
  return {
    chainId: 2,
    kind: "evm",
    wallets: { kind: "contract" },
    predictWallet: (commitment) => predictWallet(factory, commitment),
    isWalletOf: ({ commitment, wallet }) => predictWallet(factory, commitment) === wallet,
    hashCommitment,
    // CAST: issueAddress reads only the factory's address.
    addresses: { walletRoot: factory } as Parameters<typeof assertDerived>[0]["addresses"],
  };
}

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

function createDestination(): Destination {
  return {
    userId: createHex(20),
    destChain: 30,
    destWallet: toEvmAddress(createHex(20)),
    destToken: toEvmAddress(createHex(20)),
  };
}

function issue(integratorId: string, destination: Destination, factory = FACTORY) {
  const deps = { db: database.db, random: systemRandom };
  return issueAddress(deps, { chain: chainOf(factory), integratorId, destination });
}

test("new addresses of an integrator that wait for one another leave the connections to others [T206]", async () => {
  const [hostile, honest] = [await createTenant(database.db), await createTenant(database.db)];
  const { db, close } = await openDatabase(database.address, { max: 2 });
  const deps = { db, random: systemRandom, inTurn: createInTurn() };
  const issueFor = ({ id: integratorId }: Tenant) =>
    issueAddress(deps, { chain: chainOf(FACTORY), integratorId, destination: createDestination() });
  let flood: Promise<readonly DepositAddress[]> = Promise.resolve([]);
  await database.db.transaction().execute(async (tx) => {
    // Somebody holds the integrator's lock, as its own events and settlements do.
    await lockStamps(tx, hostile.id);
    flood = Promise.all(Array.from({ length: 8 }, () => issueFor(hostile)));
    for (let n = 0; n < 3; n += 1) {
      expect(await issueFor(honest)).toMatchObject({ integratorId: honest.id });
    }
  });
  expect(new Set((await flood).map(({ wallet }) => wallet)).size).toBe(8);
  await close();
});

const ROUTE_SET: RouteSet = [
  { chainId: 2, evmChainId: 1, route: toEvmAddress(`0x${"a1".repeat(20)}`) },
  { chainId: 30, evmChainId: 8453, route: toEvmAddress(`0x${"a2".repeat(20)}`) },
];

function issueOn(integratorId: string, destination: Destination, terms: AddressTerms) {
  const deps = { db: database.db, random: systemRandom };
  const chain = chainOf(FACTORY);
  return issueAddress(deps, { chain, integratorId, destination, terms, routeSet: ROUTE_SET });
}

async function countAddresses(integratorId: string): Promise<number> {
  const rows = await database.db
    .selectFrom("addresses")
    .select("id")
    .where("integrator_id", "=", integratorId)
    .execute();
  return rows.length;
}

describe("the quota of an integrator", () => {
  test("refuses new addresses, never issued ones, and counts concurrent requests [T161]", async () => {
    const { db } = database;
    const { id, name } = await createTenant(db);
    const destinations = Array.from({ length: 10 }, createDestination);
    const issueWithin = (destination: Destination) =>
      issueAddress(
        { db, random: systemRandom, quotas: { addresses: 3, openSettlements: 0 } },
        { chain: chainOf(FACTORY), integratorId: id, destination },
      );
    const answers = await Promise.allSettled(destinations.map(issueWithin));
    const refused = answers.filter((answer) => answer.status === "rejected");
    expect(refused).toHaveLength(7);
    expect(refused[0]?.reason).toMatchObject({
      httpStatus: 429,
      code: "RPC_UNAVAILABLE",
      // Issued addresses stay, so that no retry mends it.
      retryable: false,
      details: { reason: "quota_exceeded", quota: "addresses", limit: 3 },
    });
    expect(await countAddresses(id)).toBe(3);
    const known = destinations.filter((_, index) => answers[index]?.status === "fulfilled");
    expect(await Promise.all(known.map(issueWithin))).toHaveLength(3);
    await setLimits(db, { integrator: name, limits: { addresses: 4 } });
    await issueWithin(createDestination());
    await expect(issueWithin(createDestination())).rejects.toMatchObject({ httpStatus: 429 });
    const listed = (await listIntegrators(db)).find(({ integratorId }) => integratorId === id);
    expect(listed).toMatchObject({ addressesIssued: 4, addressesMax: 4 });
  });
});

describe("an issued address", () => {
  test("derives from the destination, the integrator and the factory", async () => {
    const tenant = await createTenant(database.db);
    const destination = createDestination();
    const address = await issue(tenant.id, destination);
    const commitment = {
      integrator: `0x${tenant.id.replaceAll("-", "").padStart(64, "0")}`,
      userId: padAddress(toEvmAddress(destination.userId)),
      destChain: 30,
      destWallet: padAddress(destination.destWallet),
      destToken: padAddress(destination.destToken),
      refundAuthority: padAddress(toEvmAddress(`0x${"7".repeat(40)}`)),
      maxFeeBps: 50,
      maxSlippageBps: 100,
      ...GOVERNED,
    };
    expect(address).toEqual({
      ...destination,
      id: address.id,
      integratorId: tenant.id,
      walletRoot: FACTORY,
      commitment,
      family: "evm",
      wallet: predictWallet(FACTORY, address.commitment),
      proof: null,
      routeSet: null,
      commitmentHash: hashCommitment(address.commitment),
    });
    expect(address.id).toMatch(/^[0-9a-f-]{36}$/);
  });

  test("is the same for the same user and destination, also under concurrency", async () => {
    const tenant = await createTenant(database.db);
    const destination = createDestination();
    const asked = await Promise.all(Array.from({ length: 8 }, () => issue(tenant.id, destination)));
    asked.push(await issue(tenant.id, destination));
    for (const address of asked) expect(address).toEqual(asked[0]);
    expect(await countAddresses(tenant.id)).toBe(1);
  });

  test("keeps its refund authority and caps when the integrator changes", async () => {
    const tenant = await createTenant(database.db);
    const destination = createDestination();
    const before = await issue(tenant.id, destination);
    await database.db
      .updateTable("integrators")
      .set({ refund_evm: createHex(20), max_fee_bps: 70, max_slippage_bps: 170 })
      .where("id", "=", tenant.id)
      .execute();
    expect(await issue(tenant.id, destination)).toEqual(before);
    const after = await issue(tenant.id, createDestination());
    expect(after.commitment).toMatchObject({ maxFeeBps: 70, maxSlippageBps: 170 });
  });

  test("is refused when another factory is configured", async () => {
    const tenant = await createTenant(database.db);
    const destination = createDestination();
    const before = await issue(tenant.id, destination);
    await expect(issue(tenant.id, destination, OTHER_FACTORY)).rejects.toMatchObject({
      code: "CONFIG_MISSING",
      details: { reason: "factory_changed" },
    });
    expect(await issue(tenant.id, destination)).toEqual(before);
  });

  test.each([
    ["wallet", { wallet: createHex(20) }],
    ["refund authority", { refund_authority: createHex(20) }],
    ["fee cap", { max_fee_bps: 10_000 }],
    ["slippage cap", { max_slippage_bps: 10_000 }],
    ["hash", { commitment: createHex(32) }],
  ])("is refused when the %s of its row was edited", async (_what, edit) => {
    const tenant = await createTenant(database.db);
    const destination = createDestination();
    const { id } = await issue(tenant.id, destination);
    await database.db.updateTable("addresses").set(edit).where("id", "=", id).execute();
    await expect(issue(tenant.id, destination)).rejects.toMatchObject({
      code: "CONFIG_MISSING",
      details: { reason: "address_row_changed" },
    });
  });

  test("is refused when its row is another user's with an edited destination", async () => {
    const tenant = await createTenant(database.db);
    const [destination, thief] = [createDestination(), createDestination()];
    await issue(tenant.id, destination);
    const stolen = await issue(tenant.id, thief);
    // The thief's row takes the place of the destination's row.
    await database.db
      .deleteFrom("addresses")
      .where("integrator_id", "=", tenant.id)
      .where("user_id", "=", destination.userId)
      .execute();
    await database.db
      .updateTable("addresses")
      .set({
        user_id: destination.userId,
        dest_wallet: destination.destWallet,
        dest_token: destination.destToken,
      })
      .where("id", "=", stolen.id)
      .execute();
    await expect(issue(tenant.id, destination)).rejects.toMatchObject({
      details: { reason: "address_row_changed" },
    });
  });

  test("differs for another user, chain, wallet, token or integrator", async () => {
    const tenant = await createTenant(database.db);
    const other = await createTenant(database.db);
    const destination = createDestination();
    const { userId, destWallet, destToken } = createDestination();
    const issued = [
      await issue(tenant.id, destination),
      await issue(tenant.id, { ...destination, userId }),
      await issue(tenant.id, { ...destination, destChain: 2 }),
      await issue(tenant.id, { ...destination, destWallet }),
      await issue(tenant.id, { ...destination, destToken }),
      await issue(other.id, destination),
    ];
    expect(new Set(issued.map(({ wallet }) => wallet)).size).toBe(issued.length);
    expect(await countAddresses(tenant.id)).toBe(issued.length - 1);
  });

  test("is not issued for an unknown integrator", async () => {
    const id = "00000000-0000-4000-8000-000000000000";
    await expect(issue(id, createDestination())).rejects.toThrow("no result");
  });
});

/** Returns the error of `assertDerived`, or null. */
function refusalOf(address: DepositAddress, factory = FACTORY): object | null {
  try {
    assertDerived(chainOf(factory), address);
    return null;
  } catch (error) {
    if (!(error instanceof OperatingError)) throw error;
    return { code: error.code, details: error.details };
  }
}

describe("the terms of an address", () => {
  test("commit it to the root of the present routes when they are fixed", async () => {
    const tenant = await createTenant(database.db);
    const address = await issueOn(tenant.id, createDestination(), { routes: "fixed" });
    expect(address.commitment).toMatchObject({ routes: rootOfRoutes(ROUTE_SET), flags: 0 });
    expect(address.routeSet).toEqual(ROUTE_SET);
    expect(address.wallet).toBe(predictWallet(FACTORY, address.commitment));
  });

  test("are the integrator's where the request makes no choice", async () => {
    const tenant = await createTenant(database.db);
    const destination = createDestination();
    const terms = { routes: "fixed", unattended: true } as const;
    await setAddressTerms(database.db, { integrator: tenant.name, terms });
    const address = await issueOn(tenant.id, destination, {});
    expect(address.commitment).toMatchObject({ routes: rootOfRoutes(ROUTE_SET), flags: 1 });
    const governed = { routes: "governed", unattended: false } as const;
    await setAddressTerms(database.db, { integrator: tenant.name, terms: governed });
    expect(await issueOn(tenant.id, destination, {})).toEqual(address);
    const next = await issueOn(tenant.id, createDestination(), {});
    expect(next.commitment).toMatchObject(GOVERNED);
  });

  test("of a request make an address of their own; without any, the oldest is returned", async () => {
    const tenant = await createTenant(database.db);
    const destination = createDestination();
    const first = await issueOn(tenant.id, destination, {});
    const fixed = await issueOn(tenant.id, destination, { routes: "fixed" });
    const open = await issueOn(tenant.id, destination, { unattended: true });
    expect(new Set([first, fixed, open].map(({ wallet }) => wallet)).size).toBe(3);
    expect(await issueOn(tenant.id, destination, { routes: "governed" })).toEqual(first);
    expect(await issueOn(tenant.id, destination, { routes: "fixed" })).toEqual(fixed);
    expect(await issueOn(tenant.id, destination, { unattended: true })).toEqual(open);
    expect(await issueOn(tenant.id, destination, {})).toEqual(first);
  });

  test("are refused on Solana, where the signer settles every deposit", async () => {
    const tenant = await createTenant(database.db);
    const deps = { db: database.db, random: systemRandom };
    const chain = { ...chainOf(FACTORY), kind: "svm", wallets: { kind: "vault" } } as const;
    for (const [terms, field] of [
      [{ routes: "fixed" }, "payRoutes"],
      [{ unattended: true }, "payUnattended"],
    ] as const) {
      const args = { chain, integratorId: tenant.id, destination: createDestination(), terms };
      await expect(issueAddress(deps, args)).rejects.toMatchObject({
        code: "VALIDATION_ERROR",
        details: { field },
      });
    }
  });

  test.each([
    ["another route", [{ ...ROUTE_SET[0], route: `0x${"e1".repeat(20)}` }]],
    ["one route less", ROUTE_SET.slice(1)],
    ["something else", { routes: "all" }],
  ])("are refused when the set of routes was edited to %s", async (_what, edited) => {
    const tenant = await createTenant(database.db);
    const destination = createDestination();
    const { id } = await issueOn(tenant.id, destination, { routes: "fixed" });
    await sql`update addresses set route_set = ${JSON.stringify(edited)} where id = ${id}`.execute(
      database.db,
    );
    await expect(issueOn(tenant.id, destination, {})).rejects.toMatchObject({
      code: "CONFIG_MISSING",
      details: { reason: "address_row_changed" },
    });
  });
});

describe("a stored address", () => {
  const CHANGED = { code: "CONFIG_MISSING", details: { reason: "address_row_changed" } };
  let address: DepositAddress;
  beforeAll(async () => {
    const tenant = await createTenant(database.db);
    address = await issue(tenant.id, createDestination());
  });

  test("passes if it derives from its fields", () => {
    expect(refusalOf(address)).toBe(null);
  });

  test("is refused with an edited wallet or hash", () => {
    expect(refusalOf({ ...address, wallet: toEvmAddress(createHex(20)) })).toEqual(CHANGED);
    expect(refusalOf({ ...address, commitmentHash: toHex32(createHex(32)) })).toEqual(CHANGED);
  });

  test("is refused with any edited field, even with a matching hash or wallet", () => {
    const thief = padAddress(toEvmAddress(`0x${"e1".repeat(20)}`));
    const edits: readonly Partial<Commitment>[] = [
      { integrator: thief },
      { userId: thief },
      { destChain: 2 },
      { destWallet: thief },
      { destToken: thief },
      { refundAuthority: thief },
      { maxFeeBps: 10_000 },
      { maxSlippageBps: 10_000 },
      { routes: thief },
      { flags: 1 },
    ];
    for (const edit of edits) {
      const commitment = { ...address.commitment, ...edit };
      const commitmentHash = hashCommitment(commitment);
      const wallet = predictWallet(FACTORY, commitment);
      expect(refusalOf({ ...address, commitment })).toEqual(CHANGED);
      expect(refusalOf({ ...address, commitment, commitmentHash })).toEqual(CHANGED);
      expect(refusalOf({ ...address, commitment, wallet })).toEqual(CHANGED);
    }
  });

  test("is refused with its own reason for another factory", () => {
    const details = { reason: "factory_changed" };
    expect(refusalOf(address, OTHER_FACTORY)).toEqual({ code: "CONFIG_MISSING", details });
  });
});

test("asks before it issues a new address, and not for an issued one [T183]", async () => {
  const { db } = database;
  const tenant = await createTenant(db);
  const destination = createDestination();
  let asked = 0;
  const issue = (mayIssue: boolean) =>
    issueAddress(
      { db, random: systemRandom },
      {
        chain: chainOf(FACTORY),
        integratorId: tenant.id,
        destination,
        async admitNew() {
          asked += 1;
          if (!mayIssue) throw new OperatingError("RPC_UNAVAILABLE", "Too many.");
        },
      },
    );
  await expect(issue(false)).rejects.toMatchObject({ code: "RPC_UNAVAILABLE" });
  const issued = await issue(true);
  expect((await issue(false)).wallet).toBe(issued.wallet);
  expect(asked).toBe(2);
});
