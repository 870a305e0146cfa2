/**
 * What clients of a quote send in other words than the schema's, and mean the same: nulls and empty parameters for what
 * they leave out, booleans as other languages write them, and numbers that went through floating point.
 */
import type { QuoteRequest } from "@sluice/sdk/wire";

type Fields = Readonly<Record<string, unknown>>;

const SWITCHES: readonly string[] = [
  "payDeposit",
  "swift",
  "mctp",
  "fastMctp",
  "monoChain",
  "wormhole",
  "shuttle",
  "gasless",
  "onlyDirect",
  "fullList",
] satisfies readonly (keyof QuoteRequest)[];

/** A request without the fields that were given as nothing. */
export function dropAbsent(request: unknown): unknown {
  if (!isFields(request)) return request;
  return Object.fromEntries(
    Object.entries(request).filter(([, value]) => value !== null && value !== ""),
  );
}

/** A request in the words of the schema; what cannot be understood stays as it is, for the schema to refuse. */
export function readTolerantly(request: unknown): unknown {
  if (!isFields(request)) return request;
  return Object.fromEntries(
    Object.entries(request).map(([name, value]) => {
      if (SWITCHES.includes(name)) return [name, readSwitch(value)];
      if (name === "slippageBps") return [name, readWhole(value)];
      if (name === "sdkVersion" && typeof value === "number") return [name, String(value)];
      return [name, value];
    }),
  );
}

function readSwitch(value: unknown): unknown {
  if (typeof value === "object") return value;
  const word = String(value).toLowerCase();
  if (word === "true" || word === "1") return true;
  return word === "false" || word === "0" ? false : value;
}

/** 29 where 0.29 per cent came to 28.999999999999996 basis points, as a number or as its text. */
function readWhole(value: unknown): unknown {
  const isText = typeof value === "string" && /^\d+(\.\d+)?$/.test(value);
  return isText || typeof value === "number" ? Math.round(Number(value)) : value;
}

function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
