import { ConfigError } from "../../src/config/index.ts";

/** What a configuration is refused for, a line each; nothing for one that is taken. */
export function problemsOf(run: () => unknown): readonly string[] {
  try {
    run();
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
  return [];
}
