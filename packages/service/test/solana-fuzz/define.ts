/** Short fuzz runs of the Solana reader as tests. */
import { expect, test } from "vitest";
import { type Level, type Nodes, runFuzz } from "./run.ts";

/** Defines one test per run: its seed, its nodes, and the commitment level of the blocks read. */
export function testSolanaFuzz(lives: readonly (readonly [number, Nodes, Level])[]): void {
  test.each(lives)(
    "every unit is credited once, seed %s, nodes %s, %s",
    { timeout: 240_000 },
    async (seed, nodes, level) => {
      const result = await runFuzz({ seed, rounds: 30, nodes, level });
      expect(result.credits).toBeGreaterThan(5);
      // Otherwise the run would contain no orphaned block.
      expect(result.orphans > 0).toBe(level === "confirmed");
    },
  );
}
