/** Threats E with the same few cases in every run; `fuzz.deep.test.ts` draws many others each time. */
import { testFuzzedInterface } from "../../test/fuzz/interface.ts";

testFuzzedInterface({ requests: 300, frames: 100, seed: 8 });
