/** A short life of the reader; `fuzz.deep.test.ts` plays more, `npm run fuzz:solana` as many as wanted. */
import { testSolanaFuzz } from "../../../test/solana-fuzz/define.ts";

testSolanaFuzz([[4, "mixed", "confirmed"]]);
