/** One short fuzz run of the reader. `fuzz.deep.test.ts` has more, `npm run fuzz:solana` any number. */
import { testSolanaFuzz } from "../../../test/solana-fuzz/define.ts";

testSolanaFuzz([[4, "mixed", "confirmed"]]);
