/** Logs that the second look finds, after balances and books have already shown their amounts. */
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { blockAt, CHAIN_ID, emptyBooks, openBooks, TIP } from "../../test/support/books.ts";
import { createTestDatabase, type TestDatabase } from "../../test/support/database.ts";
import { createCountingRandom, createStrictChain, hashOf } from "../../test/support/doubles.ts";
import { createScannerDeps } from "../../test/support/scanner.ts";
import { listExplained } from "../deposits/index.ts";
import { NATIVE_TOKEN, toEvmAddress } from "../core/hex.ts";
import { lookAgain } from "./second-look.ts";

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());
beforeEach(() => emptyBooks(database.db));

const LATE = TIP - 5n;

/** Opens a scanner whose second look finds the return of a lock of native coin in a block that it has passed. */
async function openReturned(amount: bigint, { heightsOfFirst }: { heightsOfFirst?: number } = {}) {
  const { db } = database;
  const { clock, newAddress, settle } = await openBooks(db);
  const address = await newAddress();
  const { wallet } = address;
  const chain = createStrictChain({
    chainId: CHAIN_ID,
    getBlock: async (number) => (number <= TIP ? blockAt(number) : null),
    listTransfers: async () => [],
    listOutflows: async ({ number }) =>
      number === LATE
        ? [
            {
              kind: "returned",
              wallet,
              token: NATIVE_TOKEN,
              amount: -amount,
              txHash: hashOf("a return"),
              logIndex: 3,
            },
          ]
        : [],
  });
  if (heightsOfFirst !== undefined) {
    const { readSection } = chain;
    let max = heightsOfFirst;
    chain.readSection = async (request) => {
      const section = await readSection({ ...request, max: Math.min(request.max, max) });
      max = Infinity;
      return section;
    };
  }
  const row = { number: TIP, looked_again: LATE - 2n };
  await db.updateTable("scanner_finality").set(row).execute();
  const random = createCountingRandom();
  const deps = createScannerDeps({
    db,
    chain,
    tokens: [NATIVE_TOKEN],
    startBlock: 0n,
    clock,
    random,
  });
  /** Records a deposit that only the balance showed. */
  const find = async (found: bigint, block: bigint) => {
    const { integrator_id } = await db
      .selectFrom("addresses")
      .select("integrator_id")
      .executeTakeFirstOrThrow();
    await db
      .insertInto("deposits")
      .values({
        id: random.uuid(),
        chain_id: CHAIN_ID,
        wallet,
        token: NATIVE_TOKEN,
        tx_hash: null,
        ordinal: 1,
        log_index: 100,
        sender: null,
        amount: found,
        block_number: block,
        block_hash: blockAt(block).hash,
        address_id: address.id,
        integrator_id,
        queued: true,
      })
      .execute();
  };
  const look = async () => {
    while (await lookAgain(deps)) {
      // Looks until no final block is left.
    }
  };
  const deposits = async () =>
    (
      await db
        .selectFrom("deposits")
        .select(["amount", "orphaned_at"])
        .orderBy("block_number")
        .execute()
    ).map(({ amount: left, orphaned_at }) => (orphaned_at === null ? BigInt(left) : "orphaned"));
  const explained = async () => {
    const at = { chainId: CHAIN_ID, token: NATIVE_TOKEN, block: TIP, wallets: [wallet] };
    return (await listExplained(db, at)).get(wallet) ?? 0n;
  };
  /** Records a settlement that swept a part in a block, in final blocks; returns whether its sweep is taken for final. */
  const sweepPart = async (block: bigint) => {
    const id = await settle(address, { swept: { amount: 5n, block, log: 1 } });
    const row = { token: NATIVE_TOKEN, planned_up_to: 1n };
    await db.updateTable("settlements").set(row).where("id", "=", id).execute();
    return async () => {
      const one = db.selectFrom("settlements").select("sweep_final").where("id", "=", id);
      return (await one.executeTakeFirstOrThrow()).sweep_final;
    };
  };
  return { find, look, deposits, explained, sweepPart };
}

