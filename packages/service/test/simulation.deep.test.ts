/** The longer part of the simulation: exact replays, the crash points of the lanes, and seeds for some minutes. */
import { expect, test } from "vitest";
import { BASES, listCrashCases, runCrashCase, SOLANA_BASES } from "./simulation/crashes.ts";
import { useSimulations } from "./simulation/databases.ts";
import { runSeed } from "./simulation/run.ts";
import { SOLANA } from "./simulation/stage.ts";

/** For the seeds alone; the other tests take as long again. */
const SECONDS = 60;
/** On a busy machine these seeds take longer than that. */
const SEEDS_MIN = 12;
/** A run that ends late spoils the databases for the next. */
const TIMEOUT_MS = 900_000;
const { databases, collect } = useSimulations();

test("a seed replays exactly, also with repeated queries and other plans of the database", async () => {
  for (const seed of [7, 10, 17, 23, 39]) {
    const runs = await Promise.all(
      databases.map((database, index) =>
        runSeed(database, seed, { asksAll: index > 0, otherPlans: index > 0 }),
      ),
    );
    const [first, second] = runs.map(({ traceHash, steps, marks }) => ({
      traceHash,
      steps,
      marks,
    }));
    expect(second).toEqual(first);
  }
});

test("the same disturbances give the same run", async () => {
  const [one, other] = databases;
  if (!one || !other) throw new Error("two databases are open");
  for (const base of BASES.slice(-2)) {
    expect(await listCrashCases(other, base)).toEqual(await listCrashCases(one, base));
  }
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

test("a process can end at every step of a Solana lane", { timeout: TIMEOUT_MS }, async () => {
  const [database] = databases;
  if (!database) throw new Error("a database is open");
  const cases = [];
  for (const base of SOLANA_BASES) cases.push(...(await listCrashCases(database, base)));
  const onLane = new RegExp(`^settler (${SOLANA}[.]send|(sweep|deliver|claim)[.].*)$`);
  const chosen = cases.filter(({ what }) => onLane.test(what));
  expect(chosen.length).toBeGreaterThan(40);
  expect(await collect(chosen, runCrashCase)).toEqual([]);
});

test(`random seeds pass, for ${SECONDS} seconds`, { timeout: TIMEOUT_MS }, async () => {
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
