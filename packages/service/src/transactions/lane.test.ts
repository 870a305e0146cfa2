import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { createStrictChain, LANE } from "../../test/support/doubles.ts";
import { createTestDatabase, type TestDatabase } from "../../test/support/database.ts";
import { openLaneOn } from "../../test/support/lane.ts";
import { OperatingError } from "../core/errors.ts";
import { type EvmAddress, type Hex, NATIVE_TOKEN, toEvmAddress } from "../core/hex.ts";
import { endBreach, listBreaches, recordFindings, toFinding } from "../ledger/index.ts";
import { DEFAULT_LANE_LIMITS, GAS_ABOVE_CAP_RETRY_MS, type LaneDeps } from "./lane-deps.ts";
import { pollLane } from "./lane.ts";
import { REPAIRS } from "../roles/repairs.ts";
import { assignNonces, orderLanes } from "./nonces.ts";
import { getByIntent } from "./store.ts";
import { listAttempts } from "./attempts.ts";
import { planCall } from "./plan.ts";
import type { IntentName, LaneTransaction } from "./types.ts";

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());
beforeEach(async () => {
  await database.pool.query("truncate lanes, transactions, attempts, breaches cascade");
});

const TARGET = toEvmAddress(`0x${"2b".repeat(20)}`);
const lane = { chainId: 2, address: LANE };

const openLane = () => openLaneOn(database.db);

async function stateOf(intent: IntentName): Promise<LaneTransaction> {
  const transaction = await getByIntent(database.db, intent);
  if (!transaction) throw new Error(`there is no ${intent}`);
  return transaction;
}

