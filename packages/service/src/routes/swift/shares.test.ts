/** Shares of an inventory that one address and one integrator may reserve. */
import { sql } from "kysely";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { createTestDatabase, type TestDatabase } from "../../../test/support/database.ts";
import { createStillClock, createStrictChain, LANE } from "../../../test/support/doubles.ts";
import { createTenant, insertAddress, insertSettlement } from "../../../test/support/tenants.ts";
import { ensureOwnIntegrator } from "../../integrators/index.ts";
import { createSwiftRoute } from "./route.ts";
import { shareStatements } from "../../db/gather.ts";
import { countPayouts, deleteReservation, lockReservations, upsertReservation } from "./store.ts";

type Tenant = Awaited<ReturnType<typeof createTenant>>;
type Place = Awaited<ReturnType<typeof insertAddress>>;

let database: TestDatabase;
let one: Tenant;
beforeAll(async () => {
  database = await createTestDatabase();
  one = await createTenant(database.db);
});
beforeEach(async () => {
  await database.pool.query("truncate inventory_reservations, payout_hours");
});
afterAll(() => database.drop());

/** An inventory of 1,000. */
const route = ({ capLeft = 10_000n, decimalsIn = 6, nowMs = 0 } = {}) => {
  const addresses = { walletRoot: LANE, escrow: LANE, delivery: LANE };
  return createSwiftRoute({
    db: database.db,
    clock: { ...createStillClock(), now: () => nowMs },
    source: createStrictChain({ chainId: 2, addresses }),
    destination: createStrictChain({
      chainId: 30,
      addresses,
      getBalance: async () => 1_000n,
      getDailyCapLeft: async () => capLeft,
    }),
    token: LANE,
    destToken: LANE,
    decimalsIn,
    decimalsOut: 6,
    contract: LANE,
    pricing: null,
    limits: { addressBps: 5_000, integratorBps: 8_000 },
  });
};

async function reserve(tenant: Tenant, address: Place, amount: bigint) {
  const { db } = database;
  const settlementId = await insertSettlement(db, tenant, address);
  const owner = { settlementId, integratorId: tenant.id, addressId: address.id };
  const swift = route();
  const inventory = await swift.readInventory();
  const again = () =>
    db.transaction().execute((tx) => swift.reserve(tx, { ...owner, amount, inventory }));
  return { verdict: await again(), again };
}
const verdictOf = async (...args: Parameters<typeof reserve>) => (await reserve(...args)).verdict;

describe("the share of an address", () => {
  test("is reached by several settlements, and leaves the rest to other addresses [T151]", async () => {
    const [greedy, modest] = [
      await insertAddress(database.db, one),
      await insertAddress(database.db, one),
    ];
    expect(await verdictOf(one, greedy, 300n)).toBe("reserved");
    expect(await verdictOf(one, greedy, 201n)).toBe("address_share_reached");
    expect(await verdictOf(one, modest, 500n)).toBe("reserved");
    const last = await reserve(one, greedy, 200n);
    expect(last.verdict).toBe("reserved");
    // A repeated reservation of the same settlement does not count twice.
    expect(await last.again()).toBe("inventory_too_low");
    const { rows } = await database.pool.query(
      "select sum(amount)::int from inventory_reservations",
    );
    expect(rows).toEqual([{ sum: 1_000 }]);
  });

  test("is reached by one settlement alone [T151]", async () => {
    const address = await insertAddress(database.db, one);
    expect(await verdictOf(one, address, 501n)).toBe("address_share_reached");
    expect(await verdictOf(one, address, 500n)).toBe("reserved");
  });
});

