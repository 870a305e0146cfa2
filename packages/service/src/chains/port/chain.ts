/** The chain port: all that the service does on one chain. */
import type {
  BalancesAtBlock,
  BlockhashSequencing,
  CctpBridge,
  ContractWallets,
  FinalBalances,
  NonceSequencing,
  PayoutSearch,
  Pools,
  PriceFeeds,
  TreasuryContract,
  VaultWallets,
} from "./capabilities.ts";
import type { ChainCodec } from "./codec.ts";
import type { ContractReader } from "./contracts.ts";
import type { GovernanceLog } from "./governance.ts";
import type { ChainReader } from "./reading.ts";
import type { ChainSender } from "./sending.ts";

/** Capabilities that chain families provide differently; null where a chain has none. */
export interface Capabilities {
  readonly sequencing: NonceSequencing | BlockhashSequencing;
  readonly balances: BalancesAtBlock | FinalBalances;
  readonly wallets: ContractWallets | VaultWallets;
  readonly priceFeeds: PriceFeeds | null;
  readonly pools: Pools | null;
  readonly cctp: CctpBridge | null;
  /** Null where a payout is found by its own account. */
  readonly payoutSearch: PayoutSearch | null;
  /** Null where no contract of ours is governed. */
  readonly governance: GovernanceLog | null;
  /** Null where claims are paid to an account that no contract of ours governs. */
  readonly treasury: TreasuryContract | null;
}

/** One chain. */
export interface Chain extends ChainReader, ChainSender, ChainCodec, ContractReader, Capabilities {}

/** The configured chains by bridge id. */
export type Chains = ReadonlyMap<number, Chain>;
