/** Moves on a real database, over chains whose answers the test gives. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { createTestDatabase, type TestDatabase } from "../../test/support/database.ts";
import { CHAIN, USDC } from "../../test/support/doctor-doubles.ts";
import {
  createCountingRandom,
  createStillClock,
  createStrictChain,
  hashOf,
  silentLog,
  TREASURY,
} from "../../test/support/doubles.ts";
import type { Simulation } from "../chains/port/index.ts";
import { toEvmAddress } from "../core/hex.ts";
import { cancelMove, insertMove, listNewest, listOpen } from "./store.ts";
import { followMoves, type MoveDeps, planAsked, planMove } from "./move.ts";

const DELIVERY = toEvmAddress(`0x${"d0".repeat(20)}`);
const LANE = toEvmAddress(`0x${"1a".repeat(20)}`);
/** A chain whose treasury fills its inventory. */
const FUNDED = {
  ...CHAIN,
  contracts: { ...CHAIN.contracts, delivery: DELIVERY, treasury: TREASURY },
  tokens: CHAIN.tokens.map((token) => ({ ...token, inventoryMin: 1n, inventoryTarget: 9n })),
};
const LOCAL = { srcChain: 2, token: USDC, to: DELIVERY, destChain: 2, destToken: USDC };
const ID = "00000000-0000-4000-8000-00000000aaaa";

let database: TestDatabase;

beforeAll(async () => {
  database = await createTestDatabase();
});
afterEach(async () => {
  for (const table of ["moves", "transactions", "pauses"] as const) {
    await database.db.deleteFrom(table).execute();
  }
});
afterAll(async () => {
  await database.drop();
});

function open(simulation: Simulation = { ok: true, gas: 90_000n }) {
  const woken: number[] = [];
  const chain = createStrictChain({
    chainId: 2,
    simulate: async () => simulation,
    readMovable: async () => 1_000n,
    buildMove: ({ to, amount }) => ({
      to,
      data: `0x${amount.toString(16).padStart(4, "0")}`,
      value: 0n,
    }),
  });
  const deps: MoveDeps = {
    config: { chains: [FUNDED], routes: [] },
    db: database.db,
    clock: createStillClock(),
    random: createCountingRandom(),
    log: silentLog,
    chain,
    lanes: [LANE],
    wakeLanes: (chainId) => woken.push(chainId),
  };
  return { deps, woken };
}

const wanted = { direction: LOCAL, amount: 5n, reason: "below its minimum" };

const states = async () => (await listNewest(database.db, 9)).map(({ state }) => state);

const readIntents = () =>
  database.db.selectFrom("transactions").select(["intent", "state", "settlement_id"]).execute();

/** Ends the only transaction. */
function end(change: { state: string; succeeded?: boolean }) {
  const mined = {
    nonce: 0,
    mined_hash: hashOf("mined"),
    mined_block_hash: hashOf("block"),
    mined_block_number: 7n,
    gas_cost: "1",
  };
  return database.db
    .updateTable("transactions")
    .set({ ...change, ...(change.succeeded !== undefined && mined) })
    .execute();
}

