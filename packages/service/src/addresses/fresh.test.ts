import { afterAll, beforeAll, expect, test } from "vitest";
import { createTestDatabase, type TestDatabase } from "../../test/support/database.ts";
import { createHex, createTenant, type Tenant } from "../../test/support/tenants.ts";
import { toEvmAddress } from "../core/hex.ts";
import { expireFresh, keepFresh } from "./fresh.ts";

const CHAIN = 2;
const HOURS_MS = 3_600_000;

let database: TestDatabase;
let tenant: Tenant;
beforeAll(async () => {
  database = await createTestDatabase();
  tenant = await createTenant(database.db);
});
afterAll(() => database.drop());

const createWallet = () =>
  ({ family: "evm", integratorId: tenant.id, wallet: toEvmAddress(createHex(20)) }) as const;

/** Returns the hours for which a wallet stays fresh, or null. */
async function hoursLeft(wallet: string, chainId = CHAIN): Promise<number | null> {
  const row = await database.db
    .selectFrom("fresh_wallets")
    .selectAll()
    .where("chain_id", "=", chainId)
    .where("wallet", "=", wallet)
    .executeTakeFirst();
  return row ? Math.round((Date.parse(row.fresh_until) - Date.now()) / HOURS_MS) : null;
}

async function endIn(wallet: string, ms: number): Promise<void> {
  await database.db
    .updateTable("fresh_wallets")
    .set({ fresh_until: new Date(Date.now() + ms).toISOString() })
    .where("wallet", "=", wallet)
    .execute();
}

test("a wallet stays fresh for a day after a quote and for 30 days after a payment", async () => {
  const address = createWallet();
  await keepFresh(database.db, CHAIN, address, "quoted");
  expect(await hoursLeft(address.wallet)).toBe(24);
  await keepFresh(database.db, CHAIN, address, "paid");
  expect(await hoursLeft(address.wallet)).toBe(30 * 24);
  expect(await hoursLeft(address.wallet, 30)).toBe(null);
});

test("a quote after a payment does not shorten the time", async () => {
  const address = createWallet();
  await keepFresh(database.db, CHAIN, address, "paid");
  await keepFresh(database.db, CHAIN, address, "quoted");
  expect(await hoursLeft(address.wallet)).toBe(30 * 24);
});

test("a repeated quote prolongs the time", async () => {
  const address = createWallet();
  await keepFresh(database.db, CHAIN, address, "quoted");
  await endIn(address.wallet, 5 * HOURS_MS);
  await keepFresh(database.db, CHAIN, address, "quoted");
  expect(await hoursLeft(address.wallet)).toBe(24);
});

test("a wallet is no longer fresh when its time is over", async () => {
  const [over, other] = [createWallet(), createWallet()];
  for (const address of [over, other]) await keepFresh(database.db, CHAIN, address, "quoted");
  await endIn(over.wallet, -HOURS_MS);
  await expireFresh(database.db, CHAIN + 1);
  expect(await hoursLeft(over.wallet)).toBe(-1);
  await expireFresh(database.db, CHAIN);
  expect(await hoursLeft(over.wallet)).toBe(null);
  expect(await hoursLeft(other.wallet)).toBe(24);
});

test("a vault on Solana is never fresh, because blocks show every payment", async () => {
  const address = { ...createWallet(), family: "svm" } as const;
  await keepFresh(database.db, CHAIN, address, "paid");
  expect(await hoursLeft(address.wallet)).toBe(null);
});
