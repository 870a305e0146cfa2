/**
 * Main module of a synthetic chain's process: `main.ts OPTIONS`, with the options of `startSyntheticChain` as JSON, or as the
 * first message of a parent process.
 */
import { runMain } from "../child.ts";
import { startSyntheticChain } from "./chain.ts";
import { parseSyntheticOptions } from "./options.ts";

await runMain(
  "synthetic chain",
  () => process.argv[2] ?? "{}",
  (options) => startSyntheticChain(parseSyntheticOptions(options)),
);
