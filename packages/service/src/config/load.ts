/** Loads the configuration. Reports every mistake with its setting; no process starts with a mistake. */
import { dirname } from "node:path";
import { resolveChain } from "./chains.ts";
import { type Config, resolveAttestors, resolveConfig } from "./config.ts";
import { findBadChecksums, findContradictions } from "./contradictions.ts";
import { resolveDeployment } from "./deployment.ts";
import { partsOfExposure } from "./exposure.ts";
import type { SignerName } from "./keys.ts";
import { ConfigError } from "./problems.ts";
import { DEFAULTS } from "./file.ts";
import { readConfigFile } from "./read-file.ts";
import { createReaders, ROLE_NAMES, type RoleName } from "./readers.ts";
import type { RouteDefinition } from "./route-definition.ts";
import { resolveRoutes } from "./routes.ts";
import type { Environment } from "./secrets.ts";

/** The process's environment. No other code reads it. */
export const processEnvironment: Environment = process.env;

/**
 * Loads the configuration. Secrets of roles that the process does not have are not read, and are empty.
 * @throws ConfigError with every problem found.
 */
export function loadConfig(args: {
  readonly path: string;
  readonly env: Environment;
  /** The kinds of routes. */
  readonly definitions: readonly RouteDefinition[];
  /** All roles by default. */
  readonly roles?: readonly RoleName[];
  /** Reads only the keys of one signer, or of `all`. For processes without a role. */
  readonly keysOf?: SignerName | "all";
  /** Whether the accounts of a seed may be missing, for commands that run before it is created; by default with `all`. */
  readonly accountsLater?: boolean;
}): Config {
  const { path, env, definitions, roles = ROLE_NAMES, keysOf } = args;
  const { accountsLater = keysOf === "all" } = args;
  const { file, chains: complete } = readConfigFile(path, { accountsLater, definitions });
  const { signers } = file;
  const readers = createReaders({ folder: dirname(path), env, signers, roles, keysOf });
  const { problems } = readers;
  const readKey = readers.keysOf("settler");
  const readSecret = readers.secretsOf("scanner", "settler", "attestor", "quoter", "api");
  const attestors = resolveAttestors(file);
  const exposureParts = partsOfExposure(attestors);
  const chains = complete.map((chain, index) =>
    resolveChain(chain, `chains[${index}]`, { readKey, readSecret, exposureParts, problems }),
  );
  const { payoutWindowSeconds = DEFAULTS.payoutWindowSeconds } = file;
  const deployment = resolveDeployment(file.deployment, payoutWindowSeconds, problems);
  const placed = resolveRoutes(file.routes, { chains, deployment, definitions, problems });
  const routes = placed.map(({ route }) => route);
  const config = resolveConfig(file, { chains, deployment, routes, attestors }, readers);
  problems.push(
    ...findBadChecksums(file),
    ...findContradictions(config, placed, { definitions, accountsLater }),
  );
  if (problems.length > 0) throw new ConfigError([...new Set(problems)]);
  return config;
}
