/**
 * The configuration of one kind of route. Definitions are in `routes/` and are passed to the loader, so that `config/`
 * does not depend on the kinds.
 */
import type { TObject } from "typebox";
import type { Address } from "../core/hex.ts";
import type { ChainConfig } from "./chains.ts";
import type { Config } from "./config.ts";
import type { DeploymentConfig, Derived } from "./deployment.ts";
import type { ChainToken, RouteConfig, RoutePair } from "./route-config.ts";
import type { RouteNames } from "./route-names.ts";
import type { WrittenRoute } from "./route-schema.ts";
import type { SolanaChain } from "./solana-chain.ts";

/** Schema, resolution and checks of a kind of route. Each method receives only entries and routes of its kind. */
export interface RouteDefinition<
  Written extends WrittenRoute = WrittenRoute,
  Own extends RouteConfig = RouteConfig,
> {
  readonly kind: Own["kind"];
  /** Schema of an entry of the file: one route, or a group of routes. */
  readonly schema: TObject;
  /** Settings of one route that a group does not have, in addition to `chainId`, `token` and `contract`. */
  readonly ofOne: readonly string[];
  /** True if a file without `routes` has a group of this kind. */
  readonly isDefault: boolean;
  /** The setting that makes sweeps carry a price. */
  readonly pricedBy: string;
  /** The requirement, for an error message, that the chains of a group without routes do not meet. */
  readonly groupNeeds: string;
  /** Resolves one route. Adds mistakes to the problems of `names`. */
  resolve(written: Written, source: ChainToken, names: RouteNames): RoutePair<Own>;
  /** Adds the mistakes of a group to the problems of `names`. */
  checkGroup(group: Written, chains: readonly ChainConfig[], names: RouteNames): void;
  /** Lists the routes of a group between the given chains. */
  listPairs(group: Written, chains: readonly ChainConfig[]): readonly RoutePair<Own>[];
  /**
   * Derives the contract of a route. Returns null from Solana, or if a chain of the route is not configured, does not
   * list the token, or lacks the bridge or Uniswap.
   */
  derive(
    deployment: DeploymentConfig,
    chains: readonly ChainConfig[],
    route: RoutePair<Own>,
  ): Derived | null;
  /** Returns the account whose orders settle a route from Solana, which has no contracts. */
  accountOf(source: SolanaChain): Address;
  /** Lists contradictions with the rest of the configuration, except those of the source and the prices. */
  findContradictions(config: Config, route: Own, setting: string): readonly string[];
}
