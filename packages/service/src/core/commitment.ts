import type { Hex32 } from "./hex.ts";

/**
 * The preimage of a deposit address's commitment, which is its CREATE2 salt. The wallet contract stores none of it, so every
 * call on the wallet carries these fields. They are stored when the address is issued and never derived from configuration
 * again.
 */
export interface Commitment {
  /** The integrator's UUID, padded on the left. */
  readonly integrator: Hex32;
  /** The user id, 20 bytes padded on the left. */
  readonly userId: Hex32;
  /** Bridge chain id of the destination. */
  readonly destChain: number;
  readonly destWallet: Hex32;
  /** Zero for the native coin of any family. */
  readonly destToken: Hex32;
  /** The only account that can receive a refund, on the source family. */
  readonly refundAuthority: Hex32;
  readonly maxFeeBps: number;
  readonly maxSlippageBps: number;
}

export const COMMITMENT_VERSION = 1;
export const WALLET_KIND = 1;
