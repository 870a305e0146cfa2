/** What a look at a lane does to the unit, the millisecond and the wei, and whom it tells. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { createTestDatabase, type TestDatabase } from "../../test/support/database.ts";
import { type ChainMembers, createStrictChain, LANE } from "../../test/support/doubles.ts";
import { openLaneOn } from "../../test/support/lane.ts";
import type { Chain } from "../chains/port/index.ts";
import { OperatingError } from "../core/errors.ts";
import { toEvmAddress } from "../core/hex.ts";
import { endBreach, listBreaches, recordFindings } from "../ledger/index.ts";
import { BATCHING_LANE_LIMITS, DEFAULT_LANE_LIMITS } from "./lane.ts";
import { planCall } from "./plan.ts";
import { adoptNonce, getNextNonce } from "./nonces.ts";
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
const { replaceAfterMs, resendAfterMs } = DEFAULT_LANE_LIMITS;
const limitsWith = (change: Partial<typeof DEFAULT_LANE_LIMITS>) => ({
  limits: { ...DEFAULT_LANE_LIMITS, ...change },
});

async function find(intent: IntentName): Promise<LaneTransaction> {
  const transaction = await getByIntent(database.db, intent);
  if (!transaction) throw new Error(`there is no ${intent}`);
  return transaction;
}

const attemptsOf = async (intent: IntentName) => listAttempts(database.db, (await find(intent)).id);

describe("a look", () => {
  test("asks for another one at once only where something was mined", async () => {
    const { node, submit, look } = openLane();
    expect(await look()).toBe(false);
    await submit("sweep:1:1");
    expect(await look()).toBe(false);
    await submit("sweep:2:1", "0x02");
    await look();
    node.mine();
    expect(await look()).toBe(true);
    expect(await look()).toBe(false);
    node.setFinal(5n);
    expect(await look()).toBe(false);
  });

  test("tells of progress also where the last of several made none", async () => {
    const { node, submit, look } = openLane();
    await submit("sweep:1:1");
    await submit("sweep:2:1", "0x02");
    await look();
    const [first] = node.pool.keys();
    const pool = [...node.pool];
    for (const [hash] of pool) if (hash !== first) node.pool.delete(hash);
    node.mine();
    expect(await look()).toBe(true);
    expect((await find("sweep:2:1")).state).toBe("assigned");
  });

  test("of a known lane with nothing to do asks no node", async () => {
    const { look } = openLane();
    await look();
    expect(await look({ chain: createStrictChain({ combine: () => null }) })).toBe(false);
  });

  test("asks what is final only where something was mined", async () => {
    const { node, deps, submit, look } = openLane();
    await submit("sweep:1:1");
    const { getFinalNumber: _, ...members } = node.members;
    expect(await look({ chain: createStrictChain(members) })).toBe(false);
    expect(await look({ ...deps })).toBe(false);
  });

  test("of a lane that was used before goes on from the chain's count", async () => {
    const { node, deps, signer, submit, look } = openLane();
    await submit("sweep:1:1");
    const members: ChainMembers = { ...node.members, getTransactionCount: async () => 7 };
    await look({ ...deps, chain: createStrictChain(members) });
    expect(signer.signed).toEqual(["7|0x01|100"]);
    expect(await getNextNonce(database.db, { chainId: 2, address: LANE })).toBe(8);
    const row = await database.db.selectFrom("lanes").selectAll().executeTakeFirstOrThrow();
    expect(row).toMatchObject({ chain_id: 2, address: LANE, purpose: "settle" });
  });

  test("passes every place at which a process may end, in order", async () => {
    const { node, crashPoints, submit, look } = openLane();
    await submit("deliver:1:1");
    await look();
    expect(crashPoints).toEqual(["deliver.assigned", "deliver.signed", "deliver.sent"]);
    node.mine();
    await look();
    expect(crashPoints.slice(3)).toEqual(["deliver.mined", "deliver.recorded"]);
  });
});

describe("owners", () => {
  test("are woken after each change is committed, and by nothing else", async () => {
    const { node, wakes, told, submit, look } = openLane();
    await submit("sweep:1:1");
    await look();
    expect(wakes).toEqual([]);
    node.mine();
    await look();
    await look();
    node.takeBack();
    node.mine();
    await look();
    await look();
    node.mine();
    await look();
    node.setFinal(2n);
    await look();
    await look();
    expect(told.map(({ state }) => state)).toEqual(["mined", "assigned", "mined", "final"]);
    expect(wakes).toEqual([1, 2, 3, 4]);
    expect(told[0]?.mined).toMatchObject({ blockNumber: 1n, succeeded: true });
    expect(told[1]?.mined).toBe(null);
  });

  test("of what a batch carries hear what became of their own call", async () => {
    const { node, told, submit, look } = openLane();
    node.combineFrom(2, (data) => data !== "0x02");
    await submit("sweep:1:1", "0x01");
    await submit("sweep:2:1", "0x02");
    await look();
    node.mine();
    await look();
    const outcomes = () => told.map(({ state, mined }) => `${state} ${mined?.succeeded}`);
    expect(outcomes()).toEqual(["mined true", "mined true", "mined false"]);
    node.setFinal(1n);
    await look();
    expect(told.slice(3).map(({ state }) => state)).toEqual(["final", "final", "final"]);
    expect((await find("sweep:2:1")).state).toBe("final");
  });

  test("of what a batch carries hear also that it left the chain", async () => {
    const { node, told, submit, look } = openLane();
    node.combineFrom(2);
    await submit("sweep:1:1", "0x01");
    await submit("sweep:2:1", "0x02");
    await look();
    node.mine();
    await look();
    node.takeBack();
    node.mine();
    await look();
    const left = told.slice(3).map(({ state, mined }) => ({ state, mined }));
    expect(left).toEqual([
      { state: "assigned", mined: null },
      { state: "carried", mined: null },
      { state: "carried", mined: null },
    ]);
    expect((await find("sweep:1:1")).mined).toBe(null);
  });

  test("hear of one change once, also when two processes see it", async () => {
    const { node, changes, submit, look } = openLane();
    node.combineFrom(2);
    await submit("sweep:1:1", "0x01");
    await submit("sweep:2:1", "0x02");
    await look();
    node.mine();
    await Promise.all([look(), look(), look()]);
    expect(changes).toHaveLength(3);
    node.setFinal(1n);
    await Promise.all([look(), look(), look()]);
    expect(changes).toHaveLength(6);
  });
});

describe("what was mined", () => {
  test("is final with its block, not one block before", async () => {
    const { node, submit, look } = openLane();
    node.mine();
    await submit("sweep:1:1");
    await look();
    node.mine();
    await look();
    node.setFinal(1n);
    await look();
    expect((await find("sweep:1:1")).state).toBe("mined");
    node.setFinal(2n);
    await look();
    expect((await find("sweep:1:1")).state).toBe("final");
  });

  test("and reverted is counted, under the name of the lane", async () => {
    const { node, deps, metrics, submit, look } = openLane();
    await submit("sweep:1:1");
    await look();
    node.mine();
    const { getReceipt } = node.members;
    const reverting: ChainMembers = {
      ...node.members,
      getReceipt: async (txHash) => {
        const receipt = await getReceipt(txHash);
        return receipt && { ...receipt, succeeded: false };
      },
    };
    await look({ ...deps, chain: createStrictChain(reverting) });
    expect((await find("sweep:1:1")).mined?.succeeded).toBe(false);
    expect((await metrics.laneReverts.get()).values).toEqual([
      { value: 1, labels: { chain: "ethereum", purpose: "settle", account: LANE } },
    ]);
  });

  test("and succeeded is not counted as reverted", async () => {
    const { node, metrics, submit, look } = openLane();
    await submit("sweep:1:1");
    await look();
    node.mine();
    await look();
    expect((await metrics.laneReverts.get()).values).toEqual([]);
  });

  test("may be an older attempt than the newest", async () => {
    const { node, clock, submit, look } = openLane();
    await submit("sweep:1:1");
    await look();
    clock.advance(replaceAfterMs);
    await look();
    const [newest, oldest] = await attemptsOf("sweep:1:1");
    if (newest) node.pool.delete(newest.hash);
    node.mine();
    await look();
    expect((await find("sweep:1:1")).mined?.txHash).toBe(oldest?.hash);
  });
});

describe("sending again", () => {
  test("is put off while a node has it, until it may have been dropped", async () => {
    const { node, clock, submit, look } = openLane();
    await submit("sweep:1:1");
    await look();
    clock.advance(resendAfterMs - 1);
    await look();
    expect(node.sent).toHaveLength(1);
    clock.advance(1);
    await look();
    expect(node.sent).toHaveLength(2);
    // Offered anew, it is left alone anew.
    await look();
    expect(node.sent).toHaveLength(2);
  });

  test("goes on at every look until a node took it, and known is taken", async () => {
    const { node, submit, look } = openLane();
    await submit("sweep:1:1");
    node.refuseNext("insufficient_funds");
    await look();
    node.refuseNext("unknown");
    await look();
    expect(node.sent).toHaveLength(2);
    expect((await attemptsOf("sweep:1:1"))[0]?.accepted).toBe(false);
    await look();
    expect(node.sent).toHaveLength(3);
    expect((await attemptsOf("sweep:1:1"))[0]?.accepted).toBe(true);
    await look();
    expect(node.sent).toHaveLength(3);
    expect(new Set(node.sent).size).toBe(1);
  });
});

describe("a chain with a breach", () => {
  test("is sent nothing again that no node took, until the breach is ended", async () => {
    const { node, deps, signer, clock, submit, look } = openLane();
    await submit("sweep:1:1");
    node.refuseNext("underpriced");
    await look();
    await recordFindings(database.db, [
      { chainId: 2, invariant: "V1", subject: "somebody", details: {} },
    ]);
    clock.advance(replaceAfterMs);
    await look();
    expect([signer.signed.length, node.sent.length]).toEqual([1, 1]);
    const [breach] = await listBreaches(database.db);
    await endBreach(
      { ...deps, adoptNonce },
      { id: breach?.id ?? "", operator: "ann", reason: "a node lied" },
    );
    await look();
    expect([signer.signed.length, node.sent.length]).toEqual([2, 2]);
  });
});

describe("a replacement", () => {
  test("comes when its time has come, and not a millisecond before", async () => {
    const { signer, clock, metrics, submit, look } = openLane();
    await submit("sweep:1:1");
    await look();
    clock.advance(replaceAfterMs - 1);
    await look();
    expect(signer.signed).toHaveLength(1);
    expect((await metrics.laneReplacements.get()).values).toEqual([]);
    clock.advance(1);
    await look();
    expect(signer.signed).toHaveLength(2);
    expect((await metrics.laneReplacements.get()).values).toEqual([
      { value: 1, labels: { chain: "ethereum", purpose: "settle", account: LANE } },
    ]);
  });

  test("offers an eighth more in both fees, or the market's where that is more", async () => {
    const { node, deps, clock, submit, look } = openLane();
    const market = (maxFeePerGas: bigint, maxPriorityFeePerGas: bigint) => ({
      ...deps,
      chain: createStrictChain({
        ...node.members,
        suggestFees: async () => ({ maxFeePerGas, maxPriorityFeePerGas }),
      }),
    });
    await submit("sweep:1:1");
    await look(market(1_000n, 80n));
    for (const fees of [market(1n, 1n), market(5_000n, 1n), market(1n, 900n)]) {
      clock.advance(replaceAfterMs);
      await look(fees);
    }
    const offered = (await attemptsOf("sweep:1:1")).map(
      ({ number, maxFeePerGas, maxPriorityFeePerGas }) =>
        `${number}: ${maxFeePerGas} ${maxPriorityFeePerGas}`,
    );
    expect(offered).toEqual(["4: 5626 900", "3: 5000 103", "2: 1126 91", "1: 1000 80"]);
  });

  test("T66 may cost the cap, and not a wei more", async () => {
    const { signer, clock, submit, look } = openLane();
    await submit("sweep:1:1");
    await look(limitsWith({ maxFeePerGas: 100n }));
    expect(signer.signed).toHaveLength(1);
    clock.advance(replaceAfterMs);
    await look(limitsWith({ maxFeePerGas: 112n }));
    expect(signer.signed).toHaveLength(1);
    await look(limitsWith({ maxFeePerGas: 113n }));
    expect(signer.signed).toHaveLength(2);
  });

  test("that the signer breaks on is a mistake, and not passed over", async () => {
    const { signer, clock, submit, look } = openLane();
    await submit("sweep:1:1");
    await look();
    clock.advance(replaceAfterMs);
    const broken = { ...signer, sign: () => Promise.reject(new TypeError("a mistake")) };
    await expect(look({ signer: broken })).rejects.toThrow("a mistake");
  });

  test("that another process committed first is the one that is sent", async () => {
    const { node, signer, submit, look } = openLane();
    await submit("sweep:1:1");
    const slow = {
      ...signer,
      sign: async (request: Parameters<typeof signer.sign>[0]) => {
        // Meanwhile the other one signs, at another fee, and sends.
        await look();
        return signer.sign({ ...request, fees: { ...request.fees, maxFeePerGas: 999n } });
      },
    };
    await look({ signer: slow });
    expect(node.sent).toHaveLength(1);
    expect((await attemptsOf("sweep:1:1")).map(({ maxFeePerGas }) => maxFeePerGas)).toEqual([100n]);
  });
});

describe("combining", () => {
  test("costs the budget at most, to the wei", async () => {
    const { node, signer, submit, look } = openLane();
    node.combineFrom(2);
    await submit("sweep:1:1", "0x01");
    await submit("sweep:2:1", "0x02");
    // The batch has 1 gas at 100 wei.
    await look(limitsWith({ batchCostMax: 100n }));
    expect(signer.signed).toEqual(["0|0x0102|100"]);
    const batch = await database.db
      .selectFrom("transactions")
      .selectAll()
      .where("nonce", "=", 0)
      .executeTakeFirstOrThrow();
    expect(batch).toMatchObject({ intent: `batch:${batch.id}:1`, gas: 1n, settlement_id: null });
  });

  test("waits for room: the last nonce is room, and none is none", async () => {
    const { node, signer, submit, look } = openLane();
    const two = limitsWith({ openMax: 2 });
    await submit("sweep:1:1", "0x01");
    await look(two);
    node.combineFrom(2);
    await submit("sweep:2:1", "0x02");
    await submit("sweep:3:1", "0x03");
    await look(two);
    expect(signer.signed).toEqual(["0|0x01|100", "1|0x0203|100"]);
    await submit("sweep:4:1", "0x04");
    await submit("sweep:5:1", "0x05");
    await look(two);
    expect((await find("sweep:4:1")).state).toBe("queued");
  });

  test("that breaks on a mistake of ours stops the look", async () => {
    const { node, submit, look } = openLane();
    node.combineFrom(2);
    await submit("sweep:1:1", "0x01");
    await submit("sweep:2:1", "0x02");
    const broken = createStrictChain({
      ...node.members,
      simulate: () => Promise.reject(new TypeError("a mistake")),
    });
    await expect(look({ chain: broken })).rejects.toThrow("a mistake");
  });

  test("leaves few nonces open, so that what comes meanwhile goes together", () => {
    expect(BATCHING_LANE_LIMITS).toEqual({ ...DEFAULT_LANE_LIMITS, openMax: 4 });
  });
});

describe("a plan", () => {
  const call = { to: toEvmAddress(`0x${"2b".repeat(20)}`), data: "0x", value: 0n } as const;
  const planWith = (simulate: Chain["simulate"]) =>
    planCall(
      { db: database.db, chain: createStrictChain({ chainId: 2, simulate }) },
      { lanes: [LANE, toEvmAddress(`0x${"3c".repeat(20)}`)], call, what: "Sweeping the wallet" },
    );

  test("of a call that would revert fails with the reason and is tried on no other lane", async () => {
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

  test("without an answer, or by a mistake of ours, is none on any lane", async () => {
    for (const error of [new OperatingError("RPC_UNAVAILABLE", "no"), new TypeError("a mistake")]) {
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
