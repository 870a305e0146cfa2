/**
 * The simulation as part of the tests: as many seeds as fit into some minutes, the seeds that once broke, and the crash
 * points of the lanes. `npm run simulate` runs any number.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { BASES, listCrashCases, runCrashCase, SOLANA_BASES } from "./simulation/crashes.ts";
import type { RouteChoice } from "./simulation/faults.ts";
import { runSeed } from "./simulation/run.ts";
import {
  type SimulationDatabase,
  type SimulationServer,
  startServer,
} from "./simulation/server.ts";
import { SOLANA } from "./simulation/stage.ts";

/** For the seeds alone; the rest of the file takes as long again. */
const SECONDS = 100;
/** On a machine that is too busy for so many in that time, they take longer. */
const SEEDS_MIN = 21;
/** What ends late spoils the databases for what follows. */
const TIMEOUT_MS = 900_000;
const AT_ONCE = 2;

let server: SimulationServer;
let databases: SimulationDatabase[];

beforeAll(async () => {
  server = await startServer();
  databases = [];
  for (let i = 0; i < AT_ONCE; i++) databases.push(await server.open());
});
afterAll(async () => {
  for (const database of databases) await database.close();
  await server.stop();
});

/** Works through a list with all databases, and collects what is not null. */
async function collect<T>(
  items: Iterable<T>,
  work: (database: SimulationDatabase, item: T) => Promise<string | null>,
): Promise<string[]> {
  const iterator = items[Symbol.iterator]();
  const problems: string[] = [];
  const worker = async (database: SimulationDatabase) => {
    for (let next = iterator.next(); !next.done; next = iterator.next()) {
      const problem = await work(database, next.value);
      if (problem !== null) problems.push(problem);
    }
  };
  await Promise.all(databases.map(worker));
  return problems;
}

test("a seed replays exactly, also where the database is asked again what it has said", async () => {
  for (const seed of [7, 10, 17, 23, 39]) {
    const runs = await Promise.all(
      databases.map((database, index) => runSeed(database, seed, { asksAll: index > 0 })),
    );
    const [first, second] = runs.map(({ traceHash, steps, marks }) => ({
      traceHash,
      steps,
      marks,
    }));
    expect(second).toEqual(first);
  }
});

test("what is disturbed in the same way goes the same way", async () => {
  const [one, other] = databases;
  if (!one || !other) throw new Error("two databases are open");
  for (const base of BASES.slice(-2)) {
    expect(await listCrashCases(other, base)).toEqual(await listCrashCases(one, base));
  }
});

/** Seeds from before there were routes through pools, Solana, or an operator and latecomers there are kept without them. */
const kept: readonly {
  readonly seed: number;
  readonly why: string;
  readonly routes: RouteChoice;
  readonly swaps?: boolean;
  readonly solana?: boolean;
  readonly refunds?: boolean;
  readonly latecomers?: boolean;
}[] = JSON.parse(readFileSync(join(import.meta.dirname, "simulation/kept-seeds.json"), "utf8"));

test("seeds that once broke hold", async () => {
  const problems = await collect(kept, async (database, kept) => {
    const without = { swaps: false, solana: false, refunds: false, latecomers: false };
    const { seed, why: _, ...options } = kept;
    const { broken } = await runSeed(database, seed, { ...without, ...options });
    return broken && `seed ${seed}: ${broken}`;
  });
  expect(problems).toEqual([]);
});

test(
  "a process may end at every step of a lane and around every commit of a settlement",
  { timeout: TIMEOUT_MS },
  async () => {
    const [database] = databases;
    if (!database) throw new Error("a database is open");
    const cases = [];
    for (const base of BASES) cases.push(...(await listCrashCases(database, base)));
    const chosen = cases.filter(({ what }) => !/write$|^scanner commit$/.test(what));
    expect(chosen.length).toBeGreaterThan(100);
    expect(await collect(chosen, runCrashCase)).toEqual([]);
  },
);

test("a process may end at every step of a lane of Solana", { timeout: TIMEOUT_MS }, async () => {
  const [database] = databases;
  if (!database) throw new Error("a database is open");
  const cases = [];
  for (const base of SOLANA_BASES) cases.push(...(await listCrashCases(database, base)));
  const onLane = new RegExp(`^settler (${SOLANA}[.]send|(sweep|deliver|claim)[.].*)$`);
  const chosen = cases.filter(({ what }) => onLane.test(what));
  expect(chosen.length).toBeGreaterThan(40);
  expect(await collect(chosen, runCrashCase)).toEqual([]);
});

test(`seeds hold, for ${SECONDS} seconds`, { timeout: TIMEOUT_MS }, async () => {
  const endsAt = performance.now() + SECONDS * 1000;
  let count = 0;
  function* seeds() {
    while (performance.now() < endsAt || count < SEEDS_MIN) yield ++count;
  }
  const problems = await collect(seeds(), async (one, seed) => {
    const { broken } = await runSeed(one, seed);
    return broken && `seed ${seed}: ${broken}`;
  });
  console.log(`${count} seeds, ${problems.length} broken`);
  expect(problems).toEqual([]);
});
