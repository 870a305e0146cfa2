import { afterAll, beforeAll, expect, test } from "vitest";
import { createTestDatabase, type TestDatabase } from "../../test/support/database.ts";
import { createTenant } from "../../test/support/tenants.ts";
import { OperatingError } from "../core/errors.ts";
import { toEvmAddress } from "../core/hex.ts";
import { setGasPolicy } from "../integrators/index.ts";
import { createFees, type FeeRoute } from "./fees.ts";

const USDC = toEvmAddress(`0x${"5".repeat(40)}`);

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

const ROUTE: FeeRoute = {
  pair: { srcChain: 2, srcToken: USDC, destChain: 30, destToken: USDC },
  decimalsIn: 6,
  gasSteps: [],
  readBridgeFee: async () => 0n,
};
const never = () => Promise.reject(new Error("the test did not expect to be asked"));

function open(gas: "sponsored" | "charged", read: (deploys: boolean) => Promise<bigint> = never) {
  return createFees({
    db: database.db,
    serviceBps: 10,
    gas,
    gasCosts: { read: (_, deploys) => read(deploys) },
  });
}

const ask = { route: ROUTE, amount: 1_000_000n, maxFeeBps: 50, deploys: never };

test("sponsored gas is not priced, and no node is queried", async () => {
  const { id: integratorId } = await createTenant(database.db);
  expect(await open("sponsored").plan({ ...ask, integratorId })).toEqual({
    bps: 10,
    flat: 0n,
    bridge: 0n,
  });
});

test("an integrator's gas policy overrides the default until it is removed", async () => {
  const { id: integratorId, name } = await createTenant(database.db);
  const read = async (deploys: boolean) => (deploys ? 300n : 200n);
  const request = { ...ask, integratorId, deploys: async () => true };
  const flatOf = async (gas: "sponsored" | "charged") => (await open(gas, read).plan(request)).flat;
  expect(await flatOf("charged")).toBe(300n);
  await setGasPolicy(database.db, { integrator: name, gas: "sponsored" });
  expect([await flatOf("charged"), await flatOf("sponsored")]).toEqual([0n, 0n]);
  await setGasPolicy(database.db, { integrator: integratorId, gas: "charged" });
  expect([await flatOf("charged"), await flatOf("sponsored")]).toEqual([300n, 300n]);
  await setGasPolicy(database.db, { integrator: name, gas: null });
  expect([await flatOf("charged"), await flatOf("sponsored")]).toEqual([300n, 0n]);
});

test("a deployed wallet is not charged for deployment", async () => {
  const { id: integratorId } = await createTenant(database.db);
  const fees = open("charged", async (deploys) => (deploys ? 300n : 200n));
  const terms = await fees.plan({ ...ask, integratorId, deploys: async () => false });
  expect(terms.flat).toBe(200n);
});

test("a bridge fee is planned within the rest of the cap, is charged under both gas policies, and is not part of `flat`", async () => {
  const { id: integratorId } = await createTenant(database.db);
  const rooms: bigint[] = [];
  const route = {
    ...ROUTE,
    async readBridgeFee(_: bigint, room: bigint) {
      rooms.push(room);
      return room < 700n ? 0n : 700n;
    },
  };
  const request = { ...ask, route, integratorId, deploys: async () => false };
  expect(await open("sponsored").plan(request)).toEqual({ bps: 10, flat: 0n, bridge: 700n });
  expect(await open("charged", async () => 4_000n).plan(request)).toEqual({
    bps: 3,
    flat: 4_000n,
    bridge: 700n,
  });
  expect(await open("charged", async () => 4_400n).plan(request)).toMatchObject({ bridge: 0n });
  await expect(open("charged", async () => 5_001n).plan(request)).rejects.toMatchObject({
    code: "FEE_NOT_COVERED",
  });
  expect(rooms).toEqual([5_000n, 1_000n, 600n, 0n]);
});

test("gas without a price fails the plan and does not count as zero", async () => {
  const { id: integratorId } = await createTenant(database.db);
  const fees = open("charged", () =>
    Promise.reject(new OperatingError("PRICE_UNAVAILABLE", "There is no price.")),
  );
  await expect(
    fees.plan({ ...ask, integratorId, deploys: async () => false }),
  ).rejects.toMatchObject({ code: "PRICE_UNAVAILABLE" });
});

test("a sweep planned before fee terms were stored has the service's fee, within its cap", () => {
  expect(open("charged").planWithout(50)).toEqual({ bps: 10, flat: 0n, bridge: 0n });
  expect(open("charged").planWithout(4)).toEqual({ bps: 4, flat: 0n, bridge: 0n });
});
