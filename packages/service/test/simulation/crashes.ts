/**
 * Exhaustive crash points: runs a seed without faults once to number its durable effects (statements and commits that
 * write, bytes sent to a node, the points between them), then once more for each effect and each way to disturb it.
 */
import { NO_FAULTS, type RouteChoice } from "./faults.ts";
import { DISTURBANCES, type Disturbance } from "./lives.ts";
import { type RunOptions, runSeed } from "./run.ts";
import type { SimulationDatabase } from "./server.ts";

/** A seed without faults. */
export interface Base {
  readonly seed: number;
  readonly routes: RouteChoice;
  /** Whether there are pool swaps. */
  readonly swaps?: boolean;
  /** Whether Solana is included. */
  readonly solana?: boolean;
}

/**
 * Seeds whose payments together take every path: to the same chain and to the other one by each route, in a token and in
 * native coin. Chosen for short runs.
 */
export const BASES: readonly Base[] = [
  { seed: 25, routes: ["SWIFT"] },
  { seed: 21, routes: ["SWIFT"] },
  { seed: 41, routes: ["SWIFT"] },
  { seed: 3, routes: ["FAST_MCTP"] },
];

/** From Solana, to Solana, and within it. */
export const SOLANA_BASES: readonly Base[] = [
  { seed: 61, routes: ["SWIFT"], solana: true },
  { seed: 80, routes: ["SWIFT"], solana: true },
  { seed: 60, routes: ["SWIFT"], solana: true },
];

/** The same with a pool swap: from a token to coin, before the bridge, and from coin to a token. */
export const SWAP_BASES: readonly Base[] = [
  { seed: 26, routes: ["FAST_MCTP"], swaps: true },
  { seed: 33, routes: ["FAST_MCTP"], swaps: true },
  { seed: 39, routes: ["FAST_MCTP"], swaps: true },
];

const BASE: RunOptions = { faults: NO_FAULTS, payments: 1, safetyMs: 30_000 };

/** One way to disturb one effect of a seed. */
export interface CrashCase extends Base {
  /** Running number of the effect in the seed. */
  readonly number: number;
  readonly what: string;
  readonly disturbance: Disturbance;
}

/** Lists every way to disturb a base seed. Throws if the seed itself fails. */
export async function listCrashCases(
  database: SimulationDatabase,
  base: Base,
): Promise<CrashCase[]> {
  const effects: string[] = [];
  const { broken } = await runSeed(database, base.seed, {
    ...BASE,
    routes: base.routes,
    swaps: base.swaps ?? false,
    solana: base.solana ?? false,
    disturb(what) {
      effects.push(what);
      return null;
    },
  });
  if (broken) throw new Error(`seed ${base.seed} breaks by itself: ${broken}`);
  return effects.flatMap((what, index) =>
    // At a point between two effects a process can only end.
    DISTURBANCES.filter((one) => one === "before" || /(write|commit|send)$/.test(what)).map(
      (disturbance) => ({ ...base, number: index + 1, what, disturbance }),
    ),
  );
}

/** Returns the broken invariant, or null. Throws if the effect was not reached, since then nothing was tested. */
export async function runCrashCase(
  database: SimulationDatabase,
  { seed, routes, swaps = false, solana = false, number, what, disturbance }: CrashCase,
): Promise<string | null> {
  let met: string | null = null;
  const { broken } = await runSeed(database, seed, {
    ...BASE,
    routes,
    swaps,
    solana,
    disturb(name, at) {
      if (at !== number) return null;
      met = name;
      return disturbance;
    },
  });
  if (met !== what) throw new Error(`effect ${number} of seed ${seed} is ${met}, not ${what}`);
  return (
    broken &&
    `seed ${seed} by ${routes.join()}, ${disturbance} effect ${number}, ${what}: ${broken}`
  );
}
