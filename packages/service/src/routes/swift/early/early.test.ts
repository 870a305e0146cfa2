/** Payouts before finality by the delivery worker, over a real PostgreSQL; tests set the state of the chains. */
import { type RawBuilder, sql } from "kysely";
import { describe, expect, test } from "vitest";
import { hashOf } from "../../../../test/support/doubles.ts";
import { ID, openLocked, payoutOf, signAll } from "../../../../test/support/locked-delivery.ts";
import { type Hex32, toHex32 } from "../../../core/hex.ts";
import { swiftGauges } from "../gauges.ts";
import { listDeliveries } from "../shown.ts";
import { getDelivery, takeOver } from "../store.ts";
import { describeEarly } from "./describe.ts";
import type { EarlyTerms } from "./rules.ts";
import { acceptLoss, close, count, find, open, readStates } from "./store.ts";

const USD = 10n ** 18n;
const ACT = { operator: "ada@desk", reason: "ticket 7" };

/** A lock in block 95 that is not final, of a payout worth 5 dollars. Payouts wait for three blocks. */
async function openEarly({ exposure = 100n * USD, worth = 5n * USD } = {}) {
  const opened = await openLocked();
  const { deps, state, clock } = opened;
  const terms: EarlyTerms = { exposure, tiers: [{ after: 3, upTo: 10n * USD }], exceptions: [] };
  Object.assign(deps, { early: new Map([[2, { terms, readWorth: async () => worth }]]) });
  state.isLockFinal = false;
  const { db } = opened.desk;
  /** Lets the payout be found on the destination. */
  const pay = () => {
    state.found = payoutOf(state.lock);
  };
  const makeFinal = () => {
    state.isLockFinal = true;
    state.sourceFinal = 96n;
    state.finalTime = state.lock.lockedAt + 12n;
  };
  const stateOf = async () => (await getDelivery(db, ID))?.state;
  const lost = async () => {
    const { rows } = await sql<{ account: string; sum: string }>`
      select account, sum(amount)::text from ledger_lines where account in ('lost', 'delivered')
       group by account order by account`.execute(db);
    return Object.fromEntries(rows.map(({ account, sum }) => [account, sum]));
  };
  const gauges = async () => {
    const rows = [];
    for (const gauge of swiftGauges.filter(({ name }) => name.startsWith("early_"))) {
      const select = gauge.select(sql`0::float8`, clock.now());
      // CAST: the columns of every gauge.
      const found = await (select as RawBuilder<Record<string, unknown>>).execute(db);
      rows.push(...found.rows.map((row) => Object.values(row)));
    }
    return Object.fromEntries(rows.map(([name, , label, value]) => [`${name} ${label}`, value]));
  };
  const shown = () => listDeliveries(db, opened.settlementId);
  return { ...opened, db, clock, pay, makeFinal, stateOf, shown, lost, gauges };
}

test("a lock is paid deep enough for its tier, and counted before the signature is requested [T274]", async () => {
  const { state, poll, requests, shown, db } = await openEarly();
  state.sourceHead = 96n;
  await poll();
  expect(await requests()).toEqual([]);
  state.sourceHead = 97n;
  await poll();
  expect(await requests()).toMatchObject([
    { id: `delivery:${ID}:1`, windowStart: String(state.finalTime) },
  ]);
  expect(await shown()).toMatchObject([{ waitsFor: null, paidAtDepth: "3" }]);
  expect(await find(db, ID)).toMatchObject({
    worth: 5n * USD,
    usableUntil: state.finalTime + 3_600n,
    isMissing: false,
  });
});

test("beyond the exposure, and while a chain is closed, a lock waits for finality [T274]", async () => {
  const { state, poll, requests, makeFinal, shown, db } = await openEarly({ exposure: 4n * USD });
  await poll();
  expect(await requests()).toEqual([]);
  expect(await shown()).toMatchObject([{ waitsFor: "exposure", paidAtDepth: null }]);
  makeFinal();
  await poll();
  expect(await requests()).toHaveLength(1);
  expect(await shown()).toMatchObject([{ waitsFor: null, paidAtDepth: "finalized" }]);
  expect(await find(db, ID)).toBeNull();
  expect(state.paying).toEqual([]);

  const closed = await openEarly();
  await close(closed.db, { srcChain: 2, ...ACT });
  await closed.poll();
  expect(await closed.requests()).toEqual([]);
  expect(await closed.shown()).toMatchObject([{ waitsFor: "opening" }]);
  await open(closed.db, 2, { ...ACT, nowMs: closed.clock.now() });
  await closed.poll();
  expect(await closed.requests()).toHaveLength(1);
});

