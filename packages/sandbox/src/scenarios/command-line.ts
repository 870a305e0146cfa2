import { resolve } from "node:path";
import { parseArgs } from "node:util";
import { SandboxError } from "../errors.ts";
import { isScenarioName, SCENARIO_NAMES, SCENARIOS, type ScenarioName } from "./table.ts";

/** The output of `play --help`. */
export const PLAY_HELP = `Usage: npm run play -- NAME [options]

Plays a scenario on the running sandbox and prints each event, until the documented sequence is complete.
The exit code is 0 if the events were those of docs/scenarios.md, otherwise 1.

  --address ADDRESS     a deposit address of yours, for USDC on base (default: a new one)
  --timeout SECONDS     time for the scenario (default 180)
  --state-dir DIR       state directory of the sandbox (default .sluice in the current folder)
  --help                print this text

${SCENARIO_NAMES.map((name) => `  ${name.padEnd(22)} ${SCENARIOS[name].fault}`).join("\n")}
`;

/** The parsed command line of `play`. */
export type PlayCommandLine =
  | { readonly kind: "help"; readonly text: string }
  | {
      readonly kind: "play";
      readonly stateDir: string;
      readonly name: ScenarioName;
      readonly depositAddress?: string;
      readonly timeoutMs: number;
    };

const TIMEOUT_MAX_S = 3_600;
const USAGE = "run npm run play -- --help";

/** Parses the arguments after `play`. Throws a `SandboxError` that names a missing or invalid one. */
export function parsePlayCommandLine(
  args: readonly string[],
  defaultStateDir: string,
): PlayCommandLine {
  const { values, positionals } = parseOptions(args);
  if (values.help) return { kind: "help", text: PLAY_HELP };
  const [name = "", extra] = positionals;
  if (extra !== undefined) throw new SandboxError(`${extra}: expected one scenario; ${USAGE}`);
  if (!isScenarioName(name)) {
    throw new SandboxError(`scenario "${name}": expected one of ${SCENARIO_NAMES.join(", ")}`);
  }
  const { address, timeout = "180" } = values;
  const seconds = Number(timeout);
  if (!/^\d{1,4}$/.test(timeout) || seconds < 1 || seconds > TIMEOUT_MAX_S) {
    throw new SandboxError(`--timeout ${timeout}: expected seconds from 1 to ${TIMEOUT_MAX_S}`);
  }
  return {
    kind: "play",
    stateDir: resolve(values["state-dir"] ?? defaultStateDir),
    name,
    ...(address === undefined ? {} : { depositAddress: address }),
    timeoutMs: seconds * 1_000,
  };
}

function parseOptions(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        address: { type: "string" },
        timeout: { type: "string" },
        "state-dir": { type: "string" },
        help: { type: "boolean", short: "h" },
      },
    });
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    throw new SandboxError(`${error.message.split(". ")[0]}: ${USAGE}`);
  }
}
