/** Claims on a lane with other work, and the hints that the signer of a batch gets. */
import { sql } from "kysely";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { createTestDatabase, type TestDatabase } from "../../test/support/database.ts";
import { createStrictChain, LANE } from "../../test/support/doubles.ts";
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

describe("a batch of claims", () => {
  const insertBreach = () =>
    database.pool.query(
      `insert into breaches (chain_id, invariant, subject, details, verdict)
         values (2, 'V4', 'x', '{}', 'sweep_unknown')`,
    );
  const pollBatch = async () => {
    const lane = openLaneOn(database.db);
    lane.node.combineFrom(2);
    for (const n of [1, 2]) await lane.submit(`claim:${n}:1`);
    return lane;
  };

  test("is sent while the chain has an open breach, as one claim is [T268]", async () => {
    const { node, poll, clock } = await pollBatch();
    // The market is above the cap, so that the batch has a nonce and no attempt when the breach opens.
    await poll({ limits: { ...DEFAULT_LANE_LIMITS, gasPriceMax: 50n } });
    expect(node.pool.size).toBe(0);
    await insertBreach();
    clock.advance(10_000);
    await poll();
    expect([...node.pool.values()].map(({ nonce }) => nonce)).toEqual([0]);
  });

  test("gets its nonce while the chain has an open breach [T268]", async () => {
    const { node, poll, clock } = await pollBatch();
    await poll({ limits: { ...DEFAULT_LANE_LIMITS, gasPriceMax: 50n } });
    await database.pool.query(
      "update transactions set state = 'queued', nonce = null where state = 'assigned'",
    );
    await database.pool.query("update lanes set next_nonce = 0");
    await insertBreach();
    clock.advance(10_000);
    await poll();
    expect(node.pool.size).toBe(1);
  });

  test("offers the mean of the caps of its claims, by gas [T172]", async () => {
    const { node, poll } = await pollBatch();
    const capped = { ...DEFAULT_LANE_LIMITS, gasPriceMax: 50n };
    const readClaimCap = (highest: bigint) => async (claim: { readonly intent: string }) =>
      claim.intent === "claim:1:1" ? highest : 50n;
    await poll({ limits: capped, readClaimCap: readClaimCap(149n) });
    expect(node.pool.size).toBe(0);
    await poll({ limits: capped, readClaimCap: readClaimCap(150n) });
    expect(node.pool.size).toBe(1);
  });
});

describe("a signed call in front of a claim", () => {
  const limits = { ...DEFAULT_LANE_LIMITS, gasPriceMax: 100n };
  /** Signs and sends a sweep at the market's price, submits a claim, and lets the price rise. */
  async function block(price: bigint, { cap = 1_000n }: { readonly cap?: bigint } = {}) {
    const lane = openLaneOn(database.db);
    const { node, clock, submit, poll } = lane;
    await submit("sweep:1:1");
    await poll({ limits });
    await submit("claim:2:1");
    node.forgetPool();
    const chain = createStrictChain({
      ...node.members,
      suggestFees: async () => ({ gasPriceMax: price, tipMax: 10n }),
    });
    const changed = { limits, chain, readClaimCap: async () => cap };
    for (let polls = 0; polls < 4; polls += 1) {
      await poll(changed);
      clock.advance(limits.resendAfterMs + 1);
      node.passBlock();
    }
    const { rows } = await database.pool.query(
      "select intent, cancelled from transactions where nonce = 0",
    );
    return { ...lane, changed, given: rows[0] };
  }

  test("is given up once no block takes it and it cannot be raised [T267]", async () => {
    const { node, poll, given, changed, told } = await block(500n);
    expect(given).toEqual({ intent: "sweep:1:1", cancelled: true });
    // The transfer of nothing pays the market's price, as the claim behind it does.
    expect([...node.pool.values()].map(({ nonce }) => nonce).toSorted()).toContain(1);
    node.mine();
    await poll(changed);
    expect(told.map(({ intent, mined }) => [intent, mined?.succeeded])).toEqual([
      ["sweep:1:1", false],
      ["claim:2:1", true],
    ]);
  });

  test.each([
    ["a block can still take it", 190n, 1_000n],
    ["the claim may not pay the price either", 500n, 499n],
  ])("stays while %s", async (_, price, cap) => {
    expect((await block(price, { cap })).given).toEqual({ intent: "sweep:1:1", cancelled: false });
  });
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
