/**
 * The simulation as part of `npm test`: the seeds that once failed, and some fresh ones. The rest is in
 * `simulation.deep.test.ts`; `npm run simulate` runs any number.
 */
import { randomInt } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { useSimulations } from "./simulation/databases.ts";
import type { RouteChoice } from "./simulation/faults.ts";
import { runSeed } from "./simulation/run.ts";

const FRESH_SEEDS = 10;
/** A run that ends late spoils the databases for the next. */
const TIMEOUT_MS = 900_000;
const simulations = useSimulations();

/** Seeds from before pool swaps, Solana, Solana's operator, late deposits or floods run without them; later ones as drawn. */
const kept: readonly {
  readonly seed: number;
  readonly why: string;
  readonly isDrawn?: boolean;
  readonly routes?: RouteChoice;
  readonly swaps?: boolean;
  readonly solana?: boolean;
  readonly refunds?: boolean;
  readonly latecomers?: boolean;
  readonly floods?: boolean;
}[] = JSON.parse(readFileSync(join(import.meta.dirname, "simulation/kept-seeds.json"), "utf8"));

test("seeds that failed before pass", { timeout: TIMEOUT_MS }, async () => {
  const problems = await simulations.collect(kept, async (database, kept) => {
    const without = {
      swaps: false,
      solana: false,
      refunds: false,
      latecomers: false,
      floods: false,
    };
    const { seed, why: _, isDrawn, ...options } = kept;
    const { broken } = await runSeed(database, seed, isDrawn ? {} : { ...without, ...options });
    return broken && `seed ${seed}: ${broken}`;
  });
  expect(problems).toEqual([]);
});

test(`${FRESH_SEEDS} fresh seeds pass`, { timeout: TIMEOUT_MS }, async () => {
  const first = randomInt(1, 2 ** 31);
  console.log(`npm run simulate -- --seeds ${FRESH_SEEDS} --from ${first}`);
  const seeds = Array.from({ length: FRESH_SEEDS }, (_, index) => first + index);
  const problems = await simulations.collect(seeds, async (database, seed) => {
    const { broken } = await runSeed(database, seed);
    return broken && `seed ${seed}: ${broken}`;
  });
  expect(problems).toEqual([]);
});
