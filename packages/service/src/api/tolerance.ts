/**
 * Accepts values that clients of a quote send in another form with the same meaning: nulls and empty parameters for omitted
 * fields, booleans in other spellings, and numbers with floating-point error.
 */
import type { QuoteRequest } from "@sluice/sdk/wire";

type Fields = Readonly<Record<string, unknown>>;

const SWITCHES: readonly string[] = [
  "payDeposit",
  "payUnattended",
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

/** Returns a request without fields that are null or empty. */
export function dropAbsent(request: unknown): unknown {
  if (!isFields(request)) return request;
  return Object.fromEntries(
    Object.entries(request).filter(([, value]) => value !== null && value !== ""),
  );
}

/** Converts a request to the schema's form. Values that cannot be converted stay, and the schema refuses them. */
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

/** Returns 29 for 28.999999999999996 (0.29 per cent as basis points), as a number or text. */
function readWhole(value: unknown): unknown {
  const isText = typeof value === "string" && /^\d+(\.\d+)?$/.test(value);
  return isText || typeof value === "number" ? Math.round(Number(value)) : value;
}

function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
