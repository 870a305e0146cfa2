/** Short lives of the Solana reader as tests. */
import { expect, test } from "vitest";
import { type Level, type Nodes, runFuzz } from "./run.ts";

/** Defines one test per life: its seed, its nodes, and whose blocks are walked. */
export function testSolanaFuzz(lives: readonly (readonly [number, Nodes, Level])[]): void {
  test.each(lives)(
    "every unit is credited once, seed %s, nodes %s, %s",
    { timeout: 240_000 },
    async (seed, nodes, level) => {
      const result = await runFuzz({ seed, rounds: 30, nodes, level });
      expect(result.credits).toBeGreaterThan(5);
      // Else what leaves the chain would not be played.
      expect(result.orphans > 0).toBe(level === "confirmed");
    },
  );
}
