import type { Config } from "./config.ts";

/** Returns the configuration without some chains and the routes from or to them. */
export function withoutChains(config: Config, left: ReadonlySet<number>): Config {
  if (left.size === 0) return config;
  return {
    ...config,
    chains: config.chains.filter(({ chainId }) => !left.has(chainId)),
    routes: config.routes.filter(
      ({ chainId, destChain }) => !left.has(chainId) && !left.has(destChain),
    ),
  };
}
