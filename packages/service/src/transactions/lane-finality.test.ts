/** How often a lane asks its node about transactions that wait for finality. */
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { createTestDatabase, type TestDatabase } from "../../test/support/database.ts";
import { openLaneOn } from "../../test/support/lane.ts";
import type { IntentName } from "./types.ts";

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());
beforeEach(async () => {
  await database.pool.query("truncate lanes, transactions, attempts, breaches cascade");
});

/** Opens a lane whose requests to its node are counted, by method. */
function openCountedLane() {
  const lane = openLaneOn(database.db);
  const asked: string[] = [];
  const chain = new Proxy(lane.deps.chain, {
    get(target, name: string) {
      asked.push(name);
      return Reflect.get(target, name) as unknown;
    },
  });
  /** Polls twice a second for a time, and returns how often a method was asked. */
  const pollFor = async (ms: number, method: string) => {
    asked.length = 0;
    for (let at = 0; at < ms; at += 500) {
      await lane.poll({ chain });
      lane.clock.advance(500);
    }
    expect(asked).not.toContain("suggestFees");
    return asked.filter((name) => name === method).length;
  };
  /** Sends a transaction that is mined at once. */
  const mine = async (intent: IntentName) => {
    await lane.submit(intent);
    await lane.poll({ chain });
    lane.node.mine();
    await lane.poll({ chain });
  };
  /** Lets a transaction become final after a time. */
  const finishAfter = async (intent: IntentName, ms: number, block: bigint) => {
    await mine(intent);
    await pollFor(ms, "getFinalNumber");
    lane.node.setFinal(block);
    await pollFor(30_000, "getFinalNumber");
    expect(lane.changes).toContain(`${intent} final`);
  };
  return { ...lane, asked, mine, pollFor, finishAfter };
}

test("ever less often, where it does not know how long finality takes", async () => {
  const { node, clock, changes, mine, poll, pollFor } = openCountedLane();
  await mine("deploy:a:1");
  const count = await pollFor(900_000, "getFinalNumber");
  expect(count).toBeGreaterThan(60);
  expect(count).toBeLessThan(180);
  node.setFinal(5n);
  // A twentieth of the wait, and at most fifteen seconds.
  clock.advance(15_000);
  await poll();
  expect(changes).toContain("deploy:a:1 final");
});

test("rarely until the time that finality takes, and then as often as before", async () => {
  const { node, clock, changes, mine, poll, pollFor, finishAfter } = openCountedLane();
  await finishAfter("deploy:a:1", 780_000, 1n);
  await mine("deploy:b:1");
  // At most doubling delays up to a minute.
  expect(await pollFor(780_000 * 0.9, "getFinalNumber")).toBeLessThan(25);
  // Then every fifteen seconds.
  const late = await pollFor(300_000, "getFinalNumber");
  expect(late).toBeGreaterThanOrEqual(19);
  expect(late).toBeLessThan(24);
  node.setFinal(5n);
  clock.advance(15_000);
  await poll();
  expect(changes).toContain("deploy:b:1 final");
});

test("with the shortest of the last waits in mind, so that finality that stalled once delays nothing [T307]", async () => {
  const { node, clock, changes, mine, poll, pollFor, finishAfter } = openCountedLane();
  await finishAfter("deploy:a:1", 60_000, 1n);
  await finishAfter("deploy:b:1", 600_000, 2n);
  await mine("deploy:c:1");
  await pollFor(70_000, "getFinalNumber");
  node.setFinal(9n);
  clock.advance(4_000);
  await poll();
  expect(changes).toContain("deploy:c:1 final");
});

test("and once for all that are about due, instead of for each", async () => {
  const { mine, pollFor, finishAfter } = openCountedLane();
  await finishAfter("deploy:a:1", 780_000, 1n);
  for (const name of ["b", "c", "d", "e", "f", "g"] as const) {
    await mine(`deploy:${name}:1`);
    await pollFor(5_000, "getFinalNumber");
  }
  await pollFor(780_000, "getFinalNumber");
  // Each of them is due every fifteen seconds.
  expect(await pollFor(150_000, "getFinalNumber")).toBeLessThan(25);
});

test("and sees within twice its age that a block is orphaned [T65, T307]", async () => {
  const { node, clock, changes, mine, poll, pollFor, finishAfter } = openCountedLane();
  await finishAfter("deploy:a:1", 780_000, 1n);
  await mine("deploy:b:1");
  await pollFor(10_000, "getFinalNumber");
  node.takeBack();
  node.passBlock();
  clock.advance(10_000);
  await poll();
  expect(changes).toContain("deploy:b:1 assigned");
});
