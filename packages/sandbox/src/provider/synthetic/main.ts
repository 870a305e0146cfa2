/**
 * Main module of a synthetic chain's process: `main.ts OPTIONS`, with the options of `startSyntheticChain` as JSON, or as the
 * first message of a parent process. It reports its URLs, and ends with SIGTERM or with its parent.
 */
import { once } from "node:events";
import { SandboxError } from "../../errors.ts";
import { startSyntheticChain } from "./chain.ts";
import { parseSyntheticOptions } from "./options.ts";

async function readOptions(): Promise<string> {
  if (!process.connected) return process.argv[2] ?? "{}";
  const [message] = await once(process, "message");
  return String(message);
}

try {
  const chain = await startSyntheticChain(parseSyntheticOptions(await readOptions()));
  const { url, wsUrl } = chain;
  if (process.connected) process.send?.({ url, wsUrl });
  else process.stdout.write(`${url} and ${wsUrl} serve the synthetic chain\n`);
  const stop = () => void chain.close().then(() => process.exit());
  process.once("disconnect", stop);
  for (const signal of ["SIGTERM", "SIGINT"] as const) process.once(signal, stop);
} catch (error) {
  if (!(error instanceof SandboxError)) throw error;
  process.stderr.write(`synthetic chain: ${error.message}\n`);
  process.exit(1);
}
