/** `node packages/service/test/solana-fuzz/main.ts [seeds] [rounds] [first seed]`: many fuzz runs of the Solana reader. */
import { runFuzz } from "./run.ts";

const [seeds = 10, rounds = 200, first = 1] = process.argv.slice(2).map(Number);
for (let seed = first; seed < first + seeds; seed += 1) {
  for (const nodes of ["mixed", "persistent", "alone", "streamed"] as const) {
    for (const level of ["finalized", "confirmed"] as const) {
      const result = await runFuzz({ seed, rounds, nodes, level });
      process.stdout.write(`seed ${seed}, ${nodes}, ${level}: ${JSON.stringify(result)}\n`);
    }
  }
}
