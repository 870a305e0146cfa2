/** Formats JSON as nodes do: 64-bit integers are plain numbers of any size. */

declare global {
  interface JSON {
    /** Returns a value that is serialized as the given JSON text (ES2026; in Node since 22). */
    rawJSON(text: string): unknown;
  }
}

/** Returns the value as JSON text. */
export function toWireJson(value: unknown): string {
  return JSON.stringify(value, (_key, part: unknown) =>
    typeof part === "bigint" ? JSON.rawJSON(part.toString()) : part,
  );
}
