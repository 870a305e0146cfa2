/** The API's fuzz suite (threats E) with random cases in each run. */
import { testFuzzedInterface } from "../../test/fuzz/interface.ts";
import { fuzzSeed } from "../../test/fuzz/seed.ts";

testFuzzedInterface({ requests: 10_000, frames: 500, seed: fuzzSeed });
