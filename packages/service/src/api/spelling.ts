/**
 * Some clients of the published interface prefix fields that begin with `pay` with a vendor name. Such a request is answered in the
 * same spelling, so that these clients need no change.
 */
import { OperatingError } from "../core/errors.ts";

const OURS = "pay";
const THEIRS = "mps";

type Fields = Readonly<Record<string, unknown>>;

/** A request in our spelling, and its original spelling. */
export interface Spelled {
  readonly request: unknown;
  /** Whether any field was in their spelling. */
  readonly isTheirs: boolean;
  /** Returns the name that a field had in the request. */
  readonly nameOf: (field: string) => string;
}

/** Reads a request in either spelling. If both are given, ours counts. */
export function readSpelling(request: unknown): Spelled {
  const asItIs = { request, isTheirs: false, nameOf: (field: string) => field };
  if (!isFields(request)) return asItIs;
  const theirs = Object.keys(request).filter((name) => isSpelled(name, THEIRS));
  if (theirs.length === 0) return asItIs;
  const renamed = theirs.map((name) => [respell(name, THEIRS, OURS), request[name]]);
  return {
    request: { ...Object.fromEntries(renamed), ...request },
    isTheirs: true,
    nameOf(field) {
      const name = isSpelled(field, OURS) ? respell(field, OURS, THEIRS) : field;
      return Object.hasOwn(request, field) ? field : name;
    },
  };
}

/** Returns an error about a field, under the name that the field had in the request. */
export function nameAsSent(thrown: unknown, { nameOf }: Spelled): unknown {
  const field = thrown instanceof OperatingError ? thrown.details?.["field"] : undefined;
  if (!(thrown instanceof OperatingError) || typeof field !== "string") return thrown;
  const name = nameOf(field);
  if (name === field) return thrown;
  const message = thrown.message.startsWith(`${field}:`)
    ? `${name}${thrown.message.slice(field.length)}`
    : thrown.message;
  return new OperatingError(thrown.code, message, {
    details: { ...thrown.details, field: name },
    cause: thrown,
  });
}

/** Converts the fields of an object to their spelling. */
export function toTheirSpelling(fields: Fields): Fields {
  return Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [
      isSpelled(name, OURS) ? respell(name, OURS, THEIRS) : name,
      value,
    ]),
  );
}

/** A prefix followed by a capitalised word: `payDeposit`, not `payment`. */
function isSpelled(name: string, prefix: string): boolean {
  return name.startsWith(prefix) && /^[A-Z]/.test(name.slice(prefix.length));
}

function respell(name: string, from: string, to: string): string {
  return to + name.slice(from.length);
}

function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