test("counts at the same time never exceed the exposure together [T274]", async () => {
  const { db, settlementId } = await openEarly();
  const ids = Array.from({ length: 10 }, (_, index) => toHex32(hashOf(`delivery ${index}`)));
  for (const [index, id] of ids.entries()) {
    await sql`insert into deliveries (id, settlement_id, src_chain, dest_chain, escrow, wallet, token, seq, delivery,
        locked_amount, min_out, locked_at, dest_token, dest_wallet, pay_amount, fee_service, fee_gas, state, superseded)
      select ${id}, settlement_id, src_chain, dest_chain, escrow, wallet, token, seq + 1 + ${index}, delivery, locked_amount,
        min_out, locked_at, dest_token, dest_wallet, pay_amount, fee_service, fee_gas, state, true
        from deliveries where settlement_id = ${settlementId} and id = ${ID}`.execute(db);
  }
  const counted = await Promise.all(
    ids.map((deliveryId) =>
      db
        .transaction()
        .execute((tx) =>
          count(tx, { deliveryId, srcChain: 2, worth: 30n * USD, usableUntil: 1n }, 100n * USD),
        ),
    ),
  );
  expect(counted.filter((waitsFor) => waitsFor === null)).toHaveLength(3);
  expect(counted.filter((waitsFor) => waitsFor === "exposure")).toHaveLength(7);
  expect(await readStates(db, [2])).toMatchObject([{ counted: 90n * USD, payouts: 3 }]);
});

test("a paid lock is counted until it is final, and then claimed [T272]", async () => {
  const { state, poll, pay, makeFinal, stateOf, db } = await openEarly();
  await poll();
  await signAll(db);
  pay();
  await poll();
  state.deliveredFinal = true;
  await poll();
  expect([await stateOf(), (await find(db, ID))?.worth]).toEqual(["delivered", 5n * USD]);
  makeFinal();
  await poll();
  await signAll(db);
  await poll();
  expect([await stateOf(), await find(db, ID)]).toEqual(["claiming", null]);
});

test("a paid lock that is missing closes its chain and stays counted until its loss is booked [T272]", async () => {
  const { state, poll, pay, stateOf, lost, db, makeFinal, clock, gauges } = await openEarly();
  await poll();
  await signAll(db);
  pay();
  await poll();
  state.isLockGone = true;
  state.finalTime = state.lock.lockedAt + 600n;
  await poll();
  expect(await readStates(db, [2])).toMatchObject([{ payouts: 1, closed: null, missing: [] }]);
  // Not before the chain has had the time to bring it back.
  expect(await acceptLoss(db, ID, ACT)).toBe(false);
  state.finalTime += 1n;
  await poll();
  expect(await readStates(db, [2])).toMatchObject([
    {
      counted: 5n * USD,
      closed: { reason: `the lock of ${ID} is missing` },
      missing: [{ deliveryId: ID }],
    },
  ]);
  // CAST: only the shown fields of a chain's configuration.
  const config = {
    chains: [
      { kind: "evm", chainId: 2, name: "ethereum", earlyPayouts: { exposure: 7n * USD + 1n } },
    ],
    attestors: { threshold: 1, accounts: ["0x1", "0x2"], cold: [] },
  } as unknown as Parameters<typeof describeEarly>[1];
  expect(await describeEarly(db, config)).toMatchObject([
    {
      chain: "ethereum",
      // Rounded up.
      exposureUsd: "14.01",
      usableUsd: "7.01",
      countedUsd: "5",
      payouts: 1,
      closed: { reason: `the lock of ${ID} is missing` },
      missing: [{ deliveryId: ID, worthUsd: "5" }],
    },
  ]);
  expect(await gauges()).toEqual({
    "early_payouts_usd counted": 5,
    "early_payouts_usd missing": 5,
    "early_payouts_closed service": 1,
  });
  const before = await lost();
  // Until then it is value in flight; afterwards its settlement may end where the deposit left the chain too.
  const mayDie = async () => {
    const died = new Error("rolled back");
    const outcome = await db
      .transaction()
      .execute(async (tx) => {
        await tx.updateTable("settlements").set({ step: "sweep" }).execute();
        await tx
          .updateTable("settlements")
          .set({ status: "dead", error_code: "REORG", error_message: "x", error_retryable: false })
          .execute();
        throw died;
      })
      .catch((error: unknown) => error);
    return outcome === died || String(outcome);
  };
  expect(await mayDie()).toContain("has value in flight and cannot be dead");
  expect(await acceptLoss(db, ID, ACT)).toBe(true);
  expect(await mayDie()).toBe(true);
  expect(await acceptLoss(db, ID, ACT)).toBe(false);
  expect(await lost()).toEqual({ ...before, delivered: "0", lost: "999" });
  expect(await gauges()).toEqual({
    "early_payouts_closed service": 1,
    "early_losses_usd accepted": 5,
  });
  // The chain stays closed until an operator opens it.
  expect(await readStates(db, [2])).toMatchObject([{ counted: 0n, closed: {}, missing: [] }]);
  expect(await open(db, 2, { ...ACT, nowMs: clock.now() })).toBe(true);
  await poll();
  expect(await stateOf()).toBe("delivered");

  // It comes back after all: it is claimed, and the loss is taken back.
  state.isLockGone = false;
  makeFinal();
  state.deliveredFinal = true;
  await poll();
  await signAll(db);
  await poll();
  expect(await stateOf()).toBe("claiming");
  expect(await lost()).toEqual({ ...before, lost: "0" });
});

