/** What whoever watches a lane reads of it: what is routine, what may need somebody, and what does. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { createTestDatabase, type TestDatabase } from "../../test/support/database.ts";
import { createStrictChain, LANE, type LogLine } from "../../test/support/doubles.ts";
import { openLaneOn } from "../../test/support/lane.ts";
import type { SendOutcome } from "../chains/port/index.ts";
import { OperatingError } from "../core/errors.ts";
import { DEFAULT_LANE_LIMITS } from "./lane.ts";
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

const WRITTEN_BY = new Set(["time", "pid", "hostname", "role"]);
/** The lines but for who wrote them when. */
const tell = (lines: readonly LogLine[]) =>
  lines.map((line) =>
    Object.fromEntries(Object.entries(line).filter(([name]) => !WRITTEN_BY.has(name))),
  );

/** Two sweeps in the queue of a lane that puts two together. */
async function openBatchingLane() {
  const lane = openLane();
  lane.node.combineFrom(2);
  await lane.submit("sweep:1:1", "0x01");
  await lane.submit("sweep:2:1", "0x02");
  return lane;
}

describe("the log of a lane", () => {
  test("names the intent and the transaction from sending to mining", async () => {
    const { node, lines, submit, look } = openLane();
    await submit("sweep:1:1");
    await look();
    const [txHash] = node.pool.keys();
    node.mine();
    await look();
    expect(tell(lines)).toEqual([
      { level: INFO, msg: "sent", intent: "sweep:1:1", txHash, outcome: "accepted" },
      { level: INFO, msg: "mined", intent: "sweep:1:1", txHash, succeeded: true },
    ]);
  });

  test.each<[SendOutcome, number, string]>([
    ["known", INFO, "sent"],
    ["insufficient_funds", ERROR, "the lane has no money for gas"],
    ["underpriced", WARN, "not accepted, will look and send the same bytes again"],
    ["unknown", WARN, "not accepted, will look and send the same bytes again"],
  ])("says what comes of %s", async (outcome, level, msg) => {
    const { node, lines, submit, look } = openLane();
    await submit("sweep:1:1");
    node.refuseNext(outcome);
    await look();
    expect(tell(lines)).toMatchObject([{ level, msg, intent: "sweep:1:1", outcome }]);
  });

  test("T66 names the price that is beyond the cap", async () => {
    const { lines, submit, look } = openLane();
    await submit("sweep:1:1");
    await look({ limits: { ...DEFAULT_LANE_LIMITS, maxFeePerGas: 99n } });
    expect(tell(lines)).toEqual([
      {
        level: ERROR,
        msg: "gas is dearer than the cap, waiting",
        intent: "sweep:1:1",
        maxFeePerGas: "100",
      },
    ]);
  });

  test("T117 calls a person where the chain used a nonce and none of our attempts was mined", async () => {
    const { node, lines, submit, look } = openLane();
    await submit("sweep:1:1");
    await look();
    node.forgetPool();
    node.pool.set(`0x${"99".repeat(32)}` as never, { nonce: 0, raw: "" });
    node.mine();
    // There is nothing more to do at once: the next look comes in its time.
    expect(await look()).toBe(false);
    expect(tell(lines.slice(1))).toEqual([
      {
        level: ERROR,
        msg: "the chain used a nonce of ours and no attempt of ours has a receipt",
        intent: "sweep:1:1",
        nonce: 0,
        lane: LANE,
      },
    ]);
  });

  test("T116 calls a person at once where the chain used nonces that were never given out", async () => {
    const { node, deps, lines, submit, look } = openLane();
    await look();
    await submit("sweep:1:1");
    await look({
      chain: createStrictChain({ ...node.members, getTransactionCount: async () => 3 }),
    });
    expect(tell(lines)).toEqual([
      {
        level: FATAL,
        msg: "the chain used nonces that are not ours",
        lane: LANE,
        nextNonce: 0,
        count: 3,
      },
    ]);
    // A count that is no more than was given out says nothing.
    await deps.db.updateTable("lanes").set({ next_nonce: 3 }).execute();
    await look({
      chain: createStrictChain({ ...node.members, getTransactionCount: async () => 3 }),
    });
    expect(lines.filter(({ level }) => level === FATAL)).toHaveLength(1);
  });

  test("says why what is stuck was not replaced", async () => {
    const { signer, clock, lines, submit, look } = openLane();
    await submit("sweep:1:1");
    await look();
    clock.advance(DEFAULT_LANE_LIMITS.replaceAfterMs);
    const sign = () => Promise.reject(new OperatingError("INTERNAL", "beyond the budget"));
    await look({ signer: { ...signer, sign } });
    expect(tell(lines)).toMatchObject([
      { msg: "sent" },
      {
        level: ERROR,
        msg: "could not be replaced",
        intent: "sweep:1:1",
        err: { message: "beyond the budget" },
      },
      { msg: "sent", outcome: "known" },
    ]);
  });

  test("says that a block left the chain", async () => {
    const { node, lines, submit, look } = openLane();
    await submit("sweep:1:1");
    await look();
    node.mine();
    await look();
    node.takeBack();
    node.mine();
    await look();
    expect(tell(lines.slice(2))).toEqual([
      { level: WARN, msg: "its block left the chain, open again", intent: "sweep:1:1" },
    ]);
  });

  test("says how many go together", async () => {
    const { lines, look } = await openBatchingLane();
    await look();
    const { id } = await database.db
      .selectFrom("transactions")
      .select("id")
      .where("nonce", "=", 0)
      .executeTakeFirstOrThrow();
    expect(tell(lines)).toMatchObject([
      { level: INFO, msg: "combined", batch: id, size: 2 },
      { level: INFO, msg: "sent", intent: `batch:${id}:1` },
    ]);
  });

  test("says why they go one by one: a revert, the budget, or no answer", async () => {
    const reverts = await openBatchingLane();
    const simulate = async () => ({ ok: false, reason: "EnforcedPause" }) as const;
    await reverts.look({ chain: createStrictChain({ ...reverts.node.members, simulate }) });
    expect(tell(reverts.lines.slice(0, 1))).toEqual([
      { level: WARN, msg: "a batch would revert", reason: "EnforcedPause", size: 2 },
    ]);

    await database.pool.query("truncate lanes, transactions, attempts cascade");
    const dear = await openBatchingLane();
    await dear.look({ limits: { ...DEFAULT_LANE_LIMITS, batchCostMax: 99n } });
    expect(tell(dear.lines.slice(0, 1))).toEqual([
      { level: WARN, msg: "a batch would cost too much of the daily budget", size: 2 },
    ]);

    await database.pool.query("truncate lanes, transactions, attempts cascade");
    const poor = await openBatchingLane();
    const refuse = () => Promise.reject(new OperatingError("INSUFFICIENT_BALANCE", "no gas"));
    await poor.look({ chain: createStrictChain({ ...poor.node.members, simulate: refuse }) });
    expect(tell(poor.lines.slice(0, 1))).toMatchObject([
      { level: WARN, msg: "a batch could not be tried", size: 2, err: { message: "no gas" } },
    ]);
  });
});

