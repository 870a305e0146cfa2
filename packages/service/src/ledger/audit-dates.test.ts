/** Rows that are ahead of the scanner, and a scanner that is ahead of rows: neither is a violation. */
import { sql } from "kysely";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { CHAIN_ID, emptyBooks, openBooks, TIP, TOKEN } from "../../test/support/books.ts";
import { createTestDatabase, type TestDatabase } from "../../test/support/database.ts";

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());
beforeEach(() => emptyBooks(database.db));

/** Heights of a sweep, of the return of its lock, of the read that saw the return, and of the second sweep. */
const SWEPT = TIP - 5n;
const RETURNED = TIP;
const SEEN = TIP + 3n;
const SWEPT_AGAIN = TIP + 4n;

/** Sweeps ten units into a lock that is returned, as the settler and the scanner record it. */
async function openReturned() {
  const { db } = database;
  const books = await openBooks(db);
  const address = await books.newAddress();
  await books.arrive(address, 10n, { block: TIP - 6n });
  await books.leave(address, 10n, { block: SWEPT, txHash: "" });
  const id = await books.settle(address, { status: "settling" });
  const sweep = (block: bigint, more = sql``) =>
    sql`
    update settlements set swept_amount = 10, swept_block = ${block}, swept_log_index = 1 ${more}
     where id = ${id}`.execute(db);
  await sweep(SWEPT);
  const delivery = await books.deliver(id, "a lock", { state: "returning" });
  await sql`update settlements set delivery_id = ${delivery} where id = ${id}`.execute(db);
  await sql`update deliveries set state = 'returned', ended_height = ${SEEN}, delivered_amount = null
     where id = ${delivery}`.execute(db);
  await sql`update settlements set swept_amount = null, swept_block = null, swept_log_index = null,
     delivery_id = null where id = ${id}`.execute(db);
  const complete = () =>
    sweep(SWEPT_AGAIN, sql`, status = 'completed', step = 'done', sweep_final = true`);
  books.says.held.clear();
  const scanReturn = () =>
    books.leave(address, -10n, { block: RETURNED, kind: "returned", txHash: "" });
  /** Audits at a height: the scanner and the chain are there. */
  const auditAt = async (height: bigint) => {
    await sql`delete from scanner_blocks where number > ${height}`.execute(db);
    const { hash, parentHash } = books.says.block(height) ?? { hash: "", parentHash: "" };
    await sql`insert into scanner_blocks values (${CHAIN_ID}, ${height}, ${hash}, ${parentHash})
      on conflict do nothing`.execute(db);
    books.says.finalNumber = height;
    books.says.held.set(
      `${TOKEN}:${address.wallet}`,
      height >= RETURNED && height < SWEPT_AGAIN ? 10n : 0n,
    );
    return (await books.audit("all")).findings.filter(({ invariant }) => invariant === "V4");
  };
  return { ...books, address, complete, scanReturn, auditAt };
}

test("a returned lock is no finding while the scanner is between its sweep and its return [V4, T156]", async () => {
  const { complete, auditAt } = await openReturned();
  expect(await auditAt(RETURNED - 1n)).toEqual([]);
  await complete();
  expect(await auditAt(RETURNED - 1n)).toEqual([]);
});

test("a returned lock is no finding while the scanner is between its return and the read that saw it [V4, T156]", async () => {
  const { complete, auditAt, scanReturn } = await openReturned();
  await complete();
  await scanReturn();
  for (const height of [RETURNED, SEEN - 1n, SEEN, SWEPT_AGAIN - 1n]) {
    expect(await auditAt(height)).toEqual([]);
  }
});

test("a returned lock that the scanner never saw is found once it is past the read that saw it [V4, T156]", async () => {
  const { complete, auditAt, address } = await openReturned();
  await complete();
  expect(await auditAt(SEEN)).toMatchObject([
    { subject: `${address.wallet}:${TOKEN}`, details: { block: `${SEEN}` } },
  ]);
});
