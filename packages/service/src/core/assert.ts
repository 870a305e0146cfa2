/** A broken assumption of our own: the unit of work stops. Never caught to go on. */
export class Bug extends Error {
  override readonly name = "Bug";
}

/** Throws `Bug` unless the condition holds; the message says what must hold. */
export function assert(condition: unknown, whatMustHold: string): asserts condition {
  if (!condition) throw new Bug(`must hold: ${whatMustHold}`);
}

/** Marks the end of an exhaustive switch; the compiler proves that it is never reached. */
export function assertNever(value: never): never {
  throw new Bug(`unreachable value: ${JSON.stringify(value)}`);
}
