/** Tests that each read of the totals adds the new lines, and no line twice. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { createTestDatabase, type TestDatabase } from "../../test/support/database.ts";
import { systemClock } from "../roles/system-ports.ts";
import { createTotals } from "./totals.ts";

const MINUTE_MS = 60_000;
const TOKEN = "0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48";

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

/** Moves an amount from the world into a wallet, some minutes ago. */
async function post(amount: number, minutes: number): Promise<void> {
  await database.pool.query(
    `insert into ledger_lines (posting, reason, ref, account, owner, chain_id, token, amount, at)
     select posting, 'deposit', 'x', line.account, '', 2, $1, line.amount,
            clock_timestamp() - $3 * interval '1 minute'
       from nextval('ledger_postings') as posting,
            (values ('external', -$2::numeric), ('wallet', $2::numeric)) as line (account, amount)`,
    [TOKEN, amount, minutes],
  );
}

test("reads at the same time, in parts, count each line once", async () => {
  const totals = createTotals({ db: database.db, clock: systemClock, linesAtOnce: 3n });
  for (let i = 1; i <= 10; i++) await post(i, 60);
  await post(100, 0);
  const [first, second] = await Promise.all([totals.read(), totals.read()]);
  const expected = [-155n, 155n];
  expect(first.map(({ amount }) => amount)).toEqual(expected);
  expect(second).toEqual(first);
  expect((await totals.read()).map(({ amount }) => amount)).toEqual(expected);
  await post(-155, 0);
});

test("adds up older lines once, and newer ones each time", async () => {
  let nowMs = Date.now();
  const totals = createTotals({ db: database.db, clock: { now: () => nowMs } as never });
  const walletOf = async () =>
    (await totals.read()).find(({ account }) => account === "wallet")?.amount;
  expect(await totals.read()).toEqual([]);
  await post(100, 60);
  await post(5, 1);
  expect(await walletOf()).toBe(105n);
  expect(await walletOf()).toBe(105n);
  await post(20, 0);
  expect(await walletOf()).toBe(125n);
  // The newer lines have become older ones.
  nowMs += 30 * MINUTE_MS;
  expect(await walletOf()).toBe(125n);
  await post(-125, 0);
  expect(await totals.read()).toEqual([]);
  nowMs += 25 * 60 * MINUTE_MS;
  expect(await totals.read()).toEqual([]);
  await post(7, 0);
  expect(await totals.read()).toEqual([
    { chainId: 2, account: "external", token: TOKEN, amount: -7n },
    { chainId: 2, account: "wallet", token: TOKEN, amount: 7n },
  ]);
});
