import type { ChainKind } from "../core/chain-registry.ts";
import type { Commitment } from "../core/commitment.ts";
import type { Address, Hex, Hex32 } from "../core/hex.ts";

/** A deposit address as it was issued, with the preimage of its commitment. */
export interface DepositAddress {
  readonly id: string;
  readonly integratorId: string;
  /** Of the chains it takes deposits on. */
  readonly family: ChainKind;
  readonly wallet: Address;
  /** `0x` and 40 lower-case hex digits. */
  readonly userId: string;
  readonly destChain: number;
  readonly destWallet: Address;
  readonly destToken: Address;
  readonly factory: Address;
  readonly commitment: Commitment;
  readonly commitmentHash: Hex32;
  /** The signer's word that the wallet is the commitment's, where nobody can compute it; null elsewhere. */
  readonly proof: Hex | null;
}

/** What makes two requests the same address: recipient means destination chain, wallet and token together. */
export interface Recipient {
  readonly userId: string;
  readonly destChain: number;
  readonly destWallet: Address;
  readonly destToken: Address;
}
