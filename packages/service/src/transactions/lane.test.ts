import { afterEach, beforeEach, describe, expect, test } from "vitest";
import {
  createCapriciousNode,
  createCountingRandom,
  createReadableSigner,
  createStillClock,
  createStrictChain,
  LANE,
  silentLog,
} from "../../test/support/doubles.ts";
import { createTestDatabase, type TestDatabase } from "../../test/support/database.ts";
import { type Hex, toEvmAddress } from "../core/hex.ts";
import { DEFAULT_LANE_LIMITS, type LaneDeps, lookAtLane, submitIntent } from "./lane.ts";
import { assignNonces, getByIntent, listAttempts } from "./store.ts";
import type { IntentName, LaneTransaction } from "./types.ts";

let database: TestDatabase;
beforeEach(async () => {
  database = await createTestDatabase();
});
afterEach(async () => {
  await database.drop();
});

const TARGET = toEvmAddress(`0x${"2b".repeat(20)}`);
const lane = { chainId: 2, address: LANE };

function openLane() {
  const node = createCapriciousNode();
  const signer = createReadableSigner(2);
  const clock = createStillClock();
  const random = createCountingRandom();
  const changes: string[] = [];
  const deps: LaneDeps = {
    db: database.db,
    chain: createStrictChain(node.members),
    signer,
    clock,
    log: silentLog,
    crashPoint: () => undefined,
    onChanged: async (_tx, { intent, state }: LaneTransaction) => {
      changes.push(`${intent} ${state}`);
    },
    wakeOwners: () => undefined,
    limits: DEFAULT_LANE_LIMITS,
  };
  const submit = (intent: IntentName, data: Hex = "0x01") =>
    database.db.transaction().execute((tx) =>
      submitIntent(tx, random, {
        ...lane,
        lane: LANE,
        intent,
        settlementId: null,
        call: { to: TARGET, data, value: 0n },
        gas: 21_000n,
      }),
    );
  return { node, signer, clock, deps, changes, submit, look: () => lookAtLane(deps) };
}

async function stateOf(intent: IntentName): Promise<LaneTransaction> {
  const transaction = await getByIntent(database.db, intent);
  if (!transaction) throw new Error(`there is no ${intent}`);
  return transaction;
}

