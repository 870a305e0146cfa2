/** Formats a value as one line of JSON, with bigints as decimal strings. */
export function toJson(value: object): string {
  return JSON.stringify(value, (_, inner: unknown) =>
    typeof inner === "bigint" ? inner.toString() : inner,
  );
}
