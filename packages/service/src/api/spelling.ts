/**
 * Clients of the original service spell what begins with `pay` with a prefix of its vendor. A request that does is
 * answered in the same spelling, so that such a client need not be changed.
 */
import { OperatingError } from "../core/errors.ts";

const OURS = "pay";
const THEIRS = "mps";

type Fields = Readonly<Record<string, unknown>>;

/** A request in our spelling, and how it was sent. */
export interface Spelled {
  readonly request: unknown;
  /** Whether something in it was in theirs. */
  readonly isTheirs: boolean;
  /** The name that a field of ours had in it. */
  readonly nameOf: (field: string) => string;
}

/** Reads a request in either spelling. Where both are given, ours counts. */
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

/** An error about a field of a request, with the name that the field had in it. */
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

/** The fields of an object in their spelling. */
export function toTheirSpelling(fields: Fields): Fields {
  return Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [
      isSpelled(name, OURS) ? respell(name, OURS, THEIRS) : name,
      value,
    ]),
  );
}

/** A prefix, and then a word of its own: `payDeposit`, not `payment`. */
function isSpelled(name: string, prefix: string): boolean {
  return name.startsWith(prefix) && /^[A-Z]/.test(name.slice(prefix.length));
}

function respell(name: string, from: string, to: string): string {
  return to + name.slice(from.length);
}

function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