describe("the share of an integrator", () => {
  test("counts only where there is another integrator [T151]", async () => {
    const addresses = await Promise.all([1, 2, 3].map(() => insertAddress(database.db, one)));
    const [first, second, third] = addresses;
    if (!first || !second || !third) throw new Error("expected three addresses");
    expect(await verdictOf(one, first, 400n)).toBe("reserved");
    expect(await verdictOf(one, second, 400n)).toBe("reserved");
    const alone = await reserve(one, third, 100n);
    expect(alone.verdict).toBe("reserved");
    const free = () => database.pool.query("delete from inventory_reservations where amount = 100");
    await free();
    // Moves of the operator's own treasury take nothing of it.
    await ensureOwnIntegrator(database.db, {
      id: "00000000-0000-8000-8000-00000000aaaa",
      name: "inventory-1a1a1a1a",
      refundEvm: LANE,
      maxFeeBps: 1,
      maxSlippageBps: 0,
      gas: "sponsored",
    });
    expect(await alone.again()).toBe("reserved");
    await free();

    const other = await createTenant(database.db);
    expect(await alone.again()).toBe("integrator_share_reached");
    const address = await insertAddress(database.db, other);
    expect(await verdictOf(other, address, 200n)).toBe("reserved");
  });
});

describe("reservations of one transaction", () => {
  /** Reserves for settlements of these addresses at the same time. */
  async function reserveAll(wanted: readonly (readonly [Tenant, Place, bigint])[]) {
    const { db } = database;
    const swift = route();
    const inventory = await swift.readInventory();
    const requests = await Promise.all(
      wanted.map(async ([tenant, address, amount]) => {
        const settlementId = await insertSettlement(db, tenant, address);
        const owner = { settlementId, integratorId: tenant.id, addressId: address.id };
        return { ...owner, amount, inventory };
      }),
    );
    return db.transaction().execute(async (tx) => {
      await lockReservations(tx, [{ destChain: 30, token: LANE }]);
      shareStatements(tx);
      return Promise.all(requests.map((request) => swift.reserve(tx, request)));
    });
  }
  const sum = async () => {
    const { rows } = await database.pool.query(
      "select coalesce(sum(amount), 0)::int as sum from inventory_reservations",
    );
    return rows[0].sum;
  };

  test("count for those after them, of every integrator, and are granted in their order [T318]", async () => {
    const other = await createTenant(database.db);
    const place = (tenant: Tenant) => insertAddress(database.db, tenant);
    // Of 1,000 this integrator may have 800.
    expect(
      await reserveAll([
        [one, await place(one), 400n],
        [one, await place(one), 400n],
        [one, await place(one), 1n],
        [other, await place(other), 201n],
        [other, await place(other), 200n],
      ]),
    ).toEqual([
      "reserved",
      "reserved",
      "integrator_share_reached",
      "inventory_too_low",
      "reserved",
    ]);
    expect(await sum()).toBe(1_000);
  });

  test("of one address are added up [T318]", async () => {
    const address = await insertAddress(database.db, one);
    const wanted = [one, address, 250n] as const;
    expect(await reserveAll([wanted, wanted, wanted])).toEqual([
      "reserved",
      "reserved",
      "address_share_reached",
    ]);
    expect(await sum()).toBe(500);
  });

  test("wait for those of another transaction [T318]", async () => {
    const { db } = database;
    const held = [{ destChain: 30, token: LANE }];
    const order: string[] = [];
    const entered = Promise.withResolvers<void>();
    const leave = Promise.withResolvers<void>();
    const first = db.transaction().execute(async (tx) => {
      await lockReservations(tx, held);
      entered.resolve();
      await leave.promise;
      order.push("first");
    });
    await entered.promise;
    const second = db.transaction().execute(async (tx) => {
      await lockReservations(tx, held);
      order.push("second");
    });
    await sql`select pg_sleep(0.1)`.execute(db);
    leave.resolve();
    await Promise.all([first, second]);
    expect(order).toEqual(["first", "second"]);
  });
});

