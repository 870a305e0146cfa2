/** Results of pure functions that are computed several times within minutes, such as the hashes of a settlement. */

/**
 * Returns a function that remembers the results of another for the newest keys. The other one is pure, and the key tells any
 * two arguments with different results apart. What it throws is not remembered.
 */
export function memoize<Args extends readonly unknown[], Result>(
  compute: (...args: Args) => Result,
  keyOf: (...args: Args) => string,
  max: number,
): (...args: Args) => Result {
  /** The oldest first. */
  const known = new Map<string, { readonly result: Result }>();
  return (...args) => {
    const key = keyOf(...args);
    const found = known.get(key);
    if (found) return found.result;
    const result = compute(...args);
    known.set(key, { result });
    const [oldest] = known.keys();
    if (known.size > max && oldest !== undefined) known.delete(oldest);
    return result;
  };
}
