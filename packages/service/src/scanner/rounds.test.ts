/** Every wallet is compared in time, whatever other integrators do. */
import { sql } from "kysely";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createTestDatabase, type TestDatabase } from "../../test/support/database.ts";
import { createTenant, type Tenant } from "../../test/support/tenants.ts";
import type { Address } from "../core/hex.ts";
import { type Round, takeTurn } from "./rounds.ts";
import { putPositions } from "./store.ts";

const CHAIN = 2;
const PERIOD_MS = 3_600_000;
const ALL: Round = {
  list: { name: "all", family: "evm" },
  periodMs: PERIOD_MS,
  walletsMax: 10_000,
};
const FRESH: Round = { list: { name: "fresh", chainId: CHAIN }, periodMs: 0, walletsMax: 10_000 };

let database: TestDatabase;
let nowMs: number;
beforeEach(async () => {
  database = await createTestDatabase();
  nowMs = Date.parse("2026-01-01T00:00:00.000Z");
});
afterEach(() => database.drop());

/** Inserts addresses at random places, which are fresh too, and returns their wallets in order. */
async function insertWallets(tenant: Tenant, count: number): Promise<Address[]> {
  const { rows } = await sql<{ wallet: Address }>`with issued as (
      insert into addresses (id, integrator_id, chain_family, user_id, dest_chain, dest_wallet, dest_token,
          refund_authority, max_fee_bps, max_slippage_bps, version, wallet_kind, factory, commitment, wallet, created_at)
        select gen_random_uuid(), ${tenant.id}, 'evm', i::text, 30, '0x', '0x', '0x', 50, 100, 1, 1, '0x',
            ${tenant.id} || i, '0x' || substr(encode(sha256((${tenant.id} || i)::bytea), 'hex'), 1, 40),
            now() + i * interval '1 ms'
          from generate_series(1, ${count}::integer) as i returning wallet
    ), listed as (
      insert into fresh_wallets select ${CHAIN}, ${tenant.id}, wallet, now() + interval '1 day' from issued
    ) select wallet from issued order by wallet collate "C"`.execute(database.db);
  return rows.map(({ wallet }) => wallet);
}

/** Takes the wallets that are due and stores the positions, as a poll does. */
async function poll(round: Round, { afterMs = 0, fails = false } = {}) {
  nowMs += afterMs;
  const turn = await takeTurn(database.db, { chainId: CHAIN, round, nowMs });
  expect(turn.wallets.length).toBeLessThanOrEqual(round.walletsMax);
  if (!fails) await putPositions(database.db, CHAIN, round.list.name, turn.positions);
  return turn;
}

/** Polls a number of times and returns how often each wallet was taken. */
async function countTurns(round: Round, intervals: readonly number[]) {
  const counts = new Map<Address, number>();
  for (const afterMs of intervals) {
    for (const wallet of (await poll(round, { afterMs })).wallets) {
      counts.set(wallet, (counts.get(wallet) ?? 0) + 1);
    }
  }
  return counts;
}

const isOf = (wallets: readonly Address[]) => {
  const own = new Set(wallets);
  return (wallet: Address) => own.has(wallet);
};

