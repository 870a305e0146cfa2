/**
 * Clients of the original service spell what begins with `pay` with a prefix of its vendor. A request that does is
 * answered in the same spelling, so that such a client need not be changed.
 */
const OURS = "pay";
const THEIRS = "mps";

type Fields = Readonly<Record<string, unknown>>;

/** A request in our spelling, and whether it was in theirs. Where both are given, ours counts. */
export function readSpelling(request: unknown): {
  readonly request: unknown;
  readonly isTheirs: boolean;
} {
  if (!isFields(request)) return { request, isTheirs: false };
  const theirs = Object.keys(request).filter((name) => isSpelled(name, THEIRS));
  if (theirs.length === 0) return { request, isTheirs: false };
  const renamed = theirs.map((name) => [respell(name, THEIRS, OURS), request[name]]);
  return { request: { ...Object.fromEntries(renamed), ...request }, isTheirs: true };
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
