import { resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { CHAIN_SPECS } from "./chain-specs.ts";
import { SandboxError } from "./errors.ts";
import { DEFAULT_SERVICE_PORTS, type SandboxOptions } from "./sandbox.ts";
import { SOLANA_SPEC } from "./solana/spec.ts";

/** Where the sandbox keeps everything unless told otherwise: `.sluice` beside the root's package.json. */
export const DEFAULT_STATE_DIR = fileURLToPath(new URL("../../../.sluice", import.meta.url));

const [ethereum, base] = CHAIN_SPECS;

/** What --help prints. */
export const HELP = `Usage: npm start -- [options]

Starts three chains, the contracts, test tokens, the service and integrators, plays one deposit from
arrival to delivery, and stays up until Ctrl-C. Started again it goes on from what is there.

  --fresh               throw away what an earlier run left and begin anew
  --state-dir DIR       where everything is kept (default .sluice beside package.json)
  --port PORT           the service (default ${DEFAULT_SERVICE_PORTS.api}, 0 for any)
  --quote-port PORT     its quotes (default ${DEFAULT_SERVICE_PORTS.quote}, 0 for any)
  --telemetry-port PORT its metrics and health (default ${DEFAULT_SERVICE_PORTS.telemetry}, 0 for any)
  --ethereum-port PORT  the node of ethereum (default ${ethereum.defaultPort}, 0 for any)
  --base-port PORT      the node of base (default ${base.defaultPort}, 0 for any)
  --solana-port PORT    the node of solana (default ${SOLANA_SPEC.defaultPort}, 0 for any)
  --anvil FILE          an anvil binary instead of the one from npm
  --exit-after-demo     end after the first delivery
  --help                this text
`;

/** What the command line asks for. */
export type CommandLine =
  | { readonly kind: "help" }
  | {
      readonly kind: "run";
      readonly exitAfterDemo: boolean;
      readonly options: Pick<SandboxOptions, "stateDir" | "fresh" | "ports" | "anvil">;
    };

/** Reads the arguments; a `SandboxError` names the one that is wrong. */
export function parseCommandLine(args: readonly string[]): CommandLine {
  const values = parseOptions(args);
  if (values.help) return { kind: "help" };
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
    throw new SandboxError(`${error.message.split(". ")[0]}: see npm start -- --help`);
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
