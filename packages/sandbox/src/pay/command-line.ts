import { resolve } from "node:path";
import { parseArgs } from "node:util";
import { SandboxError } from "../errors.ts";

/** The output of `pay --help`. */
export const PAY_HELP = `Usage: npm run pay -- --from CHAIN --token TOKEN --amount AMOUNT --to CHAIN [options]

Pays a deposit address of the running sandbox, as a customer would: requests a quote, pays its address
from a funded account, and prints every event until the deposit is delivered. The exit code is 0 if it
was delivered, otherwise 1.

  --from CHAIN          source chain, such as ethereum
  --token TOKEN         token to pay: symbol or address, or native
  --amount AMOUNT       amount in whole tokens, such as 25 or 0.5
  --to CHAIN            destination chain, such as base
  --to-token TOKEN      token to deliver (default: the same as --token)
  --recipient ADDRESS   destination wallet (default: a funded account of the destination chain)
  --timeout SECONDS     time to wait for the delivery (default 120)
  --state-dir DIR       state directory of the sandbox (default .sluice in the current folder)
  --help                print this text

Example: npm run pay -- --from ethereum --token USDC --amount 25 --to base
`;

/** The payment that a command line asks for. Names are not resolved: the running sandbox knows chains and tokens. */
export interface PayRequest {
  readonly from: string;
  readonly token: string;
  /** In whole tokens, a decimal string. */
  readonly amount: string;
  readonly to: string;
  readonly toToken?: string;
  readonly recipient?: string;
  readonly timeoutMs: number;
}

/** The parsed command line of `pay`. */
export type PayCommandLine =
  | { readonly kind: "help"; readonly text: string }
  | { readonly kind: "pay"; readonly stateDir: string; readonly request: PayRequest };

const TIMEOUT_S = 120;
const TIMEOUT_MAX_S = 86_400;
const USAGE = "run npm run pay -- --help";

/** Parses the arguments after `pay`. Throws a `SandboxError` that names a missing or invalid one. */
export function parsePayCommandLine(
  args: readonly string[],
  defaultStateDir: string,
): PayCommandLine {
  const values = parseOptions(args);
  if (values.help) return { kind: "help", text: PAY_HELP };
  const { "to-token": toToken, recipient } = values;
  return {
    kind: "pay",
    stateDir: resolve(values["state-dir"] ?? defaultStateDir),
    request: {
      from: demand("--from", "a chain", values.from),
      token: demand("--token", "a token", values.token),
      amount: parseAmount(demand("--amount", "an amount", values.amount)),
      to: demand("--to", "a chain", values.to),
      ...(toToken === undefined ? {} : { toToken }),
      ...(recipient === undefined ? {} : { recipient }),
      timeoutMs: parseTimeout(values.timeout) * 1_000,
    },
  };
}

function parseOptions(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      options: {
        from: { type: "string" },
        token: { type: "string" },
        amount: { type: "string" },
        to: { type: "string" },
        "to-token": { type: "string" },
        recipient: { type: "string" },
        timeout: { type: "string" },
        "state-dir": { type: "string" },
        help: { type: "boolean", short: "h" },
      },
    }).values;
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    throw new SandboxError(`${error.message.split(". ")[0]}: ${USAGE}`);
  }
}

function demand(option: string, expected: string, text: string | undefined): string {
  if (text !== undefined && text !== "") return text;
  throw new SandboxError(`${option} is missing: expected ${expected}; ${USAGE}`);
}

function parseAmount(text: string): string {
  if (/^\d{1,78}(?:\.\d{1,78})?$/.test(text) && /[1-9]/.test(text)) return text;
  throw new SandboxError(`--amount ${text}: expected whole tokens above 0, such as 25 or 0.5`);
}

function parseTimeout(text = String(TIMEOUT_S)): number {
  const seconds = Number(text);
  if (/^\d{1,5}$/.test(text) && seconds >= 1 && seconds <= TIMEOUT_MAX_S) return seconds;
  throw new SandboxError(`--timeout ${text}: expected seconds from 1 to ${TIMEOUT_MAX_S}`);
}
