/** Deposits and outflows that are recorded after the auditor has posted the difference which they explain. */
import { sql } from "kysely";
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import {
  blockAt,
  CHAIN_ID,
  countBlocked,
  emptyBooks,
  openBooks,
  TIP,
  TOKEN,
} from "../../test/support/books.ts";
import { createTestDatabase, type TestDatabase } from "../../test/support/database.ts";
import type { EvmAddress } from "../core/hex.ts";
import { REPAIRS } from "../roles/repairs.ts";
import { listBalances, postSurplus, reverseAdjustmentsAbove } from "./accounts.ts";
import { endBreach, listBreaches } from "./index.ts";
import { lockCursor } from "./scanned.ts";

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());
beforeEach(() => emptyBooks(database.db));

/** The block with the facts that are recorded late, and a block between it and the audited one. */
const LATE = TIP - 5n;

async function open() {
  const books = await openBooks(database.db);
  const address = await books.newAddress();
  const { wallet } = address;
  const hold = (amount: bigint) => books.says.held.set(`${TOKEN}:${wallet}`, amount);
  /** Returns the ledger balances of the wallet after blocks. */
  const booked = (...blocks: readonly bigint[]) =>
    Promise.all(blocks.map((block) => balanceOf(wallet, block)));
  /** Ends the only breach, as an operator does. */
  const end = async () => {
    const [breach] = await listBreaches(database.db);
    const command = { id: breach?.id ?? "", operator: "ann", reason: "the block was skipped" };
    return endBreach({ db: database.db, ...REPAIRS, clock: books.clock }, command);
  };
  /** Records a deposit of a late block, which the chain has shown all the time. */
  const arriveLate = async (amount: bigint, block = LATE) => {
    const held = books.says.held.get(`${TOKEN}:${wallet}`) ?? 0n;
    await books.arrive(address, amount, { block });
    hold(held);
  };
  const audit = async () => (await books.audit("all")).findings;
  /** Sets the balance at another block than the audited one. */
  const holdAt = (block: bigint, amount: bigint) =>
    books.says.heldAt.set(`${blockAt(block).hash}:${TOKEN}:${wallet}`, amount);
  /** Returns when the last complete audit was. */
  const audited = async () => {
    books.clock.advance(1_000);
    return database.db.selectFrom("audit_rounds").select("at").execute();
  };
  return { ...books, address, wallet, hold, holdAt, booked, end, arriveLate, audit, audited };
}

async function balanceOf(wallet: EvmAddress, block: bigint): Promise<bigint> {
  const args = { chainId: CHAIN_ID, account: "wallet", wallets: [wallet], block } as const;
  const balances = await listBalances(database.db, args);
  return balances.find(({ token }) => token === TOKEN)?.amount ?? 0n;
}

describe("a deposit that is recorded after its surplus was posted", () => {
  test("is booked once, at every height [V1, T255]", async () => {
    const { hold, booked, arriveLate, audit } = await open();
    hold(10n);
    expect(await audit()).toEqual([]);
    expect(await booked(LATE, TIP - 1n, TIP)).toEqual([0n, 0n, 10n]);
    await arriveLate(10n);
    expect(await booked(LATE - 1n, LATE, TIP - 1n, TIP)).toEqual([0n, 10n, 10n, 10n]);
    expect(await audit()).toEqual([]);
    expect(await listBreaches(database.db)).toEqual([]);
  });

  test("leaves the rest of the surplus, and deposits of later blocks as they are [V1, T255]", async () => {
    const { hold, booked, arriveLate, arrive, address, audit } = await open();
    // A rebase of two, and two deposits of blocks that were skipped.
    hold(9n);
    await audit();
    await arriveLate(4n, LATE - 1n);
    await arriveLate(3n);
    expect(await booked(LATE - 1n, LATE, TIP)).toEqual([4n, 7n, 9n]);
    await arrive(address, 5n, { block: TIP + 1n });
    expect(await booked(TIP, TIP + 1n)).toEqual([9n, 14n]);
  });

  test("counts at the next of several audited blocks [V1, T255]", async () => {
    const { hold, says, booked, arriveLate, audit } = await open();
    says.finalNumber = TIP - 1n;
    hold(10n);
    await audit();
    says.finalNumber = TIP;
    hold(15n);
    await audit();
    await arriveLate(5n, TIP);
    expect(await booked(TIP - 1n, TIP)).toEqual([10n, 15n]);
    await arriveLate(10n);
    expect(await booked(LATE - 1n, LATE, TIP - 1n, TIP)).toEqual([0n, 10n, 10n, 15n]);
  });

  test("is booked once when both are recorded at the same time [V1, T255]", async () => {
    const { wallet, booked, arriveLate } = await open();
    const at = { chainId: CHAIN_ID, wallet, token: TOKEN, block: TIP, held: 10n };
    const locked = Promise.withResolvers<void>();
    const recording = Promise.withResolvers<void>();
    // Recorders hold the cursor's lock until they commit.
    const recorded = database.db.transaction().execute(async (tx) => {
      await lockCursor(tx, CHAIN_ID, "shared");
      locked.resolve();
      await recording.promise;
    });
    await locked.promise;
    let isOver = false;
    const posted = postSurplus(database.db, at).finally(() => (isOver = true));
    await vi.waitFor(async () => {
      expect(isOver || (await countBlocked(database.db)) > 0).toBe(true);
    }, 10_000);
    await arriveLate(10n);
    recording.resolve();
    await recorded;
    expect(await posted).toBe(0n);
    expect(await booked(LATE, TIP)).toEqual([10n, 10n]);
    expect(await Promise.all([postSurplus(database.db, at), postSurplus(database.db, at)])).toEqual(
      [0n, 0n],
    );
  });
});

