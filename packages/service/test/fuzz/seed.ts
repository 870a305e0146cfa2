/** The seed of this run's random cases: drawn and printed, so that `FUZZ_SEED` replays them. */
import { randomInt } from "node:crypto";

export const fuzzSeed = Number(process.env["FUZZ_SEED"] ?? randomInt(1, 2 ** 31));

console.log(`FUZZ_SEED=${fuzzSeed}`);
