import type { ChainKind } from "../core/chain-registry.ts";
import type { Commitment } from "../core/commitment.ts";
import type { Address, Hex, Hex32 } from "../core/hex.ts";

/** An issued deposit address with the preimage of its commitment. */
export interface DepositAddress {
  readonly id: string;
  readonly integratorId: string;
  /** Family of the source chains. */
  readonly family: ChainKind;
  readonly wallet: Address;
  /** `0x` and 40 lower-case hex digits. */
  readonly userId: string;
  /** Bridge chain id. */
  readonly destChain: number;
  readonly destWallet: Address;
  readonly destToken: Address;
  /** Factory contract on EVM chains; on Solana the signer's account that signed the binding. */
  readonly walletRoot: Address;
  readonly commitment: Commitment;
  readonly commitmentHash: Hex32;
  /** The signer's binding of a vault to the commitment; null on EVM chains, where anybody can derive the wallet. */
  readonly proof: Hex | null;
}

/** The key of a deposit address within an integrator and chain family: user id and destination. */
export interface Destination {
  readonly userId: string;
  readonly destChain: number;
  readonly destWallet: Address;
  readonly destToken: Address;
}
