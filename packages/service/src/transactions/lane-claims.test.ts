/** Claims on a lane with other work, and the hints that the signer of a batch gets. */
import { sql } from "kysely";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { createTestDatabase, type TestDatabase } from "../../test/support/database.ts";
import { LANE } from "../../test/support/doubles.ts";
import { openLaneOn } from "../../test/support/lane.ts";
import { openDesk } from "../../test/support/settlement-desk.ts";
import { toEvmAddress } from "../core/hex.ts";
import { DEFAULT_LANE_LIMITS } from "./lane-deps.ts";
import { submitIntent } from "./lane.ts";

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());
beforeEach(async () => {
  await database.pool.query("truncate lanes, transactions, attempts, breaches cascade");
});

const limits = { ...DEFAULT_LANE_LIMITS, openMax: 2 };

test("a claim does not wait behind other work at its limit of nonces [T149]", async () => {
  const { node, submit, poll } = openLaneOn(database.db);
  for (let n = 1; n <= 5; n++) await submit(`sweep:${n}:1`);
  await submit("claim:6:1");
  await poll({ limits });
  await poll({ limits });
  expect(node.pool.size).toBe(3);
  const open = await database.pool.query(
    "select intent from transactions where state = 'assigned' order by nonce",
  );
  expect(open.rows).toEqual([
    { intent: "sweep:1:1" },
    { intent: "sweep:2:1" },
    { intent: "claim:6:1" },
  ]);
});

test("claims have a limit of their own", async () => {
  const { node, submit, poll } = openLaneOn(database.db);
  for (let n = 1; n <= 20; n++) await submit(`claim:${n}:1`);
  await poll({ limits });
  await poll({ limits });
  expect(node.pool.size).toBe(6);
});

test("the signer of a batch of payouts gets the transactions of each settlement", async () => {
  const desk = await openDesk();
  const { db } = desk;
  const lane = openLaneOn(db);
  const hints: (readonly string[])[] = [];
  const signer = {
    ...lane.signer,
    sign: async (request: Parameters<typeof lane.signer.sign>[0]) => {
      hints.push(request.hints ?? []);
      return lane.signer.sign(request);
    },
  };
  const locks: string[] = [];
  for (const user of ["0x01", "0x02"]) {
    desk.state.balance = 1_000n;
    await desk.arrive(await desk.issue(user), { amount: 1_000n, block: 90n });
  }
  await desk.poll();
  const to = toEvmAddress(`0x${"2b".repeat(20)}`);
  for (const { id } of await desk.swaps()) {
    await desk.mine(`sweep:${id}:1`);
    const row = await db
      .selectFrom("transactions")
      .select("mined_hash")
      .where("intent", "=", `sweep:${id}:1`)
      .executeTakeFirstOrThrow();
    locks.push(row.mined_hash ?? "");
    await db.transaction().execute((tx) =>
      submitIntent(tx, desk.deps.random, {
        chainId: 2,
        lane: LANE,
        intent: `deliver:${id}:1`,
        settlementId: id,
        call: { to, data: "0xde", value: 0n },
        gas: 1n,
      }),
    );
  }
  // The lane under test begins at nonce 0.
  await sql`update transactions set nonce = nonce + 1000 where state = 'final'`.execute(db);
  lane.node.combineFrom(2);
  await lane.poll({ signer, limits: DEFAULT_LANE_LIMITS });
  expect(hints).toHaveLength(1);
  expect(hints[0]?.toSorted()).toEqual(locks.toSorted());
});

describe("while the gas price is above the cap", () => {
  const capped = { ...DEFAULT_LANE_LIMITS, gasPriceMax: 50n };
  const listOpen = async () =>
    (
      await database.pool.query(
        "select intent, nonce, state from transactions order by nonce nulls last, intent",
      )
    ).rows;

  test("a claim whose cap is higher goes first, and the others follow once the price has fallen [T172]", async () => {
    const { node, clock, submit, poll } = openLaneOn(database.db);
    const asked: string[] = [];
    const readClaimCap = async ({ intent }: { readonly intent: string }, cap: bigint) => {
      asked.push(intent);
      return 2n * cap;
    };
    await submit("sweep:1:1");
    await poll({ limits: capped, readClaimCap });
    expect(node.pool.size).toBe(0);
    await submit("claim:2:1");
    for (let polls = 0; polls < 3; polls += 1) await poll({ limits: capped, readClaimCap });
    expect(await listOpen()).toMatchObject([
      { intent: "claim:2:1", nonce: 0, state: "assigned" },
      { intent: "sweep:1:1", nonce: null, state: "queued" },
    ]);
    expect([...node.pool.values()].map(({ nonce }) => nonce)).toEqual([0]);
    expect(new Set(asked)).toEqual(new Set(["claim:2:1"]));
    node.mine();
    clock.advance(10_000);
    for (let polls = 0; polls < 3; polls += 1) await poll();
    expect(await listOpen()).toMatchObject([
      { intent: "claim:2:1", state: "mined" },
      { intent: "sweep:1:1", nonce: 1, state: "assigned" },
    ]);
    expect(node.pool.size).toBe(1);
  });

  test.each([
    ["its own cap is not higher", 50n],
    ["the price is above its own cap too", 99n],
  ])("a claim waits with the others while %s", async (_, own) => {
    const { node, submit, poll } = openLaneOn(database.db);
    await submit("sweep:1:1");
    await submit("claim:2:1");
    for (let polls = 0; polls < 3; polls += 1) {
      await poll({ limits: capped, readClaimCap: async () => own });
    }
    expect(node.pool.size).toBe(0);
    expect(await listOpen()).toMatchObject([
      { intent: "sweep:1:1", nonce: 0 },
      { intent: "claim:2:1", nonce: 1 },
    ]);
  });
});
