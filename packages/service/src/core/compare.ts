/** The order of two values, as `toSorted` expects it. Of texts it is that of their code units, as PostgreSQL orders ids. */
export function compare<Value extends bigint | string>(one: Value, other: Value): number {
  return one < other ? -1 : one > other ? 1 : 0;
}