describe("lane", () => {
  test("an intent is signed, sent, mined and final, and its owner hears of each change once", async () => {
    const { node, changes, submit, look } = openLane();
    await submit("deploy:a:1");
    await look();
    expect(node.sent.length).toBe(1);
    node.mine();
    await look();
    expect((await stateOf("deploy:a:1")).mined?.succeeded).toBe(true);
    node.setFinal(5n);
    await look();
    await look();
    expect(changes).toEqual(["deploy:a:1 mined", "deploy:a:1 final"]);
    expect(node.sent.length).toBe(1);
  });

  test("the same intent submitted twice is one transaction", async () => {
    const { node, submit, look } = openLane();
    await submit("sweep:a:1", "0x01");
    await submit("sweep:a:1", "0x02");
    await look();
    expect(node.sent.length).toBe(1);
    expect((await stateOf("sweep:a:1")).call.data).toBe("0x01");
  });

  test("T64 an answer that was lost is answered with the same bytes, never with new ones", async () => {
    const { node, signer, submit, look } = openLane();
    await submit("deliver:a:1");
    node.loseNextAnswer();
    await look();
    await look();
    await look();
    expect(signer.signed.length).toBe(1);
    expect(new Set(node.sent).size).toBe(1);
    node.mine();
    await look();
    expect((await stateOf("deliver:a:1")).state).toBe("mined");
  });

  test("T60 bytes that were committed and not sent are sent by the next life", async () => {
    const { node, signer, deps, submit, look } = openLane();
    await submit("deliver:a:1");
    const dies: LaneDeps = {
      ...deps,
      crashPoint: (name) => {
        if (name === "deliver.signed") throw new Error("the process died here");
      },
    };
    await expect(lookAtLane(dies)).rejects.toThrow("the process died here");
    expect(node.sent).toEqual([]);
    await look();
    expect(signer.signed.length).toBe(1);
    expect(node.sent.length).toBe(1);
  });

  test("T65 a transaction whose block left the chain is sent again with the same bytes", async () => {
    const { node, signer, changes, submit, look } = openLane();
    await submit("sweep:a:1");
    await look();
    node.mine();
    await look();
    node.takeBack();
    await look();
    expect((await stateOf("sweep:a:1")).state).toBe("mined");
    node.mine();
    await look();
    expect((await stateOf("sweep:a:1")).state).toBe("assigned");
    await look();
    node.mine();
    await look();
    expect((await stateOf("sweep:a:1")).state).toBe("mined");
    expect(changes).toEqual(["sweep:a:1 mined", "sweep:a:1 assigned", "sweep:a:1 mined"]);
    expect(signer.signed.length).toBe(1);
  });

  test("T63 a stuck nonce is replaced with at least an eighth more, and only the lowest one", async () => {
    const { node, signer, clock, submit, look } = openLane();
    await submit("deploy:a:1", "0x01");
    await submit("deploy:b:1", "0x02");
    await look();
    clock.advance(DEFAULT_LANE_LIMITS.replaceAfterMs);
    await look();
    expect(signer.signed).toEqual(["0|0x01|100", "1|0x02|100", "0|0x01|113"]);
    const attempts = await listAttempts(database.db, (await stateOf("deploy:a:1")).id);
    expect(attempts.map((attempt) => attempt.maxFeePerGas)).toEqual([113n, 100n]);
    expect(node.sent.length).toBeGreaterThanOrEqual(3);
  });

  test("T66 gas dearer than the cap is waited out before anything is signed", async () => {
    const { signer, deps, submit, look } = openLane();
    await submit("deploy:a:1");
    await lookAtLane({ ...deps, limits: { ...DEFAULT_LANE_LIMITS, maxFeePerGas: 99n } });
    expect(signer.signed).toEqual([]);
    await look();
    expect(signer.signed.length).toBe(1);
  });

  test("T66 no replacement offers more than the cap", async () => {
    const { signer, clock, deps, submit } = openLane();
    const capped = { ...deps, limits: { ...DEFAULT_LANE_LIMITS, maxFeePerGas: 110n } };
    await submit("deploy:a:1");
    await lookAtLane(capped);
    clock.advance(10 * DEFAULT_LANE_LIMITS.replaceAfterMs);
    await lookAtLane(capped);
    expect(signer.signed.length).toBe(1);
  });

  test("an underpriced transaction is replaced after a while although no node took it", async () => {
    const { node, signer, clock, submit, look } = openLane();
    await submit("deploy:a:1");
    node.refuseNext("underpriced");
    await look();
    clock.advance(DEFAULT_LANE_LIMITS.replaceAfterMs);
    await look();
    expect(signer.signed).toEqual(["0|0x01|100", "0|0x01|113"]);
  });

  test("T117 a nonce that somebody else used is never planned anew", async () => {
    const { node, signer, submit, look } = openLane();
    await submit("deploy:a:1");
    await look();
    node.forgetPool();
    node.pool.set(`0x${"99".repeat(32)}` as never, { nonce: 0, raw: "" });
    node.mine();
    await look();
    await look();
    expect(signer.signed.length).toBe(1);
    expect((await stateOf("deploy:a:1")).state).toBe("assigned");
  });

  test("at most sixteen nonces are open", async () => {
    const { node, submit, look } = openLane();
    for (let i = 0; i < 40; i++) await submit(`deploy:${i}:1`);
    await look();
    expect(node.sent.length).toBe(16);
    node.mine();
    await look();
    await look();
    expect(new Set(node.sent).size).toBe(32);
  });

  test("T61 X4 many workers give every intent one nonce and leave no gap", async () => {
    const { deps, submit, look } = openLane();
    await look();
    for (let i = 0; i < 60; i++) await submit(`deploy:${i}:1`);
    await Promise.all(Array.from({ length: 8 }, () => assignNonces(deps.db, lane, 100)));
    const rows = await database.db
      .selectFrom("transactions")
      .select(["intent", "nonce"])
      .orderBy("nonce")
      .execute();
    expect(rows.map((row) => row.nonce)).toEqual(Array.from({ length: 60 }, (_, i) => i));
    expect(new Set(rows.map((row) => row.intent)).size).toBe(60);
  });
});
