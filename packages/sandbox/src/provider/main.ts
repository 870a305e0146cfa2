/** Main module of `sluice-provider`, and of a provider's own process: it gets its options as the first message. */
import { runMain } from "./child.ts";
import { HELP, parseCommandLine } from "./command-line.ts";
import { startProvider } from "./provider.ts";
import { parseOptions } from "./settings.ts";

const args = process.argv.slice(2);
if (args.includes("--help") || args.includes("-h")) process.stdout.write(HELP);
else {
  await runMain(
    "sluice-provider",
    () => JSON.stringify(parseCommandLine(args)),
    (options) => startProvider(parseOptions(JSON.parse(options))),
  );
}
