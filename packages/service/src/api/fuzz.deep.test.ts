/** Threats E with cases that each run draws for itself. */
import { testFuzzedInterface } from "../../test/fuzz/interface.ts";
import { fuzzSeed } from "../../test/fuzz/seed.ts";

testFuzzedInterface({ requests: 5_000, frames: 500, seed: fuzzSeed });
