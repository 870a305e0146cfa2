/** Breaches: opened once, ended by operators with their repairs, and what they halt. */
import { REPAIRS } from "../roles/repairs.ts";
import { sql } from "kysely";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import {
  CHAIN_ID,
  emptyBooks,
  openBooks,
  TIP,
  TOKEN,
  whileBlocked,
} from "../../test/support/books.ts";
import { createTestDatabase, type TestDatabase } from "../../test/support/database.ts";
import { hashOf, LANE } from "../../test/support/doubles.ts";
import { formatStamp } from "../core/stamp.ts";
import {
  endBreach,
  isHalted,
  listBreaches,
  listUnsettled,
  mayRemoveFinal,
  recordFindings,
  toFinding,
} from "./index.ts";
import { ROUTE_AUDITS } from "../routes/index.ts";

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());
beforeEach(() => emptyBooks(database.db));

const open = () => openBooks(database.db);
const HOUR_MS = 3_600_000;

describe("a breach", () => {
  const finding = {
    chainId: 2,
    invariant: "V4",
    verdict: "sweep_unknown",
    subject: "7:1",
    details: { amount: "5" },
  } as const;
  const end = (id: string | undefined, changed = {}) =>
    endBreach(
      { db: database.db, ...REPAIRS, clock: { now: () => HOUR_MS, sleep: async () => undefined } },
      { id: id ?? "", operator: "ann", reason: "understood", ...changed },
    );

  test("is opened once, with the finding", async () => {
    expect(await recordFindings(database.db, [finding])).toEqual([finding]);
    expect(await recordFindings(database.db, [finding, finding])).toEqual([]);
    const [breach, ...others] = await listBreaches(database.db);
    expect(others).toEqual([]);
    expect(breach).toEqual({
      ...finding,
      id: expect.stringMatching(/^\d+$/),
      foundAt: expect.stringMatching(/^2\d{3}-/),
    });
  });

  test("ended by an operator stays ended until its finding changes", async () => {
    await recordFindings(database.db, [finding]);
    const [breach] = await listBreaches(database.db);
    expect(await end(breach?.id)).toBe(true);
    expect(await recordFindings(database.db, [finding])).toEqual([]);
    expect(await isHalted(database.db, 2)).toBe(false);
    const worse = { ...finding, details: { amount: "6" } };
    expect(await recordFindings(database.db, [worse])).toEqual([worse]);
    expect(await isHalted(database.db, 2)).toBe(true);
    const row = await database.db
      .selectFrom("breaches")
      .selectAll()
      .where("ended_at", "is not", null)
      .executeTakeFirstOrThrow();
    expect(row).toMatchObject({
      ended_at: formatStamp(HOUR_MS),
      ended_by: "ann",
      end_reason: "understood",
    });
  });

  test("halts its own chain only, and is listed by chain, oldest first", async () => {
    const elsewhere = { ...finding, chainId: 30 };
    const later = { ...finding, subject: "8:1" };
    await recordFindings(database.db, [finding, elsewhere, later]);
    const list = async (chainId?: number) =>
      (await listBreaches(database.db, chainId)).map((one) => `${one.chainId} ${one.subject}`);
    expect(await list()).toEqual(["2 7:1", "30 7:1", "2 8:1"]);
    expect(await list(2)).toEqual(["2 7:1", "2 8:1"]);
    expect(await list(31)).toEqual([]);
    expect(await isHalted(database.db, 30)).toBe(true);
    expect(await isHalted(database.db, 31)).toBe(false);
  });

  test("is ended and written off once when several operators end it concurrently", async () => {
    const { newAddress, arrive } = await open();
    const address = await newAddress();
    await arrive(address, 10n);
    const repair = {
      kind: "write_off",
      account: "wallet",
      owner: address.wallet,
      token: TOKEN,
      amount: "4",
      block: `${TIP}`,
    } as const;
    const older = { ...finding, subject: "6:1", repair: { ...repair, amount: "2" } };
    await recordFindings(database.db, [older, { ...finding, repair }]);
    const [, breach] = await listBreaches(database.db);
    expect(breach).toMatchObject({ details: { amount: "5" }, repair });
    expect(breach?.details).toEqual({ amount: "5" });
    expect(await end("12345")).toBe(false);
    expect(await end("no number")).toBe(false);
    const endIt = () => end(breach?.id);
    const ended = await whileBlocked(database.db, "breaches", [endIt, endIt, endIt]);
    expect(ended.toSorted()).toEqual([false, false, true]);
    expect(await listBreaches(database.db)).toMatchObject([{ subject: "6:1" }]);
    // Written off once, to `external`.
    expect(await listUnsettled(database.db, ROUTE_AUDITS)).toMatchObject([{ amount: "6" }]);
    const { rows } = await sql`
      select account, owner, amount::text, block_number, reason, ref from ledger_lines
       where reason = 'adjustment' order by amount`.execute(database.db);
    const line = { block_number: TIP, reason: "adjustment", ref: `breach:${breach?.id}` };
    expect(rows).toEqual([
      { ...line, account: "wallet", owner: address.wallet, amount: "-4" },
      { ...line, account: "external", owner: "", amount: "4" },
    ]);
  });

  test("of a lane moves only that lane's nonce forward, and never back [V10]", async () => {
    const other = hashOf("other").slice(0, 42);
    const rows = [
      { chain_id: 2, address: LANE },
      { chain_id: 30, address: LANE },
      { chain_id: 2, address: other },
    ].map((row) => ({ ...row, purpose: "settle", next_nonce: 4 }));
    await database.db.insertInto("lanes").values(rows).execute();
    const listNonces = async () =>
      (await database.db.selectFrom("lanes").selectAll().orderBy("next_nonce").execute()).map(
        (row) => `${row.chain_id} ${row.address === LANE} ${row.next_nonce}`,
      );
    for (const nonce of [6, 5]) {
      const repair = { kind: "adopt_nonce", lane: LANE, nonce } as const;
      await recordFindings(database.db, [{ ...finding, subject: `${nonce}`, repair }]);
      const [breach] = await listBreaches(database.db);
      expect(await end(breach?.id)).toBe(true);
    }
    expect((await listNonces()).toSorted()).toEqual(["2 false 4", "2 true 6", "30 true 4"]);
  });

  test("of replaced final blocks opens later transactions and sweeps again, with their gas posted back [V12, T158]", async () => {
    const { settle, newAddress } = await open();
    const swept = (block: bigint) => ({ amount: 1n, block, log: 1 });
    const [before, after] = [
      await settle(await newAddress(), { swept: swept(7n) }),
      await settle(await newAddress(), { swept: swept(8n) }),
    ];
    for (const block of [7, 8]) {
      await sql`insert into transactions (id, chain_id, lane, intent, to_address, data, value, gas, nonce, state,
          succeeded, mined_hash, mined_block_hash, mined_block_number, gas_cost)
        values (gen_random_uuid(), ${CHAIN_ID}, ${LANE}, ${`deploy:${block}:1`}, ${LANE}, '0x', 0, 1, ${block}, 'mined',
          true, ${hashOf(`tx ${block}`)}, ${hashOf(`block ${block}`)}, ${block}, 5)`.execute(
        database.db,
      );
    }
    await sql`update transactions set state = 'final'`.execute(database.db);
    const gas = async () => {
      const { rows } = await sql<{ amount: string }>`
        select sum(amount)::text as amount from ledger_lines where account = 'gas'`.execute(
        database.db,
      );
      return rows[0]?.amount;
    };
    expect(await gas()).toBe("10");
    const above = { kind: "rewind", above: "7", hash: hashOf("block 8") } as const;
    await recordFindings(database.db, [
      toFinding("final_block_replaced", {
        chainId: CHAIN_ID,
        subject: above.hash,
        details: {},
        repair: above,
      }),
    ]);
    expect(await mayRemoveFinal(database.db, CHAIN_ID, above)).toBe(false);
    const [breach] = await listBreaches(database.db);
    expect(await end(breach?.id)).toBe(true);
    expect(await mayRemoveFinal(database.db, CHAIN_ID, above)).toBe(true);
    const { rows } = await sql`select nonce, state from transactions order by nonce`.execute(
      database.db,
    );
    expect(rows).toEqual([
      { nonce: 7, state: "final" },
      { nonce: 8, state: "mined" },
    ]);
    expect(await gas()).toBe("5");
    const followed = await database.db
      .selectFrom("settlements")
      .select("id")
      .where("sweep_final", "=", false)
      .execute();
    expect(followed).toEqual([{ id: after }]);
    expect(before).not.toBe(after);
    await sql`update transactions set state = 'final'`.execute(database.db);
    expect(await gas()).toBe("10");
  });
});
