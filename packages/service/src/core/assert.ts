/** A broken invariant of our own code. Stops the unit of work; no code catches it to continue. */
export class Bug extends Error {
  override readonly name = "Bug";
}

/** Throws `Bug` unless the condition holds; `invariant` states what must hold. */
export function assert(condition: unknown, invariant: string): asserts condition {
  if (!condition) throw new Bug(`must hold: ${invariant}`);
}

/** Ends an exhaustive switch. The compiler rejects it unless every case is handled. */
export function assertNever(value: never): never {
  throw new Bug(`unreachable value: ${JSON.stringify(value)}`);
}
