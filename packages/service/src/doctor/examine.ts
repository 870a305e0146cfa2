import type { Check, CheckResult } from "../core/check.ts";
import { listEvmChains, listSolanaChains } from "../config/index.ts";
import { checkBackup } from "./backup.ts";
import { checkConfiguration } from "./configuration.ts";
import { checkContracts } from "./contracts.ts";
import { checkDatabase } from "./database.ts";
import { checkEveryChain } from "./every-chain.ts";
import type { DoctorDeps } from "./facts.ts";
import { checkFeeds } from "./feeds.ts";
import { checkGoingLive } from "./going-live.ts";
import { checkLanes } from "./lanes.ts";
import { checkEvmNodes } from "./nodes.ts";
import { checkPrices } from "./prices.ts";
import { checkPublicContracts } from "./public-contracts.ts";
import { runChecks } from "./run.ts";
import { checkSolana } from "./solana.ts";
import { checkSolanaNodes } from "./solana-nodes.ts";
import { checkTokens } from "./tokens.ts";

/** Runs every check of what a running service depends on. Changes nothing. */
export function examine(deps: DoctorDeps): Promise<readonly CheckResult[]> {
  return runChecks(listChecks(deps));
}

/** Lists every check in the groups in which they run. A new check belongs in the group of its subject. */
export function listChecks(deps: DoctorDeps): readonly (readonly Check[])[] {
  const database = checkDatabase(deps);
  const chains = listEvmChains(deps.config).map((chain) => {
    const { all: nodes, identified } = checkEvmNodes(deps, chain);
    const contracts = checkContracts(deps, chain, identified);
    const tokens = checkTokens(deps, chain, identified);
    const feeds = checkFeeds(deps, chain, identified);
    const others = checkPublicContracts(deps, chain, identified);
    const { migrated } = database;
    const lanes = checkLanes(deps, chain, { identified, migrated });
    return {
      chainId: chain.chainId,
      identified,
      factory: contracts.code.factory,
      all: [...nodes, ...contracts.all, ...tokens, ...feeds, ...others, ...lanes],
    };
  });
  const solana = listSolanaChains(deps.config).map((chain) => {
    const { all: nodes, identified } = checkSolanaNodes(deps, chain);
    const all = [...nodes, ...checkSolana(deps, chain, identified)];
    return { chainId: chain.chainId, identified, all };
  });
  const everyChain = checkEveryChain(deps, {
    identified: chains.map(({ identified }) => identified),
    factories: chains.map(({ factory }) => factory),
    migrated: database.migrated,
  });
  const prices = checkPrices(
    deps,
    new Map([...chains, ...solana].map(({ chainId, identified }) => [chainId, identified])),
  );
  return [
    checkConfiguration(deps),
    checkGoingLive(deps),
    [...database.all, ...checkBackup(deps, database.migrated)],
    ...[...chains, ...solana].map(({ all }) => all),
    everyChain,
    prices,
    deps.config.routes.flatMap((route) => deps.moduleOf(route).checkService?.(deps, route) ?? []),
  ];
}
