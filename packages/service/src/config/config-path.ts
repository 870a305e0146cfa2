/** Finds the configuration file. */
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { ConfigError } from "./problems.ts";
import type { Environment } from "./secrets.ts";

/** Relative to the working directory, in order of preference. The sandbox writes the second. */
const DEFAULT_PATHS = ["sluice.json", ".sluice/service.json"];

/**
 * Returns the path given by the flag, else by SLUICE_CONFIG, else the first default that exists.
 * @throws ConfigError with the paths tried, if none exists.
 */
export function findConfigPath(flag: string | undefined, env: Environment): string {
  const named = flag ?? env.SLUICE_CONFIG;
  if (named !== undefined) return resolve(named);
  const places = DEFAULT_PATHS.map((path) => resolve(path));
  const found = places.find((path) => existsSync(path));
  if (found !== undefined) return found;
  throw new ConfigError([
    `No configuration: neither --config nor SLUICE_CONFIG is set, and there is no file at ${places.join(" or at ")}.`,
  ]);
}
