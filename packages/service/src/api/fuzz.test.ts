/** The API's fuzz suite (threats E) with a few fixed cases; `fuzz.deep.test.ts` draws many random ones. */
import { testFuzzedInterface } from "../../test/fuzz/interface.ts";

testFuzzedInterface({ requests: 1_000, frames: 100, seed: 8 });