describe("lane", () => {
  test("signs and sends an intent, follows it until final, and reports each change once", async () => {
    const { node, changes, submit, poll } = openLane();
    await submit("deploy:a:1");
    await poll();
    expect(node.sent.length).toBe(1);
    node.mine();
    await poll();
    expect((await stateOf("deploy:a:1")).mined?.succeeded).toBe(true);
    node.setFinal(5n);
    await poll();
    await poll();
    expect(changes).toEqual(["deploy:a:1 mined", "deploy:a:1 final"]);
    expect(node.sent.length).toBe(1);
  });

  test("is at rest while it has nothing to send and nothing to follow", async () => {
    const { node, deps, submit, poll } = openLane();
    const restsAfterPoll = async () => {
      await poll();
      return deps.waits.isAtRest;
    };
    expect(await restsAfterPoll()).toBe(true);
    await submit("deploy:a:1");
    expect(await restsAfterPoll()).toBe(false);
    node.mine();
    expect(await restsAfterPoll()).toBe(false);
    node.setFinal(5n);
    expect([await restsAfterPoll(), await restsAfterPoll()]).toEqual([false, true]);
  });

  test("reads a block once for all its transactions that wait for finality", async () => {
    const { node, deps, submit, poll } = openLane();
    for (const name of ["a", "b", "c"]) await submit(`deploy:${name}:1`);
    await poll();
    node.mine();
    await poll();
    for (const name of ["a", "b", "c"] as const) {
      expect((await stateOf(`deploy:${name}:1`)).state).toBe("mined");
    }
    const read: unknown[] = [];
    const chain = new Proxy(deps.chain, {
      get(target, name: string) {
        if (name !== "getBlock") return Reflect.get(target, name) as unknown;
        return (number: bigint) => {
          read.push(number);
          return target.getBlock(number);
        };
      },
    });
    deps.follows.clear();
    await poll({ chain });
    expect(read).toHaveLength(1);
  });

  test("sends one transaction for an intent that is submitted twice", async () => {
    const { node, submit, poll } = openLane();
    await submit("sweep:a:1", "0x01");
    await submit("sweep:a:1", "0x02");
    await poll();
    expect(node.sent.length).toBe(1);
    expect((await stateOf("sweep:a:1")).call.data).toBe("0x01");
  });

  test("rebroadcasts the same bytes after a lost answer, without signing again [T64]", async () => {
    const { node, signer, submit, poll } = openLane();
    await submit("deliver:a:1");
    node.loseNextAnswer();
    await poll();
    await poll();
    await poll();
    expect(signer.signed.length).toBe(1);
    expect(new Set(node.sent).size).toBe(1);
    node.mine();
    await poll();
    expect((await stateOf("deliver:a:1")).state).toBe("mined");
  });

  test("sends committed bytes after a crash before the send [T60]", async () => {
    const { node, signer, deps, submit, poll } = openLane();
    await submit("deliver:a:1");
    const dies: LaneDeps = {
      ...deps,
      crashPoint: (name) => {
        if (name === "deliver.signed") throw new Error("the process died here");
      },
    };
    await expect(pollLane(dies)).rejects.toThrow("the process died here");
    expect(node.sent).toEqual([]);
    await poll();
    expect(signer.signed.length).toBe(1);
    expect(node.sent.length).toBe(1);
  });

  test("rebroadcasts an orphaned transaction with the same bytes [T65]", async () => {
    const { node, signer, changes, submit, poll } = openLane();
    await submit("sweep:a:1");
    await poll();
    node.mine();
    await poll();
    node.takeBack();
    await poll();
    expect((await stateOf("sweep:a:1")).state).toBe("mined");
    node.mine();
    await poll();
    expect((await stateOf("sweep:a:1")).state).toBe("assigned");
    await poll();
    node.mine();
    await poll();
    expect((await stateOf("sweep:a:1")).state).toBe("mined");
    expect(changes).toEqual(["sweep:a:1 mined", "sweep:a:1 assigned", "sweep:a:1 mined"]);
    expect(signer.signed.length).toBe(1);
  });

  test("replaces only the lowest stuck nonce, with fees raised by at least an eighth [T63]", async () => {
    const { node, signer, submit, stick, poll } = openLane();
    await submit("deploy:a:1", "0x01");
    await submit("deploy:b:1", "0x02");
    await poll();
    await stick();
    await poll();
    expect(signer.signed).toEqual(["0|0x01|100", "1|0x02|100", "0|0x01|113"]);
    const attempts = await listAttempts(database.db, (await stateOf("deploy:a:1")).id);
    expect(attempts.map((attempt) => attempt.gasPriceMax)).toEqual([113n, 100n]);
    expect(node.sent.length).toBeGreaterThanOrEqual(3);
  });

  test("signs nothing while the gas price is above the cap [T66]", async () => {
    const { signer, clock, deps, submit, poll } = openLane();
    await submit("deploy:a:1");
    await pollLane({ ...deps, limits: { ...DEFAULT_LANE_LIMITS, gasPriceMax: 99n } });
    expect(signer.signed).toEqual([]);
    clock.advance(GAS_ABOVE_CAP_RETRY_MS);
    await poll();
    expect(signer.signed.length).toBe(1);
  });

  test("signs no replacement above the gas price cap [T66]", async () => {
    const { signer, deps, submit, stick } = openLane();
    const capped = { ...deps, limits: { ...DEFAULT_LANE_LIMITS, gasPriceMax: 110n } };
    await submit("deploy:a:1");
    await pollLane(capped);
    await stick(10 * DEFAULT_LANE_LIMITS.replaceAfterMs, capped);
    await pollLane(capped);
    expect(signer.signed.length).toBe(1);
  });

  test("replaces an underpriced transaction that no node accepted", async () => {
    const { node, signer, submit, stick, poll } = openLane();
    await submit("deploy:a:1");
    node.refuseNext("underpriced");
    await poll();
    await stick();
    await poll();
    expect(signer.signed).toEqual(["0|0x01|100", "0|0x01|113"]);
  });

  test("never assigns another nonce when the nonce was used elsewhere [T117]", async () => {
    const { node, signer, submit, poll } = openLane();
    await submit("deploy:a:1");
    await poll();
    node.forgetPool();
    node.pool.set(`0x${"99".repeat(32)}` as never, { nonce: 0, raw: "" });
    node.mine();
    await poll();
    await poll();
    expect(signer.signed.length).toBe(1);
    expect((await stateOf("deploy:a:1")).state).toBe("assigned");
  });

  test("signs nothing on a restored database until an operator ends the breach [T116]", async () => {
    const { node, signer, submit, poll, deps } = openLane();
    for (const intent of ["sweep:a:1", "sweep:b:1"] as const) {
      await submit(intent);
      await poll();
      node.mine();
      await poll();
    }
    // Restores the state before both sweeps: their rows and the next nonce are lost.
    await database.db.deleteFrom("attempts").execute();
    await database.db.deleteFrom("transactions").execute();
    await database.db.updateTable("lanes").set({ next_nonce: 0 }).execute();
    for (const intent of ["sweep:a:1", "sweep:b:1", "sweep:c:1"] as const) {
      await submit(intent);
      await poll();
    }
    expect(signer.signed).toHaveLength(2);
    expect((await stateOf("sweep:c:1")).nonce).toBeNull();
    const [breach, ...others] = await listBreaches(database.db);
    expect(others).toEqual([]);
    expect(breach).toMatchObject({ invariant: "V10", subject: LANE, details: { next_nonce: "0" } });
    await endBreach(
      { ...deps, ...REPAIRS },
      { id: breach?.id ?? "", operator: "ann", reason: "restored" },
    );
    await poll();
    node.mine();
    await poll();
    expect((await stateOf("sweep:c:1")).state).toBe("mined");
    expect(signer.signed.map((text) => text.split("|")[0])).toEqual(["0", "1", "2", "3", "4"]);
  });

  test("signs and sends nothing during a breach, but records mined transactions", async () => {
    const { node, signer, submit, poll, deps } = openLane();
    await submit("sweep:a:1");
    await poll();
    await recordFindings(database.db, [
      toFinding("sweep_differs", { chainId: 2, subject: "somebody", details: {} }),
    ]);
    await submit("sweep:b:1");
    node.mine();
    await poll();
    node.setFinal(5n);
    await poll();
    expect((await stateOf("sweep:a:1")).state).toBe("final");
    expect((await stateOf("sweep:b:1")).state).toBe("queued");
    expect([signer.signed.length, node.sent.length]).toEqual([1, 1]);
    const [breach] = await listBreaches(database.db);
    await endBreach(
      { ...deps, ...REPAIRS },
      { id: breach?.id ?? "", operator: "ann", reason: "a node lied" },
    );
    await poll();
    expect([signer.signed.length, node.sent.length]).toEqual([2, 2]);
  });

  test("sends claims during a breach that leaves them safe, and no other transaction [T159]", async () => {
    const { node, signer, submit, poll } = openLane();
    await recordFindings(database.db, [
      toFinding("sweep_unknown", { chainId: 2, subject: "7:1", details: {} }),
    ]);
    await submit("sweep:a:1");
    await submit("claim:a:1");
    await poll();
    expect((await stateOf("sweep:a:1")).state).toBe("queued");
    expect((await stateOf("claim:a:1")).state).toBe("assigned");
    node.mine();
    await poll();
    expect((await stateOf("claim:a:1")).state).toBe("mined");
    expect([signer.signed.length, node.sent.length]).toEqual([1, 1]);
  });

  test.each([
    ["final_block_replaced", "0xab"],
    ["payout_missing", "a settlement"],
    ["nonce_taken", LANE],
  ] as const)("sends no claim while %s is open [T159]", async (verdict, subject) => {
    const { signer, submit, poll } = openLane();
    await recordFindings(database.db, [toFinding(verdict, { chainId: 2, subject, details: {} })]);
    await submit("claim:a:1");
    await poll();
    expect((await stateOf("claim:a:1")).state).toBe("queued");
    expect(signer.signed).toEqual([]);
  });

  test("sends claims while another lane's nonces are taken, and everything during a quarantine [T159]", async () => {
    const { submit, poll } = openLane();
    const wallet = toEvmAddress(`0x${"77".repeat(20)}`);
    await recordFindings(database.db, [
      toFinding("wallet_short", {
        chainId: 2,
        subject: `${wallet}:${wallet}`,
        details: {},
        holding: { wallet, token: wallet },
      }),
    ]);
    await submit("sweep:a:1");
    await poll();
    expect((await stateOf("sweep:a:1")).state).toBe("assigned");
    await recordFindings(database.db, [
      toFinding("nonce_taken", { chainId: 2, subject: wallet, details: {} }),
    ]);
    await submit("claim:a:1");
    await submit("sweep:b:1");
    await poll();
    expect((await stateOf("claim:a:1")).state).toBe("assigned");
    expect((await stateOf("sweep:b:1")).state).toBe("queued");
  });

  test("opens at most sixteen nonces", async () => {
    const { node, submit, poll } = openLane();
    for (let i = 0; i < 40; i++) await submit(`deploy:${i}:1`);
    await poll();
    expect(node.sent.length).toBe(16);
    node.mine();
    await poll();
    await poll();
    expect(new Set(node.sent).size).toBe(32);
  });

  test("assigns one nonce per intent without a gap under concurrent workers [T61, X4]", async () => {
    const { deps, submit, poll } = openLane();
    await poll();
    const submits = Array.from({ length: 60 }, (_, i) => submit(`deploy:${i}:1`));
    // Concurrent with submissions, so that workers read different queues.
    const workers = Array.from({ length: 8 }, async () => {
      for (let i = 0; i < 10; i++) await assignNonces(deps.db, lane, { openMax: 100, nowMs: 0 });
    });
    await Promise.all([...submits, ...workers]);
    await assignNonces(deps.db, lane, { openMax: 100, nowMs: 0 });
    const rows = await database.db
      .selectFrom("transactions")
      .select(["intent", "nonce"])
      .orderBy("nonce")
      .execute();
    expect(rows.map((row) => row.nonce)).toEqual(Array.from({ length: 60 }, (_, i) => i));
    expect(new Set(rows.map((row) => row.intent)).size).toBe(60);
  });
});

