import { resolve } from "node:path";
import { parseArgs } from "node:util";
import { CHAIN_SPECS } from "./chain-specs.ts";
import { SandboxError } from "./errors.ts";
import { type PayCommandLine, parsePayCommandLine } from "./pay/command-line.ts";
import { DEFAULT_CONTROL_PORT, DEFAULT_SERVICE_PORTS, type SandboxOptions } from "./sandbox.ts";
import { parsePlayCommandLine, type PlayCommandLine } from "./scenarios/command-line.ts";
import { SOLANA_SPEC } from "./solana/spec.ts";

/** The default state directory, in the current folder: `npm start` runs in the one of package.json. */
export const DEFAULT_STATE_DIR = resolve(".sluice");

const [ethereum, base] = CHAIN_SPECS;

/** The output of --help. */
export const HELP = `Usage: npm start -- [options]
       npm run pay -- --from CHAIN --token TOKEN --amount AMOUNT --to CHAIN   (--help for more)
       npm run play -- NAME   (--help for more)

Starts three local chains, deploys the contracts, starts the service, creates integrators, plays one
deposit from payment to delivery, and runs until Ctrl-C. A later start resumes the saved state.
While it runs, \`npm run pay\` plays further deposits between any of its chains and tokens, and
\`npm run play\` plays faults on demand.

  --fresh               delete the saved state and start from scratch
  --state-dir DIR       state directory (default .sluice in the current folder)
  --port PORT           port of the service (default ${DEFAULT_SERVICE_PORTS.api}, 0 for any free port)
  --quote-port PORT     port of the quote service (default ${DEFAULT_SERVICE_PORTS.quote}, 0 for any free port)
  --telemetry-port PORT port of metrics and health (default ${DEFAULT_SERVICE_PORTS.telemetry}, 0 for any free port)
  --console-port PORT   port of the operators' console (default ${DEFAULT_SERVICE_PORTS.console}, 0 for any free port)
  --control-port PORT   port of the control endpoint (default ${DEFAULT_CONTROL_PORT}, 0 for any free port)
  --ethereum-port PORT  port of the ethereum node (default ${ethereum.defaultPort}, 0 for any free port)
  --base-port PORT      port of the base node (default ${base.defaultPort}, 0 for any free port)
  --solana-port PORT    port of the solana node (default ${SOLANA_SPEC.defaultPort}, 0 for any free port)
  --anvil FILE          use this anvil binary instead of the one from npm
  --exit-after-demo     stop after the delivery
  --help                print this text
`;

/** The parsed command line. */
type CommandLine =
  | { readonly kind: "help"; readonly text: string }
  | PayCommandLine
  | PlayCommandLine
  | {
      readonly kind: "run";
      readonly exitAfterDemo: boolean;
      readonly options: Pick<SandboxOptions, "stateDir" | "fresh" | "ports" | "anvil">;
    };

/** Parses the arguments. Throws a `SandboxError` that names an invalid one. */
export function parseCommandLine(args: readonly string[]): CommandLine {
  const [command, ...rest] = args;
  if (command === "pay") return parsePayCommandLine(rest, DEFAULT_STATE_DIR);
  if (command === "play") return parsePlayCommandLine(rest, DEFAULT_STATE_DIR);
  const values = parseOptions(args);
  if (values.help) return { kind: "help", text: HELP };
  return {
    kind: "run",
    exitAfterDemo: values["exit-after-demo"] ?? false,
    options: {
      stateDir: resolve(values["state-dir"] ?? DEFAULT_STATE_DIR),
      fresh: values.fresh ?? false,
      ...(values.anvil === undefined ? {} : { anvil: resolve(values.anvil) }),
      ports: {
        ...parsePort("api", "--port", values.port),
        ...parsePort("quote", "--quote-port", values["quote-port"]),
        ...parsePort("telemetry", "--telemetry-port", values["telemetry-port"]),
        ...parsePort("console", "--console-port", values["console-port"]),
        ...parsePort("control", "--control-port", values["control-port"]),
        ...parsePort("ethereum", "--ethereum-port", values["ethereum-port"]),
        ...parsePort("base", "--base-port", values["base-port"]),
        ...parsePort("solana", "--solana-port", values["solana-port"]),
      },
    },
  };
}

function parseOptions(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      options: {
        fresh: { type: "boolean" },
        "state-dir": { type: "string" },
        port: { type: "string" },
        "quote-port": { type: "string" },
        "telemetry-port": { type: "string" },
        "console-port": { type: "string" },
        "control-port": { type: "string" },
        "ethereum-port": { type: "string" },
        "base-port": { type: "string" },
        "solana-port": { type: "string" },
        anvil: { type: "string" },
        "exit-after-demo": { type: "boolean" },
        help: { type: "boolean", short: "h" },
      },
    }).values;
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    throw new SandboxError(`${error.message.split(". ")[0]}: run npm start -- --help`);
  }
}

function parsePort<Name extends string>(
  name: Name,
  option: string,
  text: string | undefined,
): Partial<Record<Name, number>> {
  if (text === undefined) return {};
  const port = Number(text);
  if (!/^\d{1,5}$/.test(text) || port > 65_535) {
    throw new SandboxError(`${option} ${text}: expected a port from 0 to 65535`);
  }
  const ports: Partial<Record<Name, number>> = {};
  ports[name] = port;
  return ports;
}
