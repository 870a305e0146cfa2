/** Fuzz runs of the reader: short ones with fixed simulation seeds, longer ones with a fresh seed per run. */
import { expect, test } from "vitest";
import { fuzzSeed } from "../../../test/fuzz/seed.ts";
import { testSolanaFuzz } from "../../../test/solana-fuzz/define.ts";
import { runFuzz } from "../../../test/solana-fuzz/run.ts";

testSolanaFuzz([
  [1, "mixed", "finalized"],
  [2, "persistent", "finalized"],
  [3, "alone", "finalized"],
  [5, "persistent", "confirmed"],
  [12, "alone", "confirmed"],
  [6, "streamed", "finalized"],
  [7, "streamed", "confirmed"],
]);

test.each([
  ["mixed", "finalized"],
  ["persistent", "finalized"],
  ["alone", "finalized"],
  ["mixed", "confirmed"],
  ["persistent", "confirmed"],
  ["alone", "confirmed"],
  ["streamed", "finalized"],
  ["streamed", "confirmed"],
] as const)(
  "every unit is credited once with a fresh simulation seed, nodes %s, commitment level %s",
  { timeout: 600_000 },
  async (nodes, level) => {
    const result = await runFuzz({ seed: fuzzSeed, rounds: 50, nodes, level });
    expect(result.credits).toBeGreaterThan(0);
  },
);
