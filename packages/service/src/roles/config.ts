/** Loads the configuration for every kind of route. */
import { loadConfig as load } from "../config/index.ts";
import type { Config } from "../config/index.ts";
import { ROUTE_DEFINITIONS } from "../routes/index.ts";

/** Loads the configuration. Throws ConfigError with every problem found. */
export function loadConfig(args: Omit<Parameters<typeof load>[0], "definitions">): Config {
  return load({ ...args, definitions: ROUTE_DEFINITIONS });
}
