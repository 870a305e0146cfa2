/** What treasuries hold on a real database, over chains whose answers the test gives. */
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { createTestDatabase, type TestDatabase } from "../../test/support/database.ts";
import { CHAIN, USDC } from "../../test/support/doctor-doubles.ts";
import { createStrictChain, silentLog } from "../../test/support/doubles.ts";
import { REFILLED } from "../../test/support/refilled-chains.ts";
import { hashCommitment, predictWallet } from "../chains/evm/commitment.ts";
import type { TreasuryStock } from "../chains/port/index.ts";
import { OperatingError } from "../core/errors.ts";
import { type Address, toEvmAddress } from "../core/hex.ts";
import { listDirections } from "./directions.ts";
import { findHolding, readHoldings } from "./holdings.ts";
import { insertMove, type MoveState } from "./store.ts";

const UNIT = 1_000_000n;
const { factory, escrow, delivery } = CHAIN.contracts;

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterEach(async () => {
  await database.db.deleteFrom("moves").execute();
});
afterAll(async () => {
  await database.drop();
});

/** Reads the treasury of chain 2 beside inventories of whole units; null for a chain that does not answer. */
async function read(
  inventory: Readonly<Record<number, number | null>>,
  stock: Partial<TreasuryStock> = {},
  {
    config = REFILLED,
    silent,
  }: { readonly config?: typeof REFILLED; readonly silent?: Address } = {},
) {
  const chainOf = (chainId: number) =>
    createStrictChain({
      chainId,
      kind: "evm",
      addresses: { walletRoot: factory, escrow, delivery },
      getBalance: async () => {
        const held = inventory[chainId] ?? null;
        if (held === null) throw new OperatingError("RPC_UNAVAILABLE", "no answer");
        return BigInt(held) * UNIT;
      },
      predictWallet: (commitment) => predictWallet(factory, commitment),
      hashCommitment,
      readMovable: async () => 0n,
      async readStock(token) {
        if (token === silent) throw new OperatingError("RPC_UNAVAILABLE", "the contract reverts");
        return { balance: 5_000n * UNIT, floor: 0n, announced: null, ...stock };
      },
    });
  const chains = new Map([2, 30].map((chainId) => [chainId, chainOf(chainId)]));
  const holdings = await readHoldings({ config, db: database.db, chains, log: silentLog }, 2);
  return findHolding(holdings, "usdc");
}

async function move(state: MoveState, amount: number): Promise<void> {
  const direction = listDirections(REFILLED).find(({ srcChain }) => srcChain === 2);
  if (!direction) throw new Error("there are directions");
  await insertMove(database.db, {
    ...direction,
    id: crypto.randomUUID(),
    amount: BigInt(amount) * UNIT,
    reason: "a test",
    operator: null,
    state,
  });
}

test("what its own inventory lacks is not free, and what another one lacks only below its minimum", async () => {
  expect(await read({ 2: 1_000, 30: 500 })).toMatchObject({ needed: 0n, free: 5_000n * UNIT });
  expect(await read({ 2: 400, 30: 500 })).toMatchObject({
    needed: 600n * UNIT,
    free: 4_400n * UNIT,
  });
  expect(await read({ 2: 400, 30: 99 })).toMatchObject({
    needed: 1_501n * UNIT,
    free: 3_499n * UNIT,
  });
});

test("moves that have not left and the announced withdrawal are not free [T314]", async () => {
  await move("planned", 200);
  await move("moved", 70);
  expect(await read({ 2: 1_000, 30: 1_000 })).toMatchObject({
    spoken: 200n * UNIT,
    free: 4_800n * UNIT,
  });
  const announced = { amount: 4_900n * UNIT, readyAt: 7n };
  expect(await read({ 2: 1_000, 30: 1_000 }, { announced })).toMatchObject({ announced, free: 0n });
});

test("nothing is free while an inventory does not say what it needs", async () => {
  expect(await read({ 2: 1_000, 30: null })).toMatchObject({ needed: null, free: null });
});

test("a token that does not answer hides no other", async () => {
  const other = toEvmAddress(`0x${"da".repeat(20)}`);
  const config = {
    ...REFILLED,
    chains: REFILLED.chains.map((chain) => ({
      ...chain,
      tokens: [
        ...chain.tokens,
        ...CHAIN.tokens.map((token) => ({ ...token, symbol: "DAI", address: other })),
      ],
    })),
  };
  const inventory = { 2: 1_000, 30: 1_000 };
  expect(await read(inventory, {}, { config, silent: other })).toMatchObject({ symbol: "USDC" });
  await expect(read(inventory, {}, { config, silent: USDC })).rejects.toThrow(
    "USDC of the treasury does not answer.",
  );
});

test("earned is what settlements paid for service and gas, of this chain and token", async () => {
  for (const [chainId, account, owner, amount] of [
    [2, "fees", "service", 30],
    [2, "fees", "gas", 4],
    [2, "fees", "bridge", 500],
    [30, "fees", "service", 6_000],
    [2, "treasury", "", 70_000],
  ]) {
    await database.pool.query(
      `select post_move('lock_end', 'a test', $1::integer, $2, null, 'external', '', $3, $4, $5::numeric)`,
      [chainId, USDC, account, owner, amount],
    );
  }
  expect(await read({ 2: 1_000, 30: 1_000 })).toMatchObject({ earned: 34n });
});

test("an unknown token is refused with those that there are", async () => {
  expect(() => findHolding([], "USDC")).toThrow("chain: expected one with a treasury contract.");
  const one = await read({ 2: 1_000, 30: 1_000 });
  expect(() => findHolding([one], "USDT")).toThrow("token: expected one of USDC.");
});