describe("batches", () => {
  const dataOf = (i: number): Hex => `0x0${i}`;

  test("sends a single intent without a batch", async () => {
    const { node, signer, submit, poll } = openLane();
    node.combineFrom(2);
    await submit("sweep:a:1");
    await poll();
    expect(signer.signed).toEqual(["0|0x01|100"]);
  });

  test("sends a queue as one transaction and reports its own outcome to each owner", async () => {
    const { node, signer, changes, submit, poll } = openLane();
    node.combineFrom(2, (data) => data !== "0x02");
    for (const i of [1, 2, 3]) await submit(`sweep:${i}:1`, dataOf(i));
    await poll();
    expect(signer.signed).toEqual(["0|0x010203|100"]);
    expect((await stateOf("sweep:1:1")).state).toBe("carried");
    node.mine();
    await poll();
    const outcomes = await Promise.all(
      [1, 2, 3].map(async (i) => (await stateOf(`sweep:${i}:1`)).mined?.succeeded),
    );
    expect(outcomes).toEqual([true, false, true]);
    node.setFinal(5n);
    await poll();
    await poll();
    expect(changes.filter((change) => change.startsWith("sweep:"))).toEqual([
      "sweep:1:1 mined",
      "sweep:2:1 mined",
      "sweep:3:1 mined",
      "sweep:1:1 final",
      "sweep:2:1 final",
      "sweep:3:1 final",
    ]);
    expect(new Set(node.sent).size).toBe(1);
  });

  /** Opens a lane where at most two calls fit into a batch. */
  function openLaneOfPairs() {
    const lane = openLane();
    lane.node.combineFrom(2);
    const { combine } = lane.deps.chain;
    const combineTwo: typeof combine = (calls) => {
      const singles = calls.flatMap((one, place) =>
        one.call.data.length <= 4 ? [{ one, place }] : [],
      );
      const [first, second] = singles;
      const batch = first && second ? combine([first.one, second.one]) : null;
      const members = [first, second].flatMap((one) => one?.place ?? []);
      return batch && { ...batch, members, isFull: singles.length > 2 };
    };
    Object.assign(lane.deps.chain, { combine: combineTwo });
    return lane;
  }

  test("records batches of one block together, each member with its own outcome [T327]", async () => {
    const { node, changes, wakes, submit, poll } = openLaneOfPairs();
    node.combineFrom(2, (data) => data !== "0x03");
    for (const i of [1, 2, 3, 4]) await submit(`sweep:${i}:1`, dataOf(i));
    await poll();
    node.mine();
    await poll();
    const outcomes = await Promise.all(
      [1, 2, 3, 4].map(async (i) => (await stateOf(`sweep:${i}:1`)).mined?.succeeded),
    );
    expect(outcomes).toEqual([true, true, false, true]);
    // One transaction: the owners are told of all six at once.
    expect(wakes).toEqual([6]);
    node.setFinal(1n);
    await poll();
    expect(wakes).toEqual([6, 12]);
    const kinds = changes.map((change) => change.replace(/^batch:.*? /, "batch "));
    expect(kinds.slice(0, 6)).toEqual([
      "batch mined",
      "sweep:1:1 mined",
      "sweep:2:1 mined",
      "batch mined",
      "sweep:3:1 mined",
      "sweep:4:1 mined",
    ]);
    expect(kinds.slice(6).toSorted()).toEqual([
      "batch final",
      "batch final",
      "sweep:1:1 final",
      "sweep:2:1 final",
      "sweep:3:1 final",
      "sweep:4:1 final",
    ]);
  });

  test("records the other receipts where one cannot be read [T327]", async () => {
    const { node, deps, submit, poll } = openLane();
    for (const i of [1, 2, 3]) await submit(`sweep:${i}:1`, dataOf(i));
    await poll();
    node.mine();
    const { getReceipt } = node.members;
    let reads = 0;
    const chain = createStrictChain({
      ...node.members,
      async getReceipt(txHash) {
        reads += 1;
        if (reads === 2) throw new TypeError("no receipt to read");
        return getReceipt(txHash);
      },
    });
    await expect(pollLane({ ...deps, chain })).rejects.toThrow("no receipt to read");
    const states = async () =>
      Promise.all([1, 2, 3].map(async (i) => (await stateOf(`sweep:${i}:1`)).state));
    expect(await states()).toEqual(["mined", "assigned", "mined"]);
    await poll();
    expect(await states()).toEqual(["mined", "mined", "mined"]);
  });

  test("sends full batches beyond the limit of other calls, up to a limit of their own", async () => {
    const { signer, submit, poll } = openLaneOfPairs();
    const limits = { ...DEFAULT_LANE_LIMITS, openMax: 1, openFullMax: 3 };
    for (const i of [1, 2, 3, 4, 5, 6, 7, 8]) await submit(`sweep:${i}:1`, dataOf(i));
    await poll({ limits });
    const signed = () => signer.signed.map((one) => one.split("|")[1]).toSorted();
    // The call behind them has its turn too.
    expect(signed()).toEqual(["0x0102", "0x0304", "0x07"]);
    await poll({ limits });
    expect(signer.signed).toHaveLength(3);
    expect((await stateOf("sweep:8:1")).state).toBe("queued");
  });

  test("sends a queue that is longer than a batch as several, one for each nonce", async () => {
    const { signer, submit, poll } = openLaneOfPairs();
    for (const i of [1, 2, 3, 4, 5, 6, 7]) await submit(`sweep:${i}:1`, dataOf(i));
    await poll();
    const signed = signer.signed.map((one) => one.split("|")[1]);
    expect(signed.toSorted()).toEqual(["0x0102", "0x0304", "0x0506", "0x07"]);
  });

  test("reopens an orphaned batch as a whole and reads its outcome again [T65]", async () => {
    const { node, signer, changes, submit, poll } = openLane();
    node.combineFrom(2, () => false);
    for (const i of [1, 2]) await submit(`sweep:${i}:1`, dataOf(i));
    await poll();
    node.mine();
    await poll();
    expect((await stateOf("sweep:2:1")).mined?.succeeded).toBe(false);
    node.takeBack();
    node.combineFrom(2);
    node.mine();
    await poll();
    expect((await stateOf("sweep:2:1")).state).toBe("carried");
    await poll();
    node.mine();
    await poll();
    expect((await stateOf("sweep:2:1")).mined?.succeeded).toBe(true);
    expect(changes.filter((change) => change.startsWith("sweep:2"))).toEqual([
      "sweep:2:1 mined",
      "sweep:2:1 carried",
      "sweep:2:1 mined",
    ]);
    expect(signer.signed.length).toBe(1);
  });

  test("sends a batch with the same members after a crash before the send", async () => {
    const { node, signer, deps, submit, poll } = openLane();
    node.combineFrom(2);
    for (const i of [1, 2]) await submit(`sweep:${i}:1`, dataOf(i));
    const dies: LaneDeps = {
      ...deps,
      signer: { ...signer, sign: () => Promise.reject(new Error("the process died here")) },
    };
    await expect(pollLane(dies)).rejects.toThrow("the process died here");
    await submit("sweep:3:1", dataOf(3));
    await poll();
    expect(signer.signed).toEqual(["0|0x0102|100", "1|0x03|100"]);
  });

  test("sends intents one by one when their batch would revert", async () => {
    const { node, signer, deps, submit } = openLane();
    node.combineFrom(2);
    const refusing = createStrictChain({
      ...node.members,
      simulate: async () => ({ ok: false, reason: "EnforcedPause" }),
    });
    for (const i of [1, 2]) await submit(`sweep:${i}:1`, dataOf(i));
    await pollLane({ ...deps, chain: refusing });
    expect(signer.signed).toEqual(["0|0x01|100", "1|0x02|100"]);
  });

  test("grows at the limit of open nonces and is sent when a nonce is free", async () => {
    const { node, signer, deps, submit } = openLane();
    const narrow = { ...deps, limits: { ...DEFAULT_LANE_LIMITS, openMax: 2 } };
    for (const i of [1, 2]) await submit(`sweep:${i}:1`, dataOf(i));
    await pollLane(narrow);
    node.combineFrom(2);
    for (const i of [3, 4, 5]) {
      await submit(`sweep:${i}:1`, dataOf(i));
      await pollLane(narrow);
    }
    node.mine();
    await pollLane(narrow);
    await pollLane(narrow);
    expect(signer.signed).toEqual(["0|0x01|100", "1|0x02|100", "2|0x030405|100"]);
  });

  test("sends intents one by one when the lane cannot pay for the batch, and follows open ones", async () => {
    const { node, signer, deps, submit, changes } = openLane();
    await submit("sweep:0:1", "0x09");
    await pollLane(deps);
    node.mine();
    node.combineFrom(2);
    for (const i of [1, 2]) await submit(`sweep:${i}:1`, dataOf(i));
    const poor = createStrictChain({
      ...node.members,
      simulate: () => Promise.reject(new OperatingError("INSUFFICIENT_BALANCE", "no gas for it")),
    });
    await pollLane({ ...deps, chain: poor });
    expect(signer.signed).toEqual(["0|0x09|100", "1|0x01|100", "2|0x02|100"]);
    expect(changes).toContain("sweep:0:1 mined");
  });

  test("sends intents one by one when their batch exceeds its budget", async () => {
    const { node, signer, deps, submit } = openLane();
    node.combineFrom(2);
    for (const i of [1, 2]) await submit(`sweep:${i}:1`, dataOf(i));
    // The batch has 1 gas at 100 wei.
    await pollLane({ ...deps, limits: { ...DEFAULT_LANE_LIMITS, batchCostMax: 99n } });
    expect(signer.signed).toEqual(["0|0x01|100", "1|0x02|100"]);
  });

  test("sends a hundred intents in one batch", async () => {
    const { node, signer, submit, poll } = openLane();
    node.combineFrom(2);
    for (let i = 0; i < 100; i++) await submit(`sweep:${i}:1`);
    await poll();
    node.mine();
    await poll();
    expect(signer.signed.length).toBe(1);
    expect((await stateOf("sweep:99:1")).mined?.succeeded).toBe(true);
  });
});

