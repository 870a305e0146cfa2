/** Shares of an inventory that one address and one integrator may reserve. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { createTestDatabase, type TestDatabase } from "../../../test/support/database.ts";
import { createStillClock, createStrictChain, LANE } from "../../../test/support/doubles.ts";
import { createTenant, insertAddress, insertSettlement } from "../../../test/support/tenants.ts";
import { createSwiftRoute } from "./route.ts";

type Tenant = Awaited<ReturnType<typeof createTenant>>;
type Place = Awaited<ReturnType<typeof insertAddress>>;

let database: TestDatabase;
let one: Tenant;
beforeAll(async () => {
  database = await createTestDatabase();
  one = await createTenant(database.db);
});
beforeEach(async () => {
  await database.pool.query("truncate inventory_reservations");
});
afterAll(() => database.drop());

/** An inventory of 1,000. */
const route = ({ capLeft = 10_000n, decimalsIn = 6 } = {}) => {
  const addresses = { walletRoot: LANE, escrow: LANE, delivery: LANE };
  return createSwiftRoute({
    db: database.db,
    clock: createStillClock(),
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
    await database.pool.query("delete from inventory_reservations where amount = 100");

    const other = await createTenant(database.db);
    expect(await alone.again()).toBe("integrator_share_reached");
    const address = await insertAddress(database.db, other);
    expect(await verdictOf(other, address, 200n)).toBe("reserved");
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
    // Other tests may have created an integrator, who leaves this one four fifths.
    expect([300n, 500n]).toContain(await capacityOf(there));
    expect(await capacityOf(there, { capLeft: 620n })).toBe(120n);
    expect(await capacityOf(there, { capLeft: 400n })).toBe(0n);
    // A source token of more decimals: as many of its units as the inventory pays.
    expect(await capacityOf(there, { capLeft: 620n, decimalsIn: 8 })).toBe(12_000n);
  });
});
