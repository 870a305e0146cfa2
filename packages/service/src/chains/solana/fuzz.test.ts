/** A few short lives of the reader; `npm run fuzz:solana` runs many long ones. */
import { expect, test } from "vitest";
import { runFuzz } from "../../../test/solana-fuzz/run.ts";

test.each([
  [1, "mixed", "finalized"],
  [2, "persistent", "finalized"],
  [3, "alone", "finalized"],
  [4, "mixed", "confirmed"],
  [5, "persistent", "confirmed"],
  [11, "alone", "confirmed"],
] as const)(
  "every unit is credited once, seed %s, nodes %s, %s",
  async (seed, nodes, level) => {
    const result = await runFuzz({ seed, rounds: 30, nodes, level });
    expect(result.credits).toBeGreaterThan(5);
    // Else what leaves the chain would not be played.
    expect(result.orphans > 0).toBe(level === "confirmed");
  },
  240_000,
);
