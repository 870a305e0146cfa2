/** Computed without asking a node: addresses and ids of commitments, and the calls to our contracts. */
import type { Commitment } from "../../core/commitment.ts";
import type { Address, Hex, Hex32 } from "../../core/hex.ts";
import type { TokenSource } from "./reading.ts";

export interface SettleCall {
  readonly commitment: Commitment;
  readonly token: Address;
  readonly route: Address;
  readonly routeData: Hex;
  /** What was planned with; only a chain whose sweeps name their amount needs it, as the next. */
  readonly amount: bigint;
  readonly asOf?: bigint | undefined;
  readonly sources?: readonly TokenSource[] | undefined;
}

/** Terms of a lock. */
export interface LockTerms {
  /** Null where both sides are the same asset. */
  readonly price: AttestedPrice | null;
  /** The least that is to be delivered, in destination base units; a contract computes it itself. */
  readonly minOut: bigint;
  /** Unlike any other of the wallet and token; a contract counts itself. */
  readonly seq: bigint;
  /** The destination's `Delivery`. */
  readonly delivery: Hex32;
}

/** A lock to be ended, as far as whoever builds the call must know it; contracts know their locks themselves. */
export interface OpenLock {
  readonly commitment: Commitment;
  readonly token: Address;
  readonly seq: bigint;
  readonly amount: bigint;
  /** As the lock says. */
  readonly held?: bigint | undefined;
  /** Ends it in a way that nobody can hinder by adding to it. Costs more; only where `held` is told. */
  readonly whole?: boolean | undefined;
}

/** The destination leg of a settlement from inventory, as the `Delivery` contract takes it. */
export interface DeliveryOrder {
  readonly commitment: Commitment;
  /** Bridge chain id of the escrow. */
  readonly srcChain: number;
  readonly escrow: Address;
  readonly srcToken: Address;
  readonly seq: bigint;
  /** Destination base units to pay. */
  readonly amount: bigint;
  /** Unix seconds after which the contract refuses. */
  readonly deadline: bigint;
}

/** Proof towards the escrow that a delivery was paid and is final. */
export interface ClaimOrder {
  readonly deliveryId: Hex32;
  /** Destination base units that were paid. */
  readonly paidAmount: bigint;
  /** Unix seconds after which the contract refuses. */
  readonly deadline: bigint;
}

/** Gives a lock back to its deposit address: it can no longer be delivered. */
export interface ReturnOrder {
  readonly deliveryId: Hex32;
  /** Unix seconds after which the contract refuses. */
  readonly deadline: bigint;
}

/** What a route takes out of a deposit, all of it under the committed cap. */
export interface RouteFee {
  /** A share of the deposit, in basis points. */
  readonly bps: number;
  /** On top, in source base units: gas and bridge cost. */
  readonly flat: bigint;
}

/** How a burn is asked for. */
export interface BurnTerms {
  readonly fee: RouteFee;
  /** The most that the bridge may keep of what is burned, in base units. */
  readonly maxFee: bigint;
  /** The bridge's own scale. */
  readonly minFinalityThreshold: number;
}

/** A price as the contracts take it. */
export interface SignedPrice {
  /** Whole destination tokens per whole source token, times 1e18. */
  readonly rate: bigint;
  /** The most it may be used for, in source base units. */
  readonly maxAmount: bigint;
  /** Unix seconds after which the contract refuses. */
  readonly deadline: bigint;
}

/** A price, and the attestor's signature over it. */
export interface AttestedPrice {
  readonly price: SignedPrice;
  readonly signature: Hex;
}

/** How a swap is asked for. */
export interface SwapOrder extends AttestedPrice {
  readonly fee: RouteFee;
  /** The least that must come out; the contract never takes less than the price allows, whatever this says. */
  readonly minOut: bigint;
  /** Unix seconds after which the contract refuses. */
  readonly deadline: bigint;
}

/** How a swap is asked for whose outcome is burned: `fee` is of the deposited token, `maxFee` of what comes out. */
export interface SwapBurnOrder extends SwapOrder, BurnTerms {}

/** A price for one wallet, as the attestor is asked to sign it. */
export interface PriceOrder extends SignedPrice {
  readonly wallet: Address;
  readonly token: Address;
  /** The route's contract, which is what the signature is bound to. */
  readonly route: Address;
}
