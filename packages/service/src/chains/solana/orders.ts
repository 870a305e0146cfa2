/**
 * What the signer of Solana is asked to do. An order names what is moved and whose it is, never where to: that follows
 * from the commitment. It travels as the data of a call, so that everything between the chain port and the signer stays
 * one family's business.
 */
import type { Commitment } from "../../core/commitment.ts";
import type { Address, Hex, Hex32 } from "../../core/hex.ts";
import type { AttestedPrice, Payout, TokenSource } from "../port/index.ts";

/** An order that moves what is in a vault. */
interface FromVault {
  /** Token accounts of the vault that make up the amount; absent, it is all in the associated one. */
  readonly sources?: readonly TokenSource[];
}

/** An order that ends a lock. */
interface OfLock {
  /** What the lock's account holds, where somebody added to the lock's amount: all of it goes where the lock goes. */
  readonly held?: bigint;
  /** Its account itself changes hands instead, with its rent and all that it holds then. Not of native coin. */
  readonly whole?: true;
}

/** Locks a vault's balance in the escrow until the delivery is paid. */
export interface LockOrder extends FromVault {
  readonly kind: "lock";
  readonly commitment: Commitment;
  /** Mint, or zero for SOL itself. */
  readonly token: Address;
  /** Base units. */
  readonly amount: bigint;
  /** The least that may be delivered for it, in destination base units: at least what the signer computes. */
  readonly minOut: bigint;
  /** What the attestor says the token is worth; null between tokens of one asset. */
  readonly price: AttestedPrice | null;
  /** Unlike any other of this vault and token. */
  readonly seq: bigint;
  /** The destination's `Delivery`, in 32 bytes. */
  readonly delivery: Hex32;
  /** The slot up to which arrivals are counted in the amount. */
  readonly asOf: bigint;
}

/** Takes a lock to the treasury: its delivery was paid. */
export interface ClaimOrder extends OfLock {
  readonly kind: "claim";
  readonly deliveryId: Hex32;
  readonly token: Address;
  /** Base units of the lock. */
  readonly amount: bigint;
  /** Destination base units that were paid. */
  readonly paidAmount: bigint;
  /** Unix seconds after which the signer refuses. */
  readonly deadline: bigint;
  /** The attestor's. */
  readonly signature: Hex;
}

/** Gives a lock back to its vault: its delivery can no longer be paid. */
export interface ReturnOrder extends OfLock {
  readonly kind: "return";
  readonly commitment: Commitment;
  readonly token: Address;
  readonly seq: bigint;
  /** Base units of the lock. */
  readonly amount: bigint;
  /** Unix seconds after which the signer refuses. */
  readonly deadline: bigint;
  /** The attestor's. */
  readonly signature: Hex;
}

/** Pays the committed wallet from inventory, once per delivery id. */
export interface DeliverOrder {
  readonly kind: "deliver";
  readonly order: Payout;
  /** The attestor's. */
  readonly signature: Hex;
}

/** Pays the committed wallet on Solana itself. */
export interface TransferOrder extends FromVault {
  readonly kind: "transfer";
  readonly commitment: Commitment;
  readonly token: Address;
  /** Base units that leave the vault. */
  readonly amount: bigint;
  /** Of these, base units for the treasury: never above the committed cap. */
  readonly fee: bigint;
  readonly asOf: bigint;
}

/** Pays the committed refund authority. */
export interface RefundOrder extends FromVault {
  readonly kind: "refund";
  readonly commitment: Commitment;
  readonly token: Address;
  /** Base units. */
  readonly amount: bigint;
}

export type Order =
  LockOrder | ClaimOrder | ReturnOrder | DeliverOrder | TransferOrder | RefundOrder;

/** How many token accounts an order may name and surely fit with it. */
export const SOURCES_MAX = 2;

/** How many orders of a kind surely fit one transaction. */
export const ORDERS_MAX: Readonly<Record<Order["kind"], number>> = {
  lock: 1,
  claim: 2,
  return: 2,
  deliver: 1,
  transfer: 1,
  refund: 2,
};
