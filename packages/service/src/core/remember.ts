/** Remembers the results of reads for a few seconds, so that callers share them. */
import type { Clock } from "./ports.ts";

/** Results that one reader remembers. */
const REMEMBERED_MAX = 10_000;

/**
 * Returns a function that reads once per argument list in `forMs` and shares a pending read. Failures are not remembered.
 * Arguments are plain data.
 */
export function remember<Args extends readonly unknown[], Value>(
  { clock, forMs }: { readonly clock: Clock; readonly forMs: number },
  read: (...args: Args) => Promise<Value>,
): (...args: Args) => Promise<Value> {
  /** The oldest first. */
  const known = new Map<string, { readonly atMs: number; readonly value: Promise<Value> }>();

  function put(name: string, atMs: number, value: Promise<Value>): void {
    known.delete(name);
    known.set(name, { atMs, value });
    const [oldest] = known.keys();
    if (known.size > REMEMBERED_MAX && oldest !== undefined) known.delete(oldest);
  }

  return async (...args) => {
    const name = JSON.stringify(args, (_, value: unknown) =>
      typeof value === "bigint" ? `${value}n` : value,
    );
    const found = known.get(name);
    const nowMs = clock.now();
    // If the clock was set back, a result must not live longer.
    if (found && nowMs >= found.atMs && nowMs - found.atMs < forMs) return found.value;
    const value = read(...args);
    put(name, nowMs, value);
    try {
      return await value;
    } catch (error) {
      if (known.get(name)?.value === value) known.delete(name);
      throw error;
    }
  };
}
