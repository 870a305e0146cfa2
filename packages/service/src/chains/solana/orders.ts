/**
 * Instructions to the Solana signer. An order names the asset and its owner; the recipient follows from the commitment.
 * Orders travel as the data of a call, so that code outside this chain family need not know them.
 */
import type { Commitment } from "../../core/commitment.ts";
import type { Address, Hex, Hex32 } from "../../core/hex.ts";
import type { RefundReason } from "../../core/refund-reason.ts";
import type { AttestedPrice, Payout, TokenSource } from "../port/index.ts";

/** An order that moves a vault's balance. */
interface FromVault {
  /** Token accounts of the vault that add up to the amount. Absent: the associated account holds all of it. */
  readonly sources?: readonly TokenSource[];
}

/** An order that ends a lock. */
interface OfLock {
  /** Balance of the lock's account, if a third party added to it: all of it follows the lock. */
  readonly held?: bigint;
  /** The lock's account changes owner instead, with its rent and whole balance. Never for native coin. */
  readonly whole?: true;
}

/** Locks a vault's balance in the escrow until the delivery is paid. */
export interface LockOrder extends FromVault {
  readonly kind: "lock";
  readonly commitment: Commitment;
  /** Mint, or zero for SOL. */
  readonly token: Address;
  /** Base units. */
  readonly amount: bigint;
  /** Least delivered amount in destination base units; not below the signer's own computation. */
  readonly minOut: bigint;
  /** The attested price; null between tokens of the same asset. */
  readonly price: AttestedPrice | null;
  /** Unique per vault and token. */
  readonly seq: bigint;
  /** Unix seconds from which the payout window counts; not ahead of the signer's clock. */
  readonly lockedAt: bigint;
  /** The `Delivery` contract of the destination, as 32 bytes. */
  readonly delivery: Hex32;
  /** The amount counts arrivals up to this slot. */
  readonly asOf: bigint;
}

/** Releases a lock to the treasury, after its delivery was paid. */
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

/** Releases a lock to its vault, when its delivery can no longer be paid. */
export interface ReturnOrder extends OfLock {
  readonly kind: "return";
  readonly commitment: Commitment;
  readonly token: Address;
  /** Base units of the lock. */
  readonly amount: bigint;
  /** The other facts of the lock, which its id is computed from. */
  readonly minOut: bigint;
  readonly seq: bigint;
  readonly delivery: Hex32;
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
  /** Base units of the amount that go to the treasury; at most the committed cap. */
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
  /** A reason that the signer's own readers and configuration must show; null for a refund that the authority asked for. */
  readonly reason: RefundReason | null;
}

export type Order =
  | LockOrder
  | ClaimOrder
  | ReturnOrder
  | DeliverOrder
  | TransferOrder
  | RefundOrder;

/** Most token accounts of an order that always fit one transaction. */
export const SOURCES_MAX = 2;

/** Most orders of a kind that always fit one transaction. */
export const ORDERS_MAX: Readonly<Record<Order["kind"], number>> = {
  lock: 1,
  claim: 2,
  return: 2,
  deliver: 1,
  transfer: 1,
  refund: 2,
};