describe("an outflow that is recorded late", () => {
  test("is booked once when its amount was written off [V1, V4, T255]", async () => {
    const { arrive, address, leave, hold, booked, end, settle, audit } = await open();
    await arrive(address, 10n, { block: LATE - 1n });
    const swept = { amount: 10n, block: LATE, log: 2 };
    await settle(address, { swept });
    await sql`select post_move('sweep', 'a settlement', ${CHAIN_ID}, ${TOKEN}, ${LATE}::bigint,
      'transit', ${address.wallet}, 'in_flight', 'a settlement', 10)`.execute(database.db);
    hold(0n);
    const verdicts = (await audit()).map(({ verdict }) => verdict);
    expect(verdicts.toSorted()).toEqual(["sweep_differs", "sweep_unrecorded", "wallet_short"]);
    for (let open = verdicts.length; open > 0; open -= 1) expect(await end()).toBe(true);
    expect(await booked(LATE, TIP)).toEqual([10n, 0n]);
    await leave(address, 10n, { block: LATE, txHash: "" });
    expect(await booked(LATE - 1n, LATE, TIP)).toEqual([10n, 0n, 0n]);
    expect(await audit()).toEqual([]);
  });

  test("of a lock that was returned is booked once when its amount was a surplus [V1, T255]", async () => {
    const { leave, address, hold, booked, audit } = await open();
    hold(10n);
    await audit();
    await leave(address, -10n, { block: LATE, kind: "returned", txHash: "" });
    expect(await booked(LATE - 1n, LATE, TIP)).toEqual([0n, 10n, 10n]);
  });
});

describe("a log that a node left out of a new block", () => {
  /** Records a settlement whose sweep took ten units, and which the scanner has not seen. */
  async function openSwept() {
    const books = await open();
    const { arrive, address, settle, hold } = books;
    await arrive(address, 10n, { block: LATE - 1n });
    await settle(address, { swept: { amount: 10n, block: LATE, log: 2 } });
    await sql`select post_move('sweep', 'a settlement', ${CHAIN_ID}, ${TOKEN}, ${LATE}::bigint,
      'transit', ${address.wallet}, 'in_flight', 'a settlement', 10)`.execute(database.db);
    hold(0n);
    return books;
  }

  test("is no finding before the block was read a second time [V1, V4, V6, T256]", async () => {
    const { lookedAgain, holdAt, leave, address, audit } = await openSwept();
    for (const through of [null, LATE - 1n]) {
      await lookedAgain(through);
      holdAt(LATE - 1n, 10n);
      expect(await audit()).toEqual([]);
    }
    await leave(address, 10n, { block: LATE, txHash: "" });
    await lookedAgain(LATE);
    holdAt(LATE, 0n);
    expect(await audit()).toEqual([]);
  });

  test("is a finding if it is still missing afterwards, at a block that was read twice [V1, V4, V6, T256]", async () => {
    const { lookedAgain, holdAt, wallet, audit } = await openSwept();
    await lookedAgain(LATE);
    holdAt(LATE, 0n);
    const at = { details: { block: `${LATE}` } };
    expect(await audit()).toMatchObject([
      { verdict: "sweep_differs" },
      { verdict: "sweep_unrecorded", subject: `${wallet}:${TOKEN}`, ...at },
      { verdict: "wallet_short", subject: `${wallet}:${TOKEN}`, ...at },
    ]);
  });

  test("is no surplus before the block was read a second time [V1, T256]", async () => {
    const { lookedAgain, hold, holdAt, booked, arriveLate, audit } = await open();
    hold(10n);
    await lookedAgain(LATE - 1n);
    holdAt(LATE - 1n, 0n);
    expect(await audit()).toEqual([]);
    expect(await booked(TIP)).toEqual([0n]);
    await arriveLate(10n);
    await lookedAgain(LATE);
    expect(await audit()).toEqual([]);
    expect(await booked(LATE, TIP)).toEqual([10n, 10n]);
  });

  test("leaves the audit incomplete while a difference cannot be compared at a block that was read twice [V1, T256]", async () => {
    const { lookedAgain, hold, says, audit, audited } = await open();
    await lookedAgain(LATE);
    expect(await audit()).toEqual([]);
    const before = await audited();
    hold(10n);
    says.pruned = LATE;
    expect(await audit()).toEqual([]);
    expect(await audited()).toEqual(before);
    await lookedAgain(null);
    expect(await audit()).toEqual([]);
    expect(await audited()).toEqual(before);
  });
});

test("a write-off makes the books agree with the chain, whatever was recorded since it was found [V1, T255]", async () => {
  const { arrive, address, hold, booked, end, leave, audit } = await open();
  await arrive(address, 10n, { block: LATE });
  hold(3n);
  expect(await audit()).toMatchObject([{ verdict: "wallet_short" }]);
  await leave(address, 5n, { block: LATE, txHash: "" });
  await end();
  expect(await booked(TIP)).toEqual([3n]);
});

test("adjustments at blocks that left the chain are reversed with them [V1, T158, T255]", async () => {
  const { hold, says, booked, arriveLate, audit } = await open();
  says.finalNumber = TIP - 1n;
  hold(10n);
  await audit();
  says.finalNumber = TIP;
  hold(12n);
  await audit();
  const reverse = (above: bigint) =>
    database.db.transaction().execute((tx) => reverseAdjustmentsAbove(tx, CHAIN_ID, above));
  await reverse(TIP - 1n);
  expect(await booked(TIP - 1n, TIP)).toEqual([10n, 10n]);
  await reverse(TIP - 2n);
  expect(await booked(TIP)).toEqual([0n]);
  await arriveLate(7n);
  expect(await booked(LATE, TIP)).toEqual([7n, 7n]);
});
