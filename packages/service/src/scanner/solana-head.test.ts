/** The scanner at the head of a Solana chain, over real HTTP: it keeps up with few requests. */
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type Cluster, type ClusterOptions, startCluster } from "../../test/rpc/solana-cluster.ts";
import { createSolanaScanner } from "../../test/rpc/solana-scanner.ts";
import { createTestDatabase, type TestDatabase } from "../../test/support/database.ts";
import { createStillClock } from "../../test/support/doubles.ts";
import { orderSkip } from "./orders.ts";

const START = 1_000;
type Level = "confirmed" | "finalized";

let database: TestDatabase;
let clusters: Cluster[];
beforeEach(async () => {
  database = await createTestDatabase();
  clusters = [];
});
afterEach(async () => {
  await Promise.all(clusters.map((cluster) => cluster.stop()));
  await database.drop();
});

/** One slot in 25 has no block, and now and then two in a row. */
const isSkipped = (slot: number) => slot % 25 === 7 || slot % 200 === 8;
/** Blocks are up to a quarter of a slot late. */
const jitterOf = (slot: number) => (slot * 37) % 100;

async function open(level: Level, nodes: number, options: Partial<ClusterOptions> = {}) {
  const clock = createStillClock();
  let haltedAtMs = Infinity;
  const chainClock = { ...clock, now: () => Math.min(clock.now(), haltedAtMs) };
  const base = { clock: chainClock, slotMs: 400, slot: START, isSkipped, jitterOf };
  for (let index = 0; index < nodes; index += 1) {
    clusters.push(await startCluster({ ...base, ...options }));
  }
  const [cluster] = clusters;
  if (!cluster) throw new Error("expected a node");
  const { scan, tip } = createSolanaScanner({
    db: database.db,
    urls: clusters.map(({ url }) => url),
    level,
    startBlock: BigInt(cluster.newest("finalized")),
    clock,
  });
  async function poll(): Promise<void> {
    while (await scan());
  }
  return {
    clock,
    cluster,
    tip: async () => Number(await tip()),
    poll,
    halt: () => void (haltedAtMs = clock.now()),
    /** Requests to the node that got most. */
    countRequests: () => Math.max(...clusters.map(({ methods }) => methods.length)),
  };
}

const expectUnavailable = (error: unknown) =>
  expect(error).toMatchObject({ code: "RPC_UNAVAILABLE" });

const LEVELS: readonly Level[] = ["finalized", "confirmed"];

describe.each(LEVELS)("at level %s", (level) => {
  test.each([
    ["every second", 1_000, 1],
    ["at each slot", 400, 1],
    ["every second, from three nodes", 1_000, 3],
  ])("a scanner that polls %s sends at most 1.1 requests per slot", async (_, pollMs, nodes) => {
    const { clock, cluster, tip, poll, countRequests } = await open(level, nodes);
    const pollFor = async (ms: number, onPoll: () => Promise<void>) => {
      for (let at = 0; at < ms; at += pollMs) {
        clock.advance(pollMs);
        await poll();
        await onPoll();
      }
    };
    await poll();
    await pollFor(20_000, async () => undefined);
    const from = { slot: cluster.newest(level), requests: countRequests() };
    let lag = 0;
    let idlePolls = 0;
    let before = await tip();
    await pollFor(120_000, async () => {
      const now = await tip();
      if (now === before) idlePolls += 1;
      before = now;
      lag = Math.max(lag, cluster.countBlocks(now, cluster.newest(level)));
    });
    const slots = cluster.newest(level) - from.slot;
    expect(slots).toBeGreaterThan(290);
    expect((countRequests() - from.requests - idlePolls) / slots).toBeLessThanOrEqual(1.1);
    expect(idlePolls / slots).toBeLessThan(0.1);
    expect(lag).toBeLessThanOrEqual(3);
  });

  test("a block that no node reads is skipped by an operator's order [T262]", async () => {
    // The slot before it has no block.
    const unreadable = START + 33;
    const { clock, tip, poll } = await open(level, 2, {
      isUnreadable: (slot) => slot === unreadable,
    });
    for (let polls = 0; polls < 60; polls += 1) {
      clock.advance(1_000);
      await poll().catch(expectUnavailable);
    }
    expect(await tip()).toBe(unreadable - 2);
    const order = { chainId: 1, operator: "ann", reason: "no node answers for it" };
    await orderSkip(database.db, { ...order, block: BigInt(unreadable) });
    await poll();
    expect(await tip()).toBeGreaterThan(unreadable + 20);
  });

  test("a poll of a halted chain costs one request, and a few check the tip", async () => {
    const { clock, cluster, halt, tip, poll, countRequests } = await open(level, 1);
    await poll();
    for (let polls = 0; polls < 10; polls += 1) {
      clock.advance(1_000);
      await poll();
    }
    halt();
    await poll();
    await poll();
    expect(await tip()).toBe(cluster.newest(level));
    const before = countRequests();
    for (let polls = 0; polls < 100; polls += 1) {
      clock.advance(200);
      await poll();
    }
    expect((countRequests() - before) / 100).toBeLessThanOrEqual(1.35);
  });
});