describe("a round over all wallets", () => {
  test("takes every wallet at first", async () => {
    const wallets = await insertWallets(await createTenant(database.db), 200);
    const turn = await poll(ALL);
    expect(turn.wallets.toSorted()).toEqual(wallets);
    expect((await poll(ALL)).wallets).toEqual([]);
  });

  test("takes every wallet once in a period, whatever the intervals between polls", async () => {
    const tenants = [await createTenant(database.db), await createTenant(database.db)];
    const wallets = [];
    for (const tenant of tenants) wallets.push(...(await insertWallets(tenant, 300)));
    await poll(ALL);
    const intervals = [45_000, 1, 600_000, 15_000, 299_999, 2_000_000, 39_999, 600_001];
    expect(intervals.reduce((sum, one) => sum + one)).toBe(PERIOD_MS);
    const counts = await countTurns(ALL, intervals);
    expect(wallets.filter((wallet) => !counts.has(wallet))).toEqual([]);
    expect([...counts.values()].filter((count) => count !== 1)).toEqual([]);
  });

  test("takes a part of the wallets in a part of the period, in the order of addresses", async () => {
    const wallets = await insertWallets(await createTenant(database.db), 400);
    await poll(ALL);
    const taken = [];
    for (const _ of [1, 2, 3]) {
      const turn = await poll(ALL, { afterMs: PERIOD_MS / 4 });
      expect(turn.wallets.length).toBeGreaterThan(60);
      expect(turn.wallets.length).toBeLessThan(140);
      taken.push(...turn.wallets);
    }
    expect(taken).toEqual(wallets.slice(0, taken.length));
  });

  test("takes the wallets of a failed poll again, with those that are due meanwhile", async () => {
    await insertWallets(await createTenant(database.db), 200);
    await poll(ALL);
    const failed = await poll(ALL, { afterMs: 600_000, fails: true });
    const next = await poll(ALL, { afterMs: 600_000 });
    expect(next.wallets.slice(0, failed.wallets.length)).toEqual(failed.wallets);
    expect(next.wallets.length).toBeGreaterThan(failed.wallets.length);
  });

  test("takes every wallet once after an outage of several periods", async () => {
    const wallets = await insertWallets(await createTenant(database.db), 200);
    await poll(ALL, { afterMs: 1_000 });
    await poll(ALL, { afterMs: PERIOD_MS / 3 });
    const turn = await poll(ALL, { afterMs: 5.5 * PERIOD_MS });
    expect(turn.wallets.toSorted()).toEqual(wallets);
  });

  test("continues when the clock was set back", async () => {
    const wallets = await insertWallets(await createTenant(database.db), 200);
    await poll(ALL);
    const turn = await poll(ALL, { afterMs: -PERIOD_MS });
    expect(turn.wallets.toSorted()).toEqual(wallets);
    expect((await poll(ALL, { afterMs: 1_000 })).wallets.length).toBeLessThan(10);
  });

  test("keeps the time of an integrator while another has too many wallets", async () => {
    const [small, large] = [await createTenant(database.db), await createTenant(database.db)];
    const smallWallets = await insertWallets(small, 100);
    const largeWallets = await insertWallets(large, 6_000);
    const round = { ...ALL, walletsMax: 100 };
    const polls = 40;
    const counts = await countTurns(
      round,
      Array.from({ length: 2 * polls }, () => PERIOD_MS / polls),
    );
    expect(smallWallets.map((wallet) => (counts.get(wallet) ?? 0) >= 2)).not.toContain(false);
    const { late } = await poll(round, { afterMs: PERIOD_MS / polls });
    expect(late).toEqual([large.id]);
    // Late, and nevertheless it passes every wallet.
    for (let more = 0; more < 6_000 / 90 && counts.size < 6_100; more++) {
      for (const wallet of (await poll(round, { afterMs: 1_000 })).wallets) counts.set(wallet, 1);
    }
    expect(largeWallets.filter((wallet) => !counts.has(wallet))).toEqual([]);
  });
});

describe("fresh wallets", () => {
  test("are taken in every poll", async () => {
    const wallets = await insertWallets(await createTenant(database.db), 50);
    for (const afterMs of [0, 0, 45_000, 1]) {
      expect((await poll(FRESH, { afterMs })).wallets.toSorted()).toEqual(wallets);
    }
  });

  test("of another chain are not taken", async () => {
    await insertWallets(await createTenant(database.db), 5);
    const round: Round = { ...FRESH, list: { name: "fresh", chainId: CHAIN + 1 } };
    expect((await poll(round)).wallets).toEqual([]);
  });

  test("of one integrator are taken in every poll while another has too many", async () => {
    const [large, small] = [await createTenant(database.db), await createTenant(database.db)];
    const largeWallets = await insertWallets(large, 2_500);
    const smallWallets = await insertWallets(small, 90);
    const round = { ...FRESH, walletsMax: 500 };
    const taken = new Set<Address>();
    for (let polls = 0; polls < 7; polls++) {
      const turn = await poll(round, { afterMs: 45_000 });
      expect(turn.wallets.filter(isOf(smallWallets))).toEqual(smallWallets);
      // The part that the small one does not need goes to the large one.
      expect(turn.wallets.filter(isOf(largeWallets)).length).toBe(410);
      expect(turn.late).toEqual([large.id]);
      for (const wallet of turn.wallets) taken.add(wallet);
    }
    expect(taken.size).toBe(2_590);
  });

  test("are taken in turn if there are more integrators than wallets in a poll", async () => {
    const wallets = [];
    for (let count = 0; count < 7; count++) {
      wallets.push(...(await insertWallets(await createTenant(database.db), 2)));
    }
    const round = { ...FRESH, walletsMax: 3 };
    const counts = await countTurns(
      round,
      Array.from({ length: 6 }, () => 45_000),
    );
    expect([...counts.keys()].toSorted()).toEqual(wallets.toSorted());
  });
});