describe("a block that the node does not have", () => {
  /** A sweep in block 1 of a chain that has come to block 2. */
  async function openMined() {
    const lane = openLane();
    await lane.submit("sweep:1:1");
    await lane.look();
    lane.node.mine();
    await lane.look();
    lane.node.mine();
    return lane;
  }
  const stateOf = async () => (await getByIntent(database.db, "sweep:1:1"))?.state;

  test("left the chain where the node has come as far, and says nothing where it has not", async () => {
    const { node, look } = await openMined();
    const upTo = (head: bigint) => ({
      chain: createStrictChain({
        ...node.members,
        getBlock: async () => null,
        getHead: async () => ({ ...(await node.members.getHead()), number: head }),
      }),
    });
    await look(upTo(0n));
    expect(await stateOf()).toBe("mined");
    await look(upTo(1n));
    expect(await stateOf()).toBe("assigned");
  });

  test("is the only one about which is asked how far the node has come", async () => {
    const { node, look } = await openMined();
    node.setFinal(2n);
    const { getHead: _, ...members } = node.members;
    await look({ chain: createStrictChain(members) });
    expect(await stateOf()).toBe("final");
  });
});

describe("a replacement that was sent", () => {
  test("is not followed by the bytes that it replaces", async () => {
    const { node, clock, submit, look } = openLane();
    await submit("sweep:1:1");
    await look();
    clock.advance(DEFAULT_LANE_LIMITS.replaceAfterMs);
    await look();
    expect(node.sent).toHaveLength(2);
    expect(new Set(node.sent).size).toBe(2);
  });
});
