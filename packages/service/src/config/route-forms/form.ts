/**
 * One kind of route as the configuration has it: how its entries are written, the routes that they stand for, and where
 * their contracts are. `routes.ts` works for every form and knows none by name.
 */
import type { Address } from "../../core/hex.ts";
import type { ChainConfig } from "../chains.ts";
import type { DeploymentConfig, Derived } from "../deployment.ts";
import type { EvmChain } from "../evm-chain.ts";
import type { SolanaChain } from "../solana-chain.ts";
import type { Given } from "./settings.ts";

/** Where a route begins. */
export interface Source {
  readonly chainId: number;
  readonly token: Address;
}

/** The form of one kind. `Written` is an entry of the file, `Pair` a route without its contract. */
export interface RouteForm<Written, Pair> {
  readonly kind: string;
  /** Settings with which an entry is one route, besides those that every kind has. */
  readonly single: readonly string[];
  /** What a group without routes lacks: completes "expected …". */
  readonly wanted: string;
  /** The setting that makes sweeps of a route carry a price. */
  readonly pricedBy: string;
  /** Whether deliveries are paid from inventory. */
  readonly paysFromInventory: boolean;

  /** Resolves the entry of one route; mistakes are added to the problems. */
  resolve(written: Written, source: Source, setting: string, given: Given): Pair;
  /** Adds to the problems what is wrong with a group on these chains. */
  checkGroup(group: Written, setting: string, given: Given): void;
  /** Lists the routes of a group on these chains. */
  list(group: Written, chains: readonly ChainConfig[]): readonly Pair[];
  /** Derives the contract of a route; null where its chains lack a part of it. */
  derive(
    pair: Pair,
    place: {
      readonly source: EvmChain;
      readonly chains: readonly ChainConfig[];
      readonly deployment: DeploymentConfig;
    },
  ): Derived | null;
  /** The account that stands in the place of a contract on Solana. */
  accountOf(chain: SolanaChain): Address;
  /** Lists what does not fit the rest of the configuration. */
  check(
    pair: Pair,
    setting: string,
    config: {
      readonly chains: readonly ChainConfig[];
      readonly cctp: { readonly apiUrl: string } | undefined;
    },
  ): string[];
}