test("a lock of native coin whose return is recorded late is no deposit that the balance showed [T05, T257]", async () => {
  const { find, look, deposits, explained } = await openReturned(10n);
  await find(10n, LATE + 1n);
  await look();
  expect(await deposits()).toEqual(["orphaned"]);
  expect(await explained()).toBe(10n);
});

test("only the amount of the late return leaves the deposits that were found since [T05, T257]", async () => {
  const { find, look, deposits, explained } = await openReturned(10n);
  await find(5n, LATE - 1n);
  await find(4n, LATE);
  await find(9n, LATE + 1n);
  await find(2n, LATE + 2n);
  await look();
  expect(await deposits()).toEqual([5n, "orphaned", 3n, 2n]);
  expect(await explained()).toBe(20n);
  await look();
  expect(await deposits()).toEqual([5n, "orphaned", 3n, 2n]);
});

test("an answer that ends early leaves the rest to the next look [T256]", async () => {
  const { find, look, deposits } = await openReturned(10n, { heightsOfFirst: 1 });
  await find(10n, LATE + 1n);
  await look();
  expect(await deposits()).toEqual(["orphaned"]);
});

test("an outflow that is recorded late is counted again in where later parts end [T302]", async () => {
  const { look, sweepPart } = await openReturned(10n);
  const isFinal = [await sweepPart(LATE - 1n), await sweepPart(LATE + 1n)];
  await look();
  expect(await Promise.all(isFinal.map((read) => read()))).toEqual([true, false]);
});

const TOKEN = toEvmAddress(`0x${"70".repeat(20)}`);

/** Opens a scanner that credited a deposit with 10, since the sweep of 90 in its block was left out. */
async function openSwept(stated: bigint) {
  const { db } = database;
  const { clock, newAddress } = await openBooks(db);
  const { id, wallet } = await newAddress();
  const txHash = hashOf("a deposit");
  const sweep = {
    kind: "swept",
    wallet,
    token: TOKEN,
    amount: 90n,
    txHash: hashOf("a sweep"),
    logIndex: 4,
  } as const;
  const chain = createStrictChain({
    chainId: CHAIN_ID,
    isGivenBack: () => false,
    getBlock: async (number) => (number <= TIP ? blockAt(number) : null),
    listTransfers: async ({ number }) =>
      number === LATE
        ? [
            {
              from: wallet,
              to: wallet,
              token: TOKEN,
              amount: stated,
              txHash,
              logIndex: 3,
              ordinal: 0,
            },
          ]
        : [],
    listOutflows: async ({ number }) => (number === LATE ? [sweep] : []),
  });
  const row = { number: TIP, looked_again: LATE - 2n };
  await db.updateTable("scanner_finality").set(row).execute();
  const random = createCountingRandom();
  const { integrator_id } = await db
    .selectFrom("addresses")
    .select("integrator_id")
    .executeTakeFirstOrThrow();
  await db
    .insertInto("deposits")
    .values({
      id: random.uuid(),
      chain_id: CHAIN_ID,
      wallet,
      token: TOKEN,
      tx_hash: txHash,
      ordinal: 0,
      log_index: 3,
      sender: wallet,
      amount: 10n,
      block_number: LATE,
      block_hash: blockAt(LATE).hash,
      address_id: id,
      integrator_id,
      queued: true,
    })
    .execute();
  const deps = createScannerDeps({ db, chain, tokens: [TOKEN], startBlock: 0n, clock, random });
  while (await lookAgain(deps)) {
    // Looks until no final block is left.
  }
  const { amount } = await db.selectFrom("deposits").select("amount").executeTakeFirstOrThrow();
  const lines = await db
    .selectFrom("ledger_lines")
    .select((eb) => eb.fn.sum<string>("amount").as("sum"))
    .where("account", "=", "wallet")
    .where("token", "=", TOKEN)
    .executeTakeFirstOrThrow();
  return { amount: BigInt(amount), booked: BigInt(lines.sum) };
}

test("a deposit whose block has an outflow that was left out is credited with what its log states [T305]", async () => {
  expect(await openSwept(100n)).toEqual({ amount: 100n, booked: 10n });
});

test("a deposit of a token that keeps a fee is credited with what rose and what left [T305, T07]", async () => {
  expect(await openSwept(120n)).toEqual({ amount: 100n, booked: 10n });
});
