import type { Commitment } from "../core/commitment.ts";
import type { Address, Hex32 } from "../core/hex.ts";

/** A deposit address as it was issued, with the preimage of its commitment. */
export interface DepositAddress {
  readonly id: string;
  readonly integratorId: string;
  readonly wallet: Address;
  /** `0x` and 40 lower-case hex digits. */
  readonly userId: string;
  readonly destChain: number;
  readonly destWallet: Address;
  readonly destToken: Address;
  readonly factory: Address;
  readonly commitment: Commitment;
  readonly commitmentHash: Hex32;
}

/** What makes two requests the same address: recipient means destination chain, wallet and token together. */
export interface Recipient {
  readonly userId: string;
  readonly destChain: number;
  readonly destWallet: Address;
  readonly destToken: Address;
}
