/** Types of deposit addresses. Addresses are lower-case hex: 20 bytes on EVM chains, 32 on Solana. */
import type { ChainKind } from "../core/chain-registry.ts";
import type { Commitment } from "../core/commitment.ts";
import type { Address, Hex, Hex32 } from "../core/hex.ts";

/** An issued deposit address with the preimage of its commitment. */
export interface DepositAddress {
  readonly id: string;
  readonly integratorId: string;
  /** Family of the source chains. */
  readonly family: ChainKind;
  /** Receives the deposits: the CREATE2 address of a contract wallet, or a vault. */
  readonly wallet: Address;
  /** The integrator's id of its user: `0x` and 40 lower-case hex digits. */
  readonly userId: string;
  /** Bridge chain id. */
  readonly destChain: number;
  readonly destWallet: Address;
  /** On the destination chain; the zero address stands for its native coin, of 20 or 32 bytes by its family. */
  readonly destToken: Address;
  /** Factory contract on EVM chains; on Solana the signer's account that signed the binding. */
  readonly walletRoot: Address;
  readonly commitment: Commitment;
  readonly commitmentHash: Hex32;
  /** The signer's binding of a vault to the commitment; null on EVM chains, where anybody can derive the wallet. */
  readonly proof: Hex | null;
  /** The routes behind `commitment.routes`; null for an address that commits to none. */
  readonly routeSet: RouteSet | null;
}

/** The routes that may settle an address, beside being listed. Each settlement proves its own to the factory. */
export type RouteSet = readonly CommittedRoute[];

export interface CommittedRoute {
  /** Bridge chain id. */
  readonly chainId: number;
  readonly evmChainId: number;
  readonly route: Address;
}

/**
 * The key of a deposit address within an integrator and chain family: user id and destination. Another recipient or token
 * is another address, since an address delivers to one destination permanently.
 */
export interface Destination {
  readonly userId: string;
  readonly destChain: number;
  readonly destWallet: Address;
  readonly destToken: Address;
}