describe("the share of the daily cap", () => {
  /** A cap of 1,000 of which so much is left, at a time in milliseconds. */
  const decide = async (
    { tenant, amount }: { tenant: Tenant; amount: bigint },
    { capLeft, nowMs }: { capLeft: bigint; nowMs: number },
  ) => {
    const { db } = database;
    const address = await insertAddress(db, tenant);
    const settlementId = await insertSettlement(db, tenant, address);
    const owner = { settlementId, integratorId: tenant.id, addressId: address.id };
    const swift = route({ capLeft, nowMs });
    const inventory = await swift.readInventory();
    const capacity = await swift.readCapacity(owner);
    const reserve = { ...owner, amount, inventory };
    const verdict = await db.transaction().execute((tx) => swift.reserve(tx, reserve));
    await db.transaction().execute((tx) => swift.release(tx, settlementId));
    return { capacity, verdict };
  };

  test("is what one integrator was paid in a day, and leaves the rest to the others [T258]", async () => {
    const { db } = database;
    const other = await createTenant(db);
    const address = await insertAddress(db, one);
    const settlementId = await insertSettlement(db, one, address);
    const paid = { destChain: 30, settlementId };
    const reservation = { ...paid, token: LANE, amount: 1n };
    await db.transaction().execute((tx) => upsertReservation(tx, reservation));
    const hour = 3_600_000;
    const start = 1_000 * hour;
    for (const [amount, nowMs] of [
      [500n, start],
      [200n, start + 2 * hour],
    ] as const) {
      await db.transaction().execute((tx) => countPayouts(tx, [{ ...paid, amount }], nowMs));
    }
    await db.transaction().execute((tx) => deleteReservation(tx, settlementId));
    const at = { capLeft: 300n, nowMs: start + 3 * hour };
    expect(await decide({ tenant: one, amount: 101n }, at)).toEqual({
      capacity: 100n,
      verdict: "cap_share_reached",
    });
    expect(await decide({ tenant: one, amount: 100n }, at)).toMatchObject({ verdict: "reserved" });
    expect(await decide({ tenant: other, amount: 300n }, at)).toEqual({
      capacity: 300n,
      verdict: "reserved",
    });
    // Each hour is free again after 24 to 25 hours, as in the contract.
    const later = { capLeft: 800n, nowMs: start + 25 * hour };
    expect(await decide({ tenant: one, amount: 1n }, later)).toMatchObject({ capacity: 500n });
    await db.transaction().execute((tx) => upsertReservation(tx, reservation));
    await db
      .transaction()
      .execute((tx) => countPayouts(tx, [{ ...paid, amount: 1n }], start + 40 * hour));
    const { rows } = await database.pool.query("select hour::int from payout_hours");
    expect(rows).toEqual([{ hour: 1_040 }]);
  });
});

describe("the capacity for a settlement", () => {
  test("is what the shares, the inventory and the daily cap leave, and can be reserved to the unit [T170]", async () => {
    const { db } = database;
    const [here, there] = [await insertAddress(db, one), await insertAddress(db, one)];
    const capacityOf = async (address: Place, options: Parameters<typeof route>[0] = {}) =>
      route(options).readCapacity({
        settlementId: await insertSettlement(db, one, address),
        integratorId: one.id,
        addressId: address.id,
      });
    expect(await capacityOf(here)).toBe(500n);
    await reserve(one, here, 300n);
    expect(await capacityOf(here)).toBe(200n);
    expect(await verdictOf(one, here, 201n)).toBe("address_share_reached");
    expect(await verdictOf(one, here, 200n)).toBe("reserved");
    expect(await capacityOf(here)).toBe(0n);
    // The other integrator leaves this one four fifths of inventory and cap.
    await createTenant(db);
    expect(await capacityOf(there)).toBe(300n);
    expect(await capacityOf(there, { capLeft: 700n })).toBe(60n);
    expect(await capacityOf(there, { capLeft: 620n })).toBe(0n);
    expect(await capacityOf(there, { capLeft: 400n })).toBe(0n);
    // A source token of more decimals: as many of its units as the inventory pays.
    expect(await capacityOf(there, { capLeft: 775n, decimalsIn: 8 })).toBe(12_000n);
  });
});
