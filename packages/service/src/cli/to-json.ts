/** As JSON on one line: amounts and block numbers as decimal strings. */
export function toJson(value: object): string {
  return JSON.stringify(value, (_, inner: unknown) =>
    typeof inner === "bigint" ? inner.toString() : inner,
  );
}
