/** Reads the file and completes its chains from their presets. */
import { readFileSync } from "node:fs";
import { type Static, Type } from "typebox";
import { Value } from "typebox/value";
import { type CompleteChain, completeChain } from "./chains.ts";
import { resolveDeployment } from "./deployment.ts";
import { type ConfigFile, createConfigFile, DEFAULTS, SETTINGS } from "./file.ts";
import { ConfigError, listProblems } from "./problems.ts";
import type { RouteDefinition } from "./route-definition.ts";

/** File-wide settings that apply to chains. */
const Shared = Type.Object({
  deployment: SETTINGS.deployment,
  contracts: SETTINGS.contracts,
  httpPrices: SETTINGS.httpPrices,
  payoutWindowSeconds: SETTINGS.payoutWindowSeconds,
  chains: SETTINGS.chains,
});

/**
 * Reads the file, and returns its chains with every setting written out.
 * @throws ConfigError with every problem that the schema finds.
 */
export function readConfigFile(
  path: string,
  options: { readonly accountsLater: boolean; readonly definitions: readonly RouteDefinition[] },
): { readonly file: ConfigFile; readonly chains: readonly CompleteChain[] } {
  const parsed = parseFile(path);
  const schema = createConfigFile(options.definitions);
  const problems = listProblems(schema, parsed);
  const chains = Value.Check(Shared, parsed) ? completeChains(parsed, problems, options) : [];
  if (problems.length > 0 || !Value.Check(schema, parsed)) throw new ConfigError(problems);
  return { file: parsed, chains };
}

function parseFile(path: string): unknown {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (cause) {
    const code = cause instanceof Error && "code" in cause ? String(cause.code) : "unreadable";
    throw new ConfigError([
      `--config: expected a readable configuration file at ${path} (${code})`,
    ]);
  }
  try {
    return JSON.parse(text);
  } catch (error) {
    // The parser's message repeats the text, which may contain a secret.
    const at = /line \d+ column \d+/.exec(error instanceof Error ? error.message : "")?.[0];
    throw new ConfigError([`${path}: expected JSON${at ? `, which it is not at ${at}` : ""}`]);
  }
}

/** Completes each chain. A setting that is still missing is a problem of the chain's entry. */
function completeChains(
  {
    chains,
    contracts,
    deployment: written,
    httpPrices = DEFAULTS.httpPrices,
    payoutWindowSeconds = DEFAULTS.payoutWindowSeconds,
  }: Static<typeof Shared>,
  problems: string[],
  { accountsLater }: { readonly accountsLater: boolean },
): readonly CompleteChain[] {
  // `loadConfig` resolves the deployment again and reports its problems.
  const deployment = resolveDeployment(written, payoutWindowSeconds, []);
  return chains.flatMap((chain, index) => {
    const setting = `chains[${index}]`;
    const shared = { contracts, deployment, httpPrices };
    return completeChain(chain, { ...shared, setting, problems, accountsLater }) ?? [];
  });
}
