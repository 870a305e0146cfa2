/**
 * Main module of a synthetic chain's process: `main.ts [OPTIONS]`, with the options of `startSyntheticChain` as JSON. Prints
 * its URLs as one line of JSON and runs until SIGTERM.
 */
import { SandboxError } from "../../errors.ts";
import { startSyntheticChain } from "./chain.ts";
import { parseSyntheticOptions } from "./options.ts";

try {
  const chain = await startSyntheticChain(parseSyntheticOptions(process.argv[2] ?? "{}"));
  process.stdout.write(`${JSON.stringify({ url: chain.url, wsUrl: chain.wsUrl })}\n`);
  for (const signal of ["SIGTERM", "SIGINT"] as const) {
    process.once(signal, () => void chain.close());
  }
} catch (error) {
  if (!(error instanceof SandboxError)) throw error;
  process.stderr.write(`synthetic chain: ${error.message}\n`);
  process.exitCode = 1;
}
