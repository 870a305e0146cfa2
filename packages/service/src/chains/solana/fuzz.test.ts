/** A few short lives of the reader; `npm run fuzz:solana` runs many long ones. */
import { expect, test } from "vitest";
import { runFuzz } from "../../../test/solana-fuzz/run.ts";

test.each([
  [1, "mixed"],
  [2, "persistent"],
  [3, "alone"],
] as const)("every unit is credited once, seed %s, nodes %s", async (seed, nodes) => {
  const result = await runFuzz({ seed, rounds: 40, nodes });
  expect(result.credits).toBeGreaterThan(5);
});
