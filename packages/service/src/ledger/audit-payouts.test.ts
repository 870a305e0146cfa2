/** The audit of payouts from inventory: their amounts, and those that no node shows or answers for. */
import { sql } from "kysely";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { CHAIN_ID, emptyBooks, openBooks } from "../../test/support/books.ts";
import { createTestDatabase, type TestDatabase } from "../../test/support/database.ts";
import { isHalted, listBreaches } from "./index.ts";

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());
beforeEach(() => emptyBooks(database.db));

const open = () => openBooks(database.db);
const HOUR_MS = 3_600_000;

describe("a claimed delivery", () => {
  async function openDelivered(row: Parameters<Awaited<ReturnType<typeof open>>["deliver"]>[2]) {
    const books = await open();
    const settlement = await books.settle(await books.newAddress());
    const id = await books.deliver(settlement, "a delivery", row);
    return { ...books, settlement, id };
  }

  test("is read once, and again in every full audit [V5]", async () => {
    const { audit, says, id } = await openDelivered({});
    for (const scope of ["next", "next", "all", "all"] as const) {
      expect((await audit(scope)).findings).toEqual([]);
    }
    expect(says.asked.filter((what) => what === `delivery ${id}`)).toHaveLength(3);
  });

  test("is found when the chain shows another amount, token or recipient, with both [V5]", async () => {
    const { audit, says, settlement, id } = await openDelivered({});
    const paid = says.delivered.get(id);
    if (!paid) throw new Error("it is delivered");
    says.delivered.set(id, { ...paid, amount: 91n });
    expect((await audit("next")).findings).toEqual([
      {
        chainId: CHAIN_ID,
        invariant: "V5",
        verdict: "payout_differs",
        subject: settlement,
        details: {
          delivery: id,
          recorded: `90 of ${paid.token} to ${paid.to}`,
          on_chain: `91 of ${paid.token} to ${paid.to}`,
        },
      },
    ]);
  });

  test("is found when it is one base unit below its minimum [V5]", async () => {
    const { audit, settlement, id } = await openDelivered({ paid: 79n, minOut: 80n });
    expect((await audit("next")).findings).toEqual([
      {
        chainId: CHAIN_ID,
        invariant: "V5",
        verdict: "payout_differs",
        subject: settlement,
        details: { delivery: id, below: "80" },
      },
    ]);
    await emptyBooks(database.db);
    const just = await openDelivered({ paid: 80n, minOut: 80n });
    expect((await just.audit("next")).findings).toEqual([]);
  });

  test("absent from the chain is found, in every scope, once the destination's final block is newer than the payout [V5, T159]", async () => {
    const { audit, says, clock, settlement, id } = await openDelivered({});
    const paid = says.delivered.get(id);
    says.delivered.clear();
    const found = {
      chainId: CHAIN_ID,
      invariant: "V5",
      verdict: "payout_missing",
      subject: settlement,
      details: { delivery: id, on_chain: "no such delivery" },
    };
    // A server that lags shows a block in which the payout was not made yet.
    const seenS = BigInt(Math.floor(clock.now() / 1_000));
    says.destinationTime = seenS;
    for (const scope of ["next", "all"] as const) expect((await audit(scope)).findings).toEqual([]);
    says.destinationTime = seenS + 1n;
    for (const scope of ["next", "all"] as const) {
      expect((await audit(scope)).findings).toEqual([found]);
    }
    // A delivery that was not found is read again until it is there.
    if (paid) says.delivered.set(id, paid);
    expect((await audit("next")).findings).toEqual([]);
  });

  test("on a chain that is not configured is skipped [V5]", async () => {
    const { audit, says } = await openDelivered({ destChain: 31 });
    expect((await audit("all")).findings).toEqual([]);
    expect(says.asked.filter((what) => what.startsWith("delivery"))).toEqual([]);
  });

  /** Adds two hundred older deliveries like the one that is there. */
  async function addOlder(): Promise<string[]> {
    await sql`insert into settlements (id, integrator_id, address_id, chain_id, wallet, token, status, step, created_at,
        updated_at)
      select gen_random_uuid(), integrator_id, address_id, chain_id, wallet, token, status, step,
        created_at + i * interval '1 ms', updated_at
      from settlements, generate_series(1, 200) as i`.execute(database.db);
    await sql`insert into deliveries (id, settlement_id, state, src_chain, escrow, wallet, token, seq, locked_amount, min_out,
        locked_at, delivery, dest_chain, dest_token, dest_wallet, pay_amount, delivered_amount, created_at)
      select '0x' || lpad(replace(s.id::text, '-', ''), 64, '0'), s.id, state, src_chain, escrow, d.wallet, d.token,
        seq + row_number() over (), locked_amount, d.min_out,
        locked_at, delivery, dest_chain, dest_token, dest_wallet, pay_amount,
        d.delivered_amount, d.created_at - interval '1 s'
      from deliveries d, settlements s where s.id <> d.settlement_id`.execute(database.db);
    const all = await database.db
      .selectFrom("deliveries")
      .select("id")
      .orderBy("created_at", "desc")
      .execute();
    return all.slice(1).map((row) => row.id);
  }

  test("is among the two hundred oldest of a part, and among all in a full audit [V5]", async () => {
    const { audit, says, id } = await openDelivered({});
    await addOlder();
    const countAsked = async (scope: "next" | "all") => {
      says.asked.length = 0;
      await audit(scope);
      return says.asked.filter((what) => what.startsWith("delivery"));
    };
    const some = await countAsked("next");
    expect(some).toHaveLength(200);
    expect(some).not.toContain(`delivery ${id}`);
    expect(await countAsked("all")).toHaveLength(201);
  });

  test("is compared although no node shows two hundred older payouts, which are named after an hour and stop nothing [V5, T221]", async () => {
    const { audit, says, clock, id } = await openDelivered({});
    const older = await addOlder();
    for (const one of older) says.unlocated.add(one);
    expect((await audit("next")).findings).toEqual([]);
    expect(says.asked).not.toContain(`delivery ${id}`);
    await audit("next");
    expect(says.asked).toContain(`delivery ${id}`);
    clock.advance(HOUR_MS + 1_000);
    const { findings } = await audit("next");
    expect(findings).toHaveLength(200);
    expect(findings[0]).toMatchObject({
      invariant: "V5",
      verdict: "payout_unproved",
      details: { transaction: "unknown" },
    });
    expect(await isHalted(database.db, CHAIN_ID)).toBe(false);
    // Each is asked again after a quarter of its age, and the values of one that is found agree again.
    says.asked.length = 0;
    await audit("next");
    expect(says.asked.filter((what) => what.startsWith("delivery"))).toEqual([]);
    says.unlocated.clear();
    const paid = says.delivered.get(id);
    if (!paid) throw new Error("it is delivered");
    for (const one of older) says.delivered.set(one, paid);
    await audit("all");
    const breaches = await listBreaches(database.db);
    expect(breaches).toHaveLength(200);
    expect(breaches.every(({ heldSince }) => heldSince !== undefined)).toBe(true);
  });

  test("is compared although no node answers for two hundred older payouts [V5, T221]", async () => {
    const { audit, says, settlement, id } = await openDelivered({ paid: 79n, minOut: 80n });
    for (const one of await addOlder()) says.unanswered.add(one);
    await expect(audit("next")).rejects.toMatchObject({ code: "RPC_UNAVAILABLE" });
    expect(await listBreaches(database.db)).toEqual([]);
    await expect(audit("next")).rejects.toMatchObject({ code: "RPC_UNAVAILABLE" });
    expect(says.asked).toContain(`delivery ${id}`);
    expect(await listBreaches(database.db)).toMatchObject([
      { verdict: "payout_differs", subject: settlement },
    ]);
  });
});