describe("several lanes", () => {
  test("sorts lanes by their unmined transactions on the chain", async () => {
    const { deps, submit, poll } = openLane();
    const idle = toEvmAddress(`0x${"3c".repeat(20)}`);
    expect(await orderLanes(deps.db, 2, [LANE, idle])).toEqual([LANE, idle]);
    await submit("sweep:1:1");
    await poll();
    // The sweep is sent and not mined.
    expect(await orderLanes(deps.db, 2, [LANE, idle])).toEqual([idle, LANE]);
    // Work on another chain does not count.
    expect(await orderLanes(deps.db, 30, [LANE, idle])).toEqual([LANE, idle]);
  });

  test("plans on a lane that can pay for gas, and fails if none can", async () => {
    const { deps } = openLane();
    const poor = toEvmAddress(`0x${"3c".repeat(20)}`);
    const chain = createStrictChain({
      chainId: 2,
      simulate: async (from) => {
        if (from === LANE) return { ok: true, gas: 7n };
        throw new OperatingError("INSUFFICIENT_BALANCE", "no gas");
      },
      coin: { token: NATIVE_TOKEN, decimals: 18 },
      getBalance: async (_, owner) => (owner === poor ? 3n : 4n),
    });
    const plan = (lanes: readonly EvmAddress[]) =>
      planCall(
        { db: deps.db, chain },
        { lanes, call: { to: TARGET, data: "0x", value: 0n }, what: "A test" },
      );
    expect(await plan([poor, LANE])).toEqual({ lane: LANE, gas: 7n });
    const other = toEvmAddress(`0x${"4d".repeat(20)}`);
    await expect(plan([poor, other])).rejects.toMatchObject({
      code: "INSUFFICIENT_BALANCE",
      details: { reason: "gas", chainId: 2, balance: "4" },
    });
  });

  test("refuses a call above the gas limit before it has a nonce [T12]", async () => {
    const { deps } = openLane();
    const plan = (gas: bigint) =>
      planCall(
        {
          db: deps.db,
          chain: createStrictChain({ chainId: 2, simulate: async () => ({ ok: true, gas }) }),
        },
        { lanes: [LANE], call: { to: TARGET, data: "0x", value: 0n }, what: "A test" },
      );
    expect(await plan(2_000_000n)).toEqual({ lane: LANE, gas: 2_000_000n });
    await expect(plan(2_000_001n)).rejects.toMatchObject({
      code: "SIMULATION_REVERTED",
      details: { reason: "gas" },
    });
  });

  test("rebroadcasts the same bytes when the replacement cannot be signed", async () => {
    const { node, signer, deps, clock, submit, poll } = openLane();
    await submit("sweep:1:1");
    await poll();
    node.forgetPool();
    clock.advance(DEFAULT_LANE_LIMITS.replaceAfterMs);
    const refusing = {
      ...signer,
      sign: () => Promise.reject(new OperatingError("INTERNAL", "beyond the budget")),
    };
    await pollLane({ ...deps, signer: refusing });
    expect(signer.signed).toHaveLength(1);
    expect(node.sent).toHaveLength(2);
    expect(node.pool.size).toBe(1);
  });

  test("finalises earlier transactions when the signer refuses a later one", async () => {
    const { node, signer, deps, changes, submit, poll } = openLane();
    await submit("sweep:1:1");
    await poll();
    node.mine();
    await poll();
    await submit("sweep:2:1");
    node.setFinal(5n);
    const refusing = { ...signer, sign: () => Promise.reject(new Error("refused")) };
    await expect(pollLane({ ...deps, signer: refusing })).rejects.toThrow("refused");
    expect(changes).toContain("sweep:1:1 final");
  });
});
