import { ConfigError } from "../../src/config/index.ts";

/** Returns the problems of a configuration, one per line; none for a valid one. */
export function problemsOf(run: () => unknown): readonly string[] {
  try {
    run();
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
  return [];
}