describe("a lock that comes back by the next settlement of its wallet", () => {
  /** A paid lock that is missing, of a completed settlement, and the next settlement. */
  async function openNext() {
    const opened = await openEarly();
    const { db, deps, state, settlementId, poll, pay, clock } = opened;
    state.sourceHead = 97n;
    await poll();
    await signAll(db);
    pay();
    await poll();
    await sql`
      update settlements set status = 'completed', step = 'done', version = version + 1, next_check_at = null,
             delivery_id = ${ID}, delivered_amount = 999, swept_amount = 1000
       where id = ${settlementId}`.execute(db);
    const next = "00000000-0000-4000-8000-000000000002";
    await sql`
      insert into settlements (id, integrator_id, address_id, chain_id, wallet, token, status, step, route, created_at, updated_at)
      select ${next}, integrator_id, address_id, chain_id, wallet, token, 'swapping', 'sweep', route,
             created_at + interval '1 second', updated_at from settlements where id = ${settlementId}`.execute(
      db,
    );
    state.isLockGone = true;
    state.sourceFinal = 96n;
    state.finalTime = state.lock.lockedAt + 601n;
    await poll();
    const delivered = async () => {
      const { rows } = await sql<{ account: string; owner: string; sum: string }>`
        select account, owner, sum(amount)::text from ledger_lines where account in ('lost', 'delivered')
         group by account, owner having sum(amount) <> 0 order by account`.execute(db);
      return rows;
    };
    const bringBack = () =>
      db
        .transaction()
        .execute((tx) => takeOver(tx, { id: ID, settlementId: next, nowMs: clock.now() }));
    return { ...opened, deps, next, delivered, bringBack };
  }

  test("is its own, with the payout, and is claimed [T316]", async () => {
    const opened = await openNext();
    const { db, state, poll, settlementId, next, delivered, bringBack } = opened;
    const { makeFinal, requests } = opened;
    expect(await find(db, ID)).toMatchObject({ isMissing: true });
    expect(await delivered()).toEqual([{ account: "delivered", owner: settlementId, sum: "999" }]);
    await bringBack();
    expect(await delivered()).toEqual([{ account: "delivered", owner: next, sum: "999" }]);
    const rows = await db
      .selectFrom("settlements")
      .select(["id", "status", "delivery_id", "delivered_amount", "swept_amount"])
      .where("id", "=", settlementId)
      .execute();
    expect(rows).toEqual([
      {
        id: settlementId,
        status: "completed",
        delivery_id: null,
        delivered_amount: "0",
        swept_amount: "1000",
      },
    ]);
    state.isLockGone = false;
    state.deliveredFinal = true;
    makeFinal();
    await poll();
    expect(await find(db, ID)).toBeNull();
    expect((await requests()).map(({ id }) => id)).toContain(`claim:${ID}:1`);
  });

  test("ends a loss that was accepted, and no value counts twice [T316]", async () => {
    const { db, state, poll, next, delivered, bringBack } = await openNext();
    await acceptLoss(db, ID, ACT);
    expect(await delivered()).toEqual([{ account: "lost", owner: "", sum: "999" }]);
    await bringBack();
    expect(await delivered()).toEqual([{ account: "lost", owner: "", sum: "999" }]);
    state.isLockGone = false;
    state.isLockFinal = true;
    await poll();
    expect(await delivered()).toEqual([{ account: "delivered", owner: next, sum: "999" }]);
  });
});

test("a payout that was never made is counted until no signature can make it [T272]", async () => {
  const { state, poll, stateOf, db, clock, desk } = await openEarly();
  await poll();
  expect(await find(db, ID)).not.toBeNull();
  state.isLockGone = true;
  await poll();
  expect(await find(db, ID)).not.toBeNull();
  clock.advance(3_600_000);
  await poll();
  expect([await find(db, ID), await stateOf()]).toEqual([null, "locked"]);
  // Gone for good only once the sweep can have no effect any more.
  await sql`update transactions set state = 'final', mined_block_number = 80 where intent like 'sweep:%'`.execute(
    desk.db,
  );
  await poll();
  await poll();
  expect(await stateOf()).toBeUndefined();
});

test("what an operator does is on record, and cannot be removed", async () => {
  const { db, clock } = await openEarly();
  const id: Hex32 = ID;
  await sql`insert into early_payouts (delivery_id, src_chain, worth, usable_until, missing_at)
    values (${id}, 2, 1, 1, now())`.execute(db);
  await close(db, { srcChain: 2, ...ACT });
  expect(await close(db, { srcChain: 2, ...ACT })).toBe(false);
  await open(db, 2, { operator: "bob@desk", reason: "over", nowMs: clock.now() });
  await acceptLoss(db, id, ACT);
  const { rows } = await sql<{ operator: string; action: string }>`
    select operator, action from operator_log order by seq`.execute(db);
  expect(rows).toEqual([
    { operator: "ada@desk", action: "close early payouts" },
    { operator: "bob@desk", action: "open early payouts" },
    { operator: "ada@desk", action: "accept early loss" },
  ]);
  for (const table of ["early_closures", "early_losses"]) {
    await expect(sql`delete from ${sql.table(table)}`.execute(db)).rejects.toThrow(
      "never changed or removed",
    );
  }
});
