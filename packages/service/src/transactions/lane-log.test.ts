/** The log lines of a lane and their levels: routine, warning, error, fatal. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { createTestDatabase, type TestDatabase } from "../../test/support/database.ts";
import { createStrictChain, LANE, type LogLine } from "../../test/support/doubles.ts";
import { openLaneOn } from "../../test/support/lane.ts";
import type { SendOutcome } from "../chains/port/index.ts";
import { OperatingError } from "../core/errors.ts";
import { DEFAULT_LANE_LIMITS } from "./lane-deps.ts";
import { getByIntent } from "./store.ts";

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());
beforeEach(async () => {
  await database.pool.query("truncate lanes, transactions, attempts, breaches cascade");
});

const openLane = () => openLaneOn(database.db);
const INFO = 30;
const WARN = 40;
const ERROR = 50;
const FATAL = 60;

const CONTEXT = new Set(["time", "pid", "hostname", "role"]);
/** Returns log lines without the process context. */
const withoutContext = (lines: readonly LogLine[]) =>
  lines.map((line) =>
    Object.fromEntries(Object.entries(line).filter(([name]) => !CONTEXT.has(name))),
  );

/** Opens a lane that combines two calls, with two queued sweeps. */
async function openBatchingLane() {
  const lane = openLane();
  lane.node.combineFrom(2);
  await lane.submit("sweep:1:1", "0x01");
  await lane.submit("sweep:2:1", "0x02");
  return lane;
}

describe("lane log", () => {
  test("names the intent and the transaction hash from send to receipt", async () => {
    const { node, lines, submit, poll } = openLane();
    await submit("sweep:1:1");
    await poll();
    const [txHash] = node.pool.keys();
    node.mine();
    await poll();
    expect(withoutContext(lines)).toEqual([
      { level: INFO, msg: "sent", intent: "sweep:1:1", txHash, outcome: "accepted" },
      { level: INFO, msg: "mined", intent: "sweep:1:1", txHash, succeeded: true },
    ]);
  });

  test.each<[SendOutcome, number, string]>([
    ["known", INFO, "sent"],
    ["insufficient_funds", ERROR, "lane out of gas"],
    ["underpriced", WARN, "send failed, retrying with the same bytes"],
    ["unknown", WARN, "send failed, retrying with the same bytes"],
  ])("logs the send outcome %s", async (outcome, level, msg) => {
    const { node, lines, submit, poll } = openLane();
    await submit("sweep:1:1");
    node.refuseNext(outcome);
    await poll();
    expect(withoutContext(lines)).toMatchObject([{ level, msg, intent: "sweep:1:1", outcome }]);
  });

  test("logs a gas price above the cap [T66]", async () => {
    const { lines, submit, poll } = openLane();
    await submit("sweep:1:1");
    await poll({ limits: { ...DEFAULT_LANE_LIMITS, gasPriceMax: 99n } });
    expect(withoutContext(lines)).toEqual([
      {
        level: ERROR,
        msg: "gas price above cap, waiting",
        intent: "sweep:1:1",
        gasPriceMax: "100",
      },
    ]);
  });

  test("logs an error when a nonce is used on chain and no attempt has a receipt [T117]", async () => {
    const { node, lines, submit, poll } = openLane();
    await submit("sweep:1:1");
    await poll();
    node.forgetPool();
    node.pool.set(`0x${"99".repeat(32)}` as never, { nonce: 0, raw: "" });
    node.mine();
    // No progress, so the next poll waits for its interval.
    expect(await poll()).toBe(false);
    expect(withoutContext(lines.slice(1))).toEqual([
      {
        level: ERROR,
        msg: "nonce used on chain, but no attempt has a receipt",
        intent: "sweep:1:1",
        nonce: 0,
        lane: LANE,
      },
    ]);
  });

  test("says that a nonce was used elsewhere only when a final block shows it, every ten seconds [T117]", async () => {
    const { node, clock, lines, submit, poll } = openLane();
    await submit("sweep:1:1");
    await poll();
    let finalCount = 0;
    // A node that counts the nonce as used, while others have not mined it.
    const chain = createStrictChain({
      ...node.members,
      getTransactionCount: async (_, at) => (at === "final" ? finalCount : 1),
    });
    const errors = () => lines.filter(({ level }) => level === ERROR).length;
    for (let i = 0; i < 40; i++) {
      await poll({ chain });
      clock.advance(1_000);
    }
    expect(errors()).toBe(0);
    finalCount = 1;
    for (let i = 0; i < 20; i++) {
      await poll({ chain });
      clock.advance(1_000);
    }
    expect(errors()).toBe(2);
  });

  test("waits for a final block before it takes a nonce ahead of the database for a breach [T116]", async () => {
    const { node, deps, signer, lines, submit, poll } = openLane();
    await poll();
    await submit("sweep:1:1");
    const getTransactionCount = async (_: unknown, at?: unknown) => (at === "final" ? 0 : 3);
    await poll({ chain: createStrictChain({ ...node.members, getTransactionCount }) });
    expect(signer.signed).toEqual([]);
    expect(lines.filter(({ level }) => level === FATAL)).toEqual([]);
    expect(await deps.db.selectFrom("breaches").select("id").execute()).toEqual([]);
    await poll();
    expect(signer.signed).toHaveLength(1);
  });

  test("logs a fatal error when the on-chain nonce is ahead of the database [T116]", async () => {
    const { node, deps, lines, submit, poll } = openLane();
    await poll();
    await submit("sweep:1:1");
    await poll({
      chain: createStrictChain({ ...node.members, getTransactionCount: async () => 3 }),
    });
    expect(withoutContext(lines)).toEqual([
      {
        level: FATAL,
        msg: "on-chain nonce is ahead of the database",
        lane: LANE,
        nextNonce: 0,
        count: 3,
      },
    ]);
    // A count equal to the next nonce logs nothing.
    await deps.db.updateTable("lanes").set({ next_nonce: 3 }).execute();
    await poll({
      chain: createStrictChain({ ...node.members, getTransactionCount: async () => 3 }),
    });
    expect(lines.filter(({ level }) => level === FATAL)).toHaveLength(1);
  });

  test("logs the error of a failed replacement", async () => {
    const { signer, stick, lines, submit, poll } = openLane();
    await submit("sweep:1:1");
    await poll();
    await stick();
    const sign = () => Promise.reject(new OperatingError("INTERNAL", "beyond the budget"));
    await poll({ signer: { ...signer, sign } });
    expect(withoutContext(lines)).toMatchObject([
      { msg: "sent" },
      { msg: "sent", outcome: "known" },
      {
        level: ERROR,
        msg: "replacement failed, keeping the attempt",
        intent: "sweep:1:1",
        err: { message: "beyond the budget" },
      },
      { msg: "sent", outcome: "known" },
    ]);
  });

  test("logs an orphaned transaction", async () => {
    const { node, lines, submit, poll } = openLane();
    await submit("sweep:1:1");
    await poll();
    node.mine();
    await poll();
    node.takeBack();
    node.mine();
    await poll();
    expect(withoutContext(lines.slice(2))).toEqual([
      { level: WARN, msg: "reorg: transaction orphaned", intent: "sweep:1:1" },
    ]);
  });

  test("logs the size of a batch", async () => {
    const { lines, poll } = await openBatchingLane();
    await poll();
    const { id } = await database.db
      .selectFrom("transactions")
      .select("id")
      .where("nonce", "=", 0)
      .executeTakeFirstOrThrow();
    expect(withoutContext(lines)).toMatchObject([
      { level: INFO, msg: "intents combined into a batch", batch: id, size: 2 },
      { level: INFO, msg: "sent", intent: `batch:${id}:1` },
    ]);
  });

  test("logs why intents are sent one by one: a revert, the budget, or an error", async () => {
    const reverts = await openBatchingLane();
    const simulate = async () => ({ ok: false, reason: "EnforcedPause" }) as const;
    await reverts.poll({ chain: createStrictChain({ ...reverts.node.members, simulate }) });
    expect(withoutContext(reverts.lines.slice(0, 1))).toEqual([
      {
        level: WARN,
        msg: "batch would revert, sending one by one",
        reason: "EnforcedPause",
        size: 2,
      },
    ]);

    await database.pool.query("truncate lanes, transactions, attempts cascade");
    const expensive = await openBatchingLane();
    await expensive.poll({ limits: { ...DEFAULT_LANE_LIMITS, batchCostMax: 99n } });
    expect(withoutContext(expensive.lines.slice(0, 1))).toEqual([
      { level: WARN, msg: "batch cost above its budget, sending one by one", size: 2 },
    ]);

    await database.pool.query("truncate lanes, transactions, attempts cascade");
    const poor = await openBatchingLane();
    const refuse = () => Promise.reject(new OperatingError("INSUFFICIENT_BALANCE", "no gas"));
    await poor.poll({ chain: createStrictChain({ ...poor.node.members, simulate: refuse }) });
    expect(withoutContext(poor.lines.slice(0, 1))).toMatchObject([
      {
        level: WARN,
        msg: "batch simulation failed, sending one by one",
        size: 2,
        err: { message: "no gas" },
      },
    ]);
  });
});

