/** The bounds of a lane's poll: nonces, milliseconds and wei, and the calls to owners. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { createTestDatabase, type TestDatabase } from "../../test/support/database.ts";
import { type ChainMembers, createStrictChain, LANE } from "../../test/support/doubles.ts";
import { openLaneOn } from "../../test/support/lane.ts";
import type { Chain } from "../chains/port/index.ts";
import { OperatingError } from "../core/errors.ts";
import { toEvmAddress } from "../core/hex.ts";
import { endBreach, listBreaches, recordFindings, toFinding } from "../ledger/index.ts";
import { BATCHING_LANE_LIMITS, DEFAULT_LANE_LIMITS } from "./lane-deps.ts";
import { pollLane } from "./lane.ts";
import { planCall } from "./plan.ts";
import { REPAIRS } from "../roles/repairs.ts";
import { getNextNonce } from "./nonces.ts";
import { getByIntent } from "./store.ts";
import { listAttempts } from "./attempts.ts";
import type { IntentName, LaneTransaction } from "./types.ts";

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());
beforeEach(async () => {
  await database.pool.query("truncate lanes, transactions, attempts, breaches cascade");
});

const openLane = () => openLaneOn(database.db);
const { replaceAfterMs, resendAfterMs, refusedAfterMs } = DEFAULT_LANE_LIMITS;
const limitsWith = (change: Partial<typeof DEFAULT_LANE_LIMITS>) => ({
  limits: { ...DEFAULT_LANE_LIMITS, ...change },
});

async function find(intent: IntentName): Promise<LaneTransaction> {
  const transaction = await getByIntent(database.db, intent);
  if (!transaction) throw new Error(`there is no ${intent}`);
  return transaction;
}

const attemptsOf = async (intent: IntentName) => listAttempts(database.db, (await find(intent)).id);

describe("a poll", () => {
  test("asks for another poll at once only after recording a receipt", async () => {
    const { node, submit, poll } = openLane();
    expect(await poll()).toBe(false);
    await submit("sweep:1:1");
    expect(await poll()).toBe(false);
    await submit("sweep:2:1", "0x02");
    await poll();
    node.mine();
    expect(await poll()).toBe(true);
    expect(await poll()).toBe(false);
    node.setFinal(5n);
    expect(await poll()).toBe(false);
  });

  test("reports progress when only the first of several transactions was mined", async () => {
    const { node, submit, poll } = openLane();
    await submit("sweep:1:1");
    await submit("sweep:2:1", "0x02");
    await poll();
    const [first] = node.pool.keys();
    const pool = [...node.pool];
    for (const [hash] of pool) if (hash !== first) node.pool.delete(hash);
    node.mine();
    expect(await poll()).toBe(true);
    expect((await find("sweep:2:1")).state).toBe("assigned");
  });

  test("reads no node when a registered lane has no work", async () => {
    const { poll } = openLane();
    await poll();
    expect(await poll({ chain: createStrictChain({ combine: () => null }) })).toBe(false);
  });

  test("reads the final height only when a transaction is mined", async () => {
    const { node, deps, submit, poll } = openLane();
    await submit("sweep:1:1");
    const { getFinalNumber: _, ...members } = node.members;
    expect(await poll({ chain: createStrictChain(members) })).toBe(false);
    expect(await poll({ ...deps })).toBe(false);
  });

  test("registers a used account with the chain's transaction count", async () => {
    const { node, deps, signer, submit, poll } = openLane();
    await submit("sweep:1:1");
    const members: ChainMembers = { ...node.members, getTransactionCount: async () => 7 };
    await poll({ ...deps, chain: createStrictChain(members) });
    expect(signer.signed).toEqual(["7|0x01|100"]);
    expect(await getNextNonce(database.db, { chainId: 2, address: LANE })).toBe(8);
    const row = await database.db.selectFrom("lanes").selectAll().executeTakeFirstOrThrow();
    expect(row).toMatchObject({ chain_id: 2, address: LANE, purpose: "settle" });
  });

  test("passes every crash point in order", async () => {
    const { node, crashPoints, submit, poll } = openLane();
    await submit("deliver:1:1");
    await poll();
    expect(crashPoints).toEqual(["deliver.assigned", "deliver.signed", "deliver.sent"]);
    node.mine();
    await poll();
    expect(crashPoints.slice(3)).toEqual(["deliver.mined", "deliver.recorded"]);
  });
});

describe("owners", () => {
  test("are woken after each committed change, and only then", async () => {
    const { node, wakes, told, submit, poll } = openLane();
    await submit("sweep:1:1");
    await poll();
    expect(wakes).toEqual([]);
    node.mine();
    await poll();
    await poll();
    node.takeBack();
    node.mine();
    await poll();
    await poll();
    node.mine();
    await poll();
    node.setFinal(2n);
    await poll();
    await poll();
    expect(told.map(({ state }) => state)).toEqual(["mined", "assigned", "mined", "final"]);
    expect(wakes).toEqual([1, 2, 3, 4]);
    expect(told[0]?.mined).toMatchObject({ blockNumber: 1n, succeeded: true });
    expect(told[1]?.mined).toBe(null);
  });

  test("receive the outcome of their own call in a batch", async () => {
    const { node, told, submit, poll } = openLane();
    node.combineFrom(2, (data) => data !== "0x02");
    await submit("sweep:1:1", "0x01");
    await submit("sweep:2:1", "0x02");
    await poll();
    node.mine();
    await poll();
    const outcomes = () => told.map(({ state, mined }) => `${state} ${mined?.succeeded}`);
    expect(outcomes()).toEqual(["mined true", "mined true", "mined false"]);
    node.setFinal(1n);
    await poll();
    expect(told.slice(3).map(({ state }) => state)).toEqual(["final", "final", "final"]);
    expect((await find("sweep:2:1")).state).toBe("final");
  });

  test("are told when their batch is orphaned", async () => {
    const { node, told, submit, poll } = openLane();
    node.combineFrom(2);
    await submit("sweep:1:1", "0x01");
    await submit("sweep:2:1", "0x02");
    await poll();
    node.mine();
    await poll();
    node.takeBack();
    node.mine();
    await poll();
    const left = told.slice(3).map(({ state, mined }) => ({ state, mined }));
    expect(left).toEqual([
      { state: "assigned", mined: null },
      { state: "carried", mined: null },
      { state: "carried", mined: null },
    ]);
    expect((await find("sweep:1:1")).mined).toBe(null);
  });

  test("are told of each change once under concurrent polls", async () => {
    const { node, changes, submit, poll } = openLane();
    node.combineFrom(2);
    await submit("sweep:1:1", "0x01");
    await submit("sweep:2:1", "0x02");
    await poll();
    node.mine();
    await Promise.all([poll(), poll(), poll()]);
    expect(changes).toHaveLength(3);
    node.setFinal(1n);
    await Promise.all([poll(), poll(), poll()]);
    expect(changes).toHaveLength(6);
  });
});

describe("a mined transaction", () => {
  test("is final with its block, not one block earlier", async () => {
    const { node, submit, poll } = openLane();
    node.mine();
    await submit("sweep:1:1");
    await poll();
    node.mine();
    await poll();
    node.setFinal(1n);
    await poll();
    expect((await find("sweep:1:1")).state).toBe("mined");
    node.setFinal(2n);
    await poll();
    expect((await find("sweep:1:1")).state).toBe("final");
  });

  test("counts as a revert of its lane if it reverted", async () => {
    const { node, deps, metrics, submit, poll } = openLane();
    await submit("sweep:1:1");
    await poll();
    node.mine();
    const { getReceipt } = node.members;
    const reverting: ChainMembers = {
      ...node.members,
      getReceipt: async (txHash) => {
        const receipt = await getReceipt(txHash);
        return receipt && { ...receipt, succeeded: false };
      },
    };
    await poll({ ...deps, chain: createStrictChain(reverting) });
    expect((await find("sweep:1:1")).mined?.succeeded).toBe(false);
    expect((await metrics.laneReverts.get()).values).toEqual([
      { value: 1, labels: { chain: "ethereum", purpose: "settle", account: LANE } },
    ]);
  });

  test("does not count as a revert if it succeeded", async () => {
    const { node, metrics, submit, poll } = openLane();
    await submit("sweep:1:1");
    await poll();
    node.mine();
    await poll();
    expect((await metrics.laneReverts.get()).values).toEqual([]);
  });

  test("may be an older attempt", async () => {
    const { node, stick, submit, poll } = openLane();
    await submit("sweep:1:1");
    await poll();
    await stick();
    await poll();
    const [newest, oldest] = await attemptsOf("sweep:1:1");
    if (newest) node.pool.delete(newest.hash);
    node.mine();
    await poll();
    expect((await find("sweep:1:1")).mined?.txHash).toBe(oldest?.hash);
  });
});

describe("rebroadcasts", () => {
  test("wait for the resend interval after a node accepted the attempt", async () => {
    const { node, clock, submit, poll } = openLane();
    await submit("sweep:1:1");
    await poll();
    clock.advance(resendAfterMs - 1);
    await poll();
    expect(node.sent).toHaveLength(1);
    clock.advance(1);
    await poll();
    expect(node.sent).toHaveLength(2);
    // The rebroadcast starts the resend interval again.
    await poll();
    expect(node.sent).toHaveLength(2);
  });

  test("repeat ever more slowly until a node accepts or knows the attempt", async () => {
    const { node, clock, submit, poll } = openLane();
    await submit("sweep:1:1");
    node.refuseNext("insufficient_funds");
    await poll();
    clock.advance(refusedAfterMs);
    node.refuseNext("unknown");
    await poll();
    expect(node.sent).toHaveLength(2);
    expect((await attemptsOf("sweep:1:1"))[0]?.accepted).toBe(false);
    clock.advance(2 * refusedAfterMs - 1);
    await poll();
    expect(node.sent).toHaveLength(2);
    clock.advance(1);
    await poll();
    expect(node.sent).toHaveLength(3);
    expect((await attemptsOf("sweep:1:1"))[0]?.accepted).toBe(true);
    await poll();
    expect(node.sent).toHaveLength(3);
    expect(new Set(node.sent).size).toBe(1);
  });
});

describe("a chain with a breach", () => {
  test("rebroadcasts and replaces nothing until the breach is ended", async () => {
    const { node, deps, signer, clock, submit, poll } = openLane();
    await submit("sweep:1:1");
    node.refuseNext("underpriced");
    await poll();
    await recordFindings(database.db, [
      toFinding("sweep_differs", { chainId: 2, subject: "somebody", details: {} }),
    ]);
    clock.advance(replaceAfterMs);
    await poll();
    expect([signer.signed.length, node.sent.length]).toEqual([1, 1]);
    const [breach] = await listBreaches(database.db);
    await endBreach(
      { ...deps, ...REPAIRS },
      { id: breach?.id ?? "", operator: "ann", reason: "a node lied" },
    );
    await poll();
    expect([signer.signed.length, node.sent.length]).toEqual([1, 2]);
    node.passBlock();
    clock.advance(replaceAfterMs);
    await poll();
    expect([signer.signed.length, node.sent.length]).toEqual([2, 3]);
  });
});

describe("a replacement", () => {
  test("is signed at the replacement interval, not a millisecond earlier", async () => {
    const { signer, clock, deps, metrics, submit, stick } = openLane();
    // Due at every poll, so that the interval of raises alone decides.
    const often = { ...deps, limits: { ...DEFAULT_LANE_LIMITS, resendMaxMs: 0 } };
    const poll = () => pollLane(often);
    await submit("sweep:1:1");
    await poll();
    await stick(replaceAfterMs - 1, often);
    await poll();
    expect(signer.signed).toHaveLength(1);
    expect((await metrics.laneReplacements.get()).values).toEqual([]);
    clock.advance(1);
    await poll();
    expect(signer.signed).toHaveLength(2);
    expect((await metrics.laneReplacements.get()).values).toEqual([
      { value: 1, labels: { chain: "ethereum", purpose: "settle", account: LANE } },
    ]);
  });

  test("raises both fees by an eighth, or to the market if that is higher", async () => {
    const { node, deps, stick, submit, poll } = openLane();
    const market = (gasPriceMax: bigint, tipMax: bigint) => ({
      ...deps,
      chain: createStrictChain({
        ...node.members,
        suggestFees: async () => ({ gasPriceMax, tipMax }),
      }),
    });
    await submit("sweep:1:1");
    await poll(market(1_000n, 80n));
    for (const fees of [market(1_000n, 1n), market(5_000n, 1n), market(5_000n, 900n)]) {
      await stick(4 * replaceAfterMs, fees);
      await poll(fees);
    }
    const offered = (await attemptsOf("sweep:1:1")).map(
      ({ number, gasPriceMax, tipMax }) => `${number}: ${gasPriceMax} ${tipMax}`,
    );
    expect(offered).toEqual(["4: 5626 900", "3: 5000 103", "2: 1126 91", "1: 1000 80"]);
  });

  test("may reach the gas price cap, and not exceed it by a wei [T66]", async () => {
    const { signer, clock, submit, stick, poll } = openLane();
    await submit("sweep:1:1");
    await poll(limitsWith({ gasPriceMax: 100n }));
    expect(signer.signed).toHaveLength(1);
    await stick(replaceAfterMs, limitsWith({ gasPriceMax: 112n }));
    await poll(limitsWith({ gasPriceMax: 112n }));
    expect(signer.signed).toHaveLength(1);
    clock.advance(2 * replaceAfterMs);
    await poll(limitsWith({ gasPriceMax: 113n }));
    expect(signer.signed).toHaveLength(2);
  });

  test("rethrows a bug of the signer", async () => {
    const { signer, stick, submit, poll } = openLane();
    await submit("sweep:1:1");
    await poll();
    await stick();
    const broken = { ...signer, sign: () => Promise.reject(new TypeError("a bug")) };
    await expect(poll({ signer: broken })).rejects.toThrow("a bug");
  });

  test("sends the attempt that another process committed first", async () => {
    const { node, signer, submit, poll } = openLane();
    await submit("sweep:1:1");
    const slow = {
      ...signer,
      sign: async (request: Parameters<typeof signer.sign>[0]) => {
        // Meanwhile the other process signs with another fee, and sends.
        await poll();
        return signer.sign({ ...request, fees: { ...request.fees, gasPriceMax: 999n } });
      },
    };
    await poll({ signer: slow });
    expect(node.sent).toHaveLength(1);
    expect((await attemptsOf("sweep:1:1")).map(({ gasPriceMax }) => gasPriceMax)).toEqual([100n]);
  });
});

describe("combining", () => {
  test("accepts a batch whose cost equals the budget", async () => {
    const { node, signer, submit, poll } = openLane();
    node.combineFrom(2);
    await submit("sweep:1:1", "0x01");
    await submit("sweep:2:1", "0x02");
    // The batch has 1 gas at 100 wei.
    await poll(limitsWith({ batchCostMax: 100n }));
    expect(signer.signed).toEqual(["0|0x0102|100"]);
    const batch = await database.db
      .selectFrom("transactions")
      .selectAll()
      .where("nonce", "=", 0)
      .executeTakeFirstOrThrow();
    expect(batch).toMatchObject({ intent: `batch:${batch.id}:1`, gas: 1n, settlement_id: null });
  });

  test("waits for a free nonce", async () => {
    const { node, signer, submit, poll } = openLane();
    const two = limitsWith({ openMax: 2 });
    await submit("sweep:1:1", "0x01");
    await poll(two);
    node.combineFrom(2);
    await submit("sweep:2:1", "0x02");
    await submit("sweep:3:1", "0x03");
    await poll(two);
    expect(signer.signed).toEqual(["0|0x01|100", "1|0x0203|100"]);
    await submit("sweep:4:1", "0x04");
    await submit("sweep:5:1", "0x05");
    await poll(two);
    expect((await find("sweep:4:1")).state).toBe("queued");
  });

  test("rethrows a bug in the simulation", async () => {
    const { node, submit, poll } = openLane();
    node.combineFrom(2);
    await submit("sweep:1:1", "0x01");
    await submit("sweep:2:1", "0x02");
    const broken = createStrictChain({
      ...node.members,
      simulate: () => Promise.reject(new TypeError("a bug")),
    });
    await expect(poll({ chain: broken })).rejects.toThrow("a bug");
  });

  test("allows four open nonces, so that later intents form a batch, and more of full batches", () => {
    expect(BATCHING_LANE_LIMITS).toEqual({ ...DEFAULT_LANE_LIMITS, openMax: 4, openFullMax: 11 });
  });
});

describe("a plan", () => {
  const call = { to: toEvmAddress(`0x${"2b".repeat(20)}`), data: "0x", value: 0n } as const;
  const planWith = (simulate: Chain["simulate"]) =>
    planCall(
      { db: database.db, chain: createStrictChain({ chainId: 2, simulate }) },
      { lanes: [LANE, toEvmAddress(`0x${"3c".repeat(20)}`)], call, what: "Sweeping the wallet" },
    );

  test("fails with the revert reason without trying another lane", async () => {
    let asked = 0;
    const plan = planWith(async () => {
      asked += 1;
      return { ok: false, reason: "EnforcedPause" };
    });
    await expect(plan).rejects.toMatchObject({
      code: "SIMULATION_REVERTED",
      message: "Sweeping the wallet would revert.",
      details: { reason: "EnforcedPause" },
    });
    expect(asked).toBe(1);
  });

  test("fails on a node error or a bug without trying another lane", async () => {
    for (const error of [new OperatingError("RPC_UNAVAILABLE", "no"), new TypeError("a bug")]) {
      let asked = 0;
      const plan = planWith(async () => {
        asked += 1;
        throw error;
      });
      await expect(plan).rejects.toBe(error);
      expect(asked).toBe(1);
    }
  });
});
