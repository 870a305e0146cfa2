/**
 * The configuration of one kind of route. Definitions stand in `routes/` and are handed to the loader, so that nothing
 * here knows the kinds.
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

/** How a kind of route is written, read and checked. Each method is given entries and routes of its kind only. */
export interface RouteDefinition<
  Written extends WrittenRoute = WrittenRoute,
  Own extends RouteConfig = RouteConfig,
> {
  readonly kind: Own["kind"];
  /** An entry of the file: one route, or a group of them. */
  readonly schema: TObject;
  /** Settings that one route has and a group has not, beside `chainId`, `token` and `contract`. */
  readonly ofOne: readonly string[];
  /** Whether a file without `routes` has a group of the kind. */
  readonly isDefault: boolean;
  /** The setting that has sweeps carry a price. */
  readonly pricedBy: string;
  /** What the chains of a group without routes lack. */
  readonly groupNeeds: string;
  /** Reads one route; mistakes are added to the problems of the names. */
  resolve(written: Written, source: ChainToken, names: RouteNames): RoutePair<Own>;
  /** Adds the mistakes of a group to the problems of the names. */
  checkGroup(group: Written, chains: readonly ChainConfig[], names: RouteNames): void;
  /** Lists the routes of a group between the given chains. */
  listPairs(group: Written, chains: readonly ChainConfig[]): readonly RoutePair<Own>[];
  /**
   * Derives the contract of a route. Returns null where a chain of the route is not configured, does not list the token,
   * or lacks what the route goes through, and from Solana.
   */
  derive(
    deployment: DeploymentConfig,
    chains: readonly ChainConfig[],
    route: RoutePair<Own>,
  ): Derived | null;
  /** Returns the account whose orders settle a route from Solana, which has no contracts. */
  accountOf(source: SolanaChain): Address;
  /** Lists what does not fit the rest of the configuration, beyond the source and the prices. */
  findContradictions(config: Config, route: Own, setting: string): readonly string[];
}
