import { type Hex32, toHex32 } from "./hex.ts";

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
  /** Root of the set of routes that may settle the address; zero leaves them to the owner's list alone. */
  readonly routes: Hex32;
  /** Bit 0 allows a settlement without the operator; every other bit is zero. */
  readonly flags: number;
}

/** `routes` of an address that only the owner's list of routes governs. */
export const NO_ROUTE_SET = toHex32(`0x${"0".repeat(64)}`);
/** Bit of `flags` that allows a settlement without the operator. */
export const UNATTENDED = 1;
/** The last two fields of an address without a set of routes and without settlements that nobody attends. */
export const GOVERNED = { routes: NO_ROUTE_SET, flags: 0 } as const;

export const COMMITMENT_VERSION = 1;
export const WALLET_KIND = 1;

/** Source of an address's routes: its commitment (`fixed`), or the list of the contracts' owner (`governed`). */
export const ROUTE_TERMS = ["fixed", "governed"] as const;
export type RouteTerms = (typeof ROUTE_TERMS)[number];

/** The choices of an address that a request may make. Absent ones are the integrator's. */
export interface AddressTerms {
  /** `fixed` commits the address to the present routes, `governed` leaves them to the contracts' owner. */
  readonly routes?: RouteTerms | undefined;
  /** Whether anybody may settle the address without the operator, after an announcement. */
  readonly unattended?: boolean | undefined;
}
