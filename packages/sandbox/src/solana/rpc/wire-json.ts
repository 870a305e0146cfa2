/** JSON as a node writes it: integers of 64 bits are bare numbers, however large. */

declare global {
  interface JSON {
    /** A piece of JSON that is written as it stands (ES2026; in Node since 22). */
    rawJSON(text: string): unknown;
  }
}

/** The value as JSON text. */
export function toWireJson(value: unknown): string {
  return JSON.stringify(value, (_key, part: unknown) =>
    typeof part === "bigint" ? JSON.rawJSON(part.toString()) : part,
  );
}
