/** JSON-RPC 2.0 on the wire: requests as they come in, responses as bytes. */
import { asRecord } from "../json-file.ts";
import type { RefusalError } from "./refusal.ts";

export type CallId = string | number | null;

export interface Call {
  readonly id: CallId;
  readonly method: string;
  readonly params: readonly unknown[];
}

/** A request: one call, or a batch of them. */
export interface Message {
  readonly batch: boolean;
  readonly calls: readonly Call[];
}

/** Parses a request body; undefined for any other text. */
export function parseMessage(text: string): Message | undefined {
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    return undefined;
  }
  const items: readonly unknown[] = Array.isArray(body) ? body : [body];
  const calls = items.map(parseCall);
  const valid = calls.filter((call) => call !== undefined);
  if (valid.length === 0 || valid.length < calls.length) return undefined;
  return { batch: Array.isArray(body), calls: valid };
}

function parseCall(item: unknown): Call | undefined {
  const record = asRecord(item);
  const method = record?.["method"];
  if (typeof method !== "string") return undefined;
  const id = record?.["id"];
  const params = record?.["params"];
  return {
    id: typeof id === "string" || typeof id === "number" ? id : null,
    method,
    params: Array.isArray(params) ? params : [],
  };
}

/** Returns the bytes of a request for one call. */
export function writeCall({ id, method, params }: Call): string {
  return JSON.stringify({ jsonrpc: "2.0", id, method, params });
}

/** Returns the bytes of a response with a result. */
export function writeResult(id: CallId, result: unknown): Buffer {
  return Buffer.from(JSON.stringify({ jsonrpc: "2.0", id, result }));
}

/** Returns the bytes of a response with an error. */
export function writeError(id: CallId, error: RefusalError): Buffer {
  return Buffer.from(JSON.stringify({ jsonrpc: "2.0", id, error }));
}

const COMMA = Buffer.from(",");

/** Returns the bytes of a batch response, from the bytes of its items. */
export function joinBatch(items: readonly Buffer[]): Buffer {
  const parts = items.flatMap((item, index) => (index === 0 ? [item] : [COMMA, item]));
  return Buffer.concat([Buffer.from("["), ...parts, Buffer.from("]")]);
}

/** Returns the number of times a text occurs in a response, without parsing it. */
export function countIn(body: Buffer, text: string): number {
  let count = 0;
  for (let at = body.indexOf(text); at !== -1; at = body.indexOf(text, at + text.length)) {
    count += 1;
  }
  return count;
}

/** Returns a quantity such as `"number":"0x10"` at its first occurrence in a response; undefined without one. */
export function quantityIn(body: Buffer, field: string): number | undefined {
  const start = `"${field}":"0x`;
  const at = body.indexOf(start);
  if (at === -1) return undefined;
  const from = at + start.length - 2;
  const value = Number(body.toString("latin1", from, body.indexOf('"', from)));
  return Number.isSafeInteger(value) ? value : undefined;
}

/** Returns a number as a quantity in hex. */
export function toQuantity(value: number): string {
  return `0x${value.toString(16)}`;
}

/** Parses a quantity in hex; undefined for any other value, such as a block tag. */
export function parseQuantity(value: unknown): number | undefined {
  return typeof value === "string" && /^0x[0-9a-f]{1,13}$/i.test(value) ? Number(value) : undefined;
}
