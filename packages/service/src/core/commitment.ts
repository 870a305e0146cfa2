import type { Hex32 } from "./hex.ts";

/**
 * What a deposit address promises: the preimage of its CREATE2 salt. The wallet stores nothing, so whoever acts on it
 * needs these fields; they are stored once, when the address is issued, and never derived again from configuration.
 */
export interface Commitment {
  /** The integrator's UUID, padded on the left. */
  readonly integrator: Hex32;
  /** The user id, 20 bytes padded on the left. */
  readonly userId: Hex32;
  /** Bridge chain id of the destination. */
  readonly destChain: number;
  readonly destWallet: Hex32;
  /** Zero is the native coin of any family. */
  readonly destToken: Hex32;
  /** Who may take the funds back, on the source's family. */
  readonly refundAuthority: Hex32;
  readonly maxFeeBps: number;
  readonly maxSlippageBps: number;
}

export const COMMITMENT_VERSION = 1;
export const WALLET_KIND = 1;