describe("a move", () => {
  test("is planned with its intent in one transaction, and wakes the lanes [T312]", async () => {
    const { deps, woken } = open();
    const id = await planMove(deps, wanted, []);
    expect(await listOpen(database.db)).toMatchObject([
      { ...LOCAL, id, amount: 5n, state: "planned", operator: null },
    ]);
    expect(await readIntents()).toEqual([
      { intent: `move:${id}:1`, state: "queued", settlement_id: null },
    ]);
    expect(woken).toEqual([2]);
  });

  test("is not planned if moves to the inventory changed since they were listed [T312]", async () => {
    const { deps, woken } = open();
    await planMove(deps, wanted, []);
    expect(await planMove(deps, wanted, [])).toBeNull();
    expect(await states()).toEqual(["planned"]);
    expect(await readIntents()).toHaveLength(1);
    expect(woken).toEqual([2]);
    const other = { ...wanted, direction: { ...LOCAL, destToken: LANE } };
    expect(await planMove(deps, other, [])).not.toBeNull();
  });

  test("is not planned while its chain is paused, or if it would revert", async () => {
    const refused = open({ ok: false, reason: "AboveDirectionCap" });
    await expect(planMove(refused.deps, wanted, [])).rejects.toThrow("not possible now");
    await database.db
      .insertInto("pauses")
      .values({ id: ID, scope: "chain", chain_id: 2, subject: "", reason: "-", operator: "-" })
      .execute();
    await expect(planMove(open().deps, wanted, [])).rejects.toThrow("Paused by the operator");
    expect(await states()).toEqual([]);
  });

  test("within a chain has arrived once its transaction is final", async () => {
    const { deps } = open();
    await planMove(deps, wanted, []);
    await followMoves(deps);
    expect(await states()).toEqual(["planned"]);
    await end({ state: "mined", succeeded: true });
    await followMoves(deps);
    expect(await states()).toEqual(["planned"]);
    await end({ state: "final", succeeded: true });
    await followMoves(deps);
    expect(await listNewest(database.db, 1)).toMatchObject([
      { state: "arrived", endedAt: expect.any(String) },
    ]);
  });

  test("has failed if its transaction finally reverted, or was given up", async () => {
    const { deps } = open();
    await planMove(deps, wanted, []);
    await end({ state: "final", succeeded: false });
    await followMoves(deps);
    expect(await states()).toEqual(["failed"]);
    await database.db.deleteFrom("moves").execute();
    await database.db.deleteFrom("transactions").execute();
    await planMove(deps, wanted, []);
    await end({ state: "abandoned" });
    await followMoves(deps);
    expect(await states()).toEqual(["failed"]);
  });

  test("to another chain is on its way until its deposit is settled", async () => {
    const { deps } = open();
    const remote = { ...LOCAL, destChain: 30 };
    await insertMove(database.db, {
      ...remote,
      id: ID,
      amount: 5n,
      state: "asked",
      operator: "somebody",
      reason: "-",
    });
    await database.db.updateTable("moves").set({ state: "planned" }).execute();
    await database.db
      .insertInto("transactions")
      .values({
        id: ID,
        chain_id: 2,
        lane: LANE,
        intent: `move:${ID}:1`,
        settlement_id: null,
        to_address: DELIVERY,
        data: "0x",
        value: "0",
        gas: 1n,
        state: "queued",
      })
      .execute();
    await end({ state: "final", succeeded: true });
    await followMoves(deps);
    expect(await states()).toEqual(["moved"]);
  });

  test("that is asked for is planned by the settler, once", async () => {
    const { deps } = open();
    const row = { ...LOCAL, id: ID, amount: 9n, operator: "somebody", reason: "a large payout" };
    await insertMove(database.db, { ...row, state: "asked" });
    await followMoves(deps);
    const asked = await listOpen(database.db);
    await planAsked(deps, asked);
    await planAsked(deps, asked);
    expect(await states()).toEqual(["planned"]);
    expect(await readIntents()).toHaveLength(1);
    expect(await cancelMove(database.db, { id: ID, operator: "somebody", nowMs: 1 })).toBe(false);
  });

  test("that is asked for in a direction which is gone waits and says so, and stops no other", async () => {
    const { deps } = open();
    const row = { ...LOCAL, id: ID, amount: 9n, operator: "somebody", reason: "-" };
    await insertMove(database.db, { ...row, to: LANE, state: "asked" });
    await insertMove(database.db, { ...row, id: ID.replace("a", "b"), state: "asked" });
    await planAsked(deps, await listOpen(database.db));
    const found = (await listNewest(database.db, 9)).map(({ state, error }) => [state, error]);
    expect(found.toSorted()).toEqual([
      ["asked", "The configuration no longer has its direction."],
      ["planned", null],
    ]);
  });

  test("that is asked for says why it waits, and can be cancelled", async () => {
    const { deps } = open({ ok: false, reason: "IsPaused" });
    const row = { ...LOCAL, id: ID, amount: 9n, operator: "somebody", reason: "a large payout" };
    await insertMove(database.db, { ...row, state: "asked" });
    await planAsked(deps, await listOpen(database.db));
    expect(await listOpen(database.db)).toMatchObject([
      { state: "asked", error: expect.stringContaining("IsPaused") },
    ]);
    expect(await cancelMove(database.db, { id: ID, operator: "somebody", nowMs: 1 })).toBe(true);
    await planAsked(deps, await listOpen(database.db));
    expect(await states()).toEqual(["cancelled"]);
    const logged = await database.db
      .selectFrom("operator_log")
      .select("action")
      .orderBy("seq")
      .execute();
    expect(logged.map(({ action }) => action).slice(-2)).toEqual(["move", "cancel move"]);
  });
});
