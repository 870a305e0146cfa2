/** `sluice-provider`: starts a provider and runs until it is told to stop. */
import { SandboxError } from "../errors.ts";
import { HELP, parseCommandLine } from "./command-line.ts";
import { startProvider } from "./provider.ts";

async function run(args: readonly string[]): Promise<void> {
  const command = parseCommandLine(args);
  if (command.kind === "help") {
    process.stdout.write(HELP);
    return;
  }
  const provider = await startProvider(command.options);
  process.stdout.write(`${provider.url} answers for ${command.options.upstream}\n`);
  for (const signal of ["SIGTERM", "SIGINT"] as const) {
    process.once(signal, () => void provider.close());
  }
}

try {
  await run(process.argv.slice(2));
} catch (error) {
  if (!(error instanceof SandboxError)) throw error;
  process.stderr.write(`sluice-provider: ${error.message}\n`);
  process.exitCode = 1;
}
