/** Options of a synthetic chain as JSON, for its own process. */
import { SandboxError } from "../../errors.ts";
import { asRecord } from "../../json-file.ts";
import type { SyntheticChainOptions } from "./chain.ts";
import { parseDeposit } from "./deposits.ts";

const COUNTS = [
  "head",
  "blocksPerSecond",
  "transactionsPerBlock",
  "transfersPerBlock",
  "finalDepth",
  "listedShare",
  "chainId",
  "seed",
  "port",
] as const;

/** Parses options. Throws a `SandboxError` that names an invalid one. */
export function parseSyntheticOptions(text: string): SyntheticChainOptions {
  const record = parseObject(text);
  const refuse = (name: string, expected: string): never => {
    throw new SandboxError(`${name} ${JSON.stringify(record[name])}: expected ${expected}`);
  };
  const parsed = Object.entries(record).map(([name, value]): SyntheticChainOptions => {
    if (COUNTS.some((known) => known === name)) {
      const valid = typeof value === "number" && Number.isFinite(value) && value >= 0;
      return valid ? { [name]: value } : refuse(name, "a number from 0");
    }
    if (name === "host")
      return typeof value === "string" ? { host: value } : refuse(name, "a host");
    if (!Array.isArray(value)) return refuse(name, "an option with a list, or a known option");
    switch (name) {
      case "tokens":
        return { tokens: value.map(String) };
      case "deposits":
        return { deposits: value.map(parseDeposit) };
      case "reorgAt":
        return { reorgAt: value.map(parseReorg) };
      default:
        return refuse(name, "a known option");
    }
  });
  return Object.assign({}, ...parsed);
}

function parseObject(text: string): Readonly<Record<string, unknown>> {
  try {
    const record = asRecord(JSON.parse(text));
    if (record !== undefined) return record;
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
  }
  throw new SandboxError(`${text}: expected the options as a JSON object`);
}

function parseReorg(input: unknown): { readonly at: number; readonly depth: number } {
  const { at, depth } = asRecord(input) ?? {};
  if (typeof at === "number" && typeof depth === "number") return { at, depth };
  throw new SandboxError(`reorgAt ${JSON.stringify(input)}: expected at and depth`);
}