describe("a block that the node does not return", () => {
  /** Opens a lane with a sweep mined in block 1, below a head at block 2. */
  async function openMined() {
    const lane = openLane();
    await lane.submit("sweep:1:1");
    await lane.poll();
    lane.node.mine();
    await lane.poll();
    lane.node.mine();
    return lane;
  }
  const stateOf = async () => (await getByIntent(database.db, "sweep:1:1"))?.state;

  test("is orphaned if the node's head is past it, and undecided if the node is behind", async () => {
    const { node, poll } = await openMined();
    const upTo = (head: bigint) => ({
      chain: createStrictChain({
        ...node.members,
        getBlock: async () => null,
        getHead: async () => ({ ...(await node.members.getHead()), number: head }),
      }),
    });
    await poll(upTo(0n));
    expect(await stateOf()).toBe("mined");
    await poll(upTo(1n));
    expect(await stateOf()).toBe("assigned");
  });

  test("is the only reason to read the node's head", async () => {
    const { node, poll } = await openMined();
    node.setFinal(2n);
    const { getHead: _, ...members } = node.members;
    await poll({ chain: createStrictChain(members) });
    expect(await stateOf()).toBe("final");
  });
});

describe("replacements", () => {
  test("are sent without rebroadcasting the bytes that they replace", async () => {
    const { node, stick, submit, poll } = openLane();
    await submit("sweep:1:1");
    await poll();
    await stick();
    node.sent.length = 1;
    await poll();
    expect(node.sent).toHaveLength(2);
    expect(new Set(node.sent).size).toBe(2);
  });
});
