/** Effects of the service's contracts, found in the logs of a transaction or by a search on the chain. */
import type { Address, Hex, Hex32, TxHash } from "../../core/hex.ts";
import type { RefundReason } from "../../core/refund-reason.ts";

/** One effect, read from the logs of a mined transaction. */
export type Effect =
  | { readonly kind: "deployed"; readonly wallet: Address; readonly commitment: Hex32 }
  | {
      readonly kind: "settled";
      readonly wallet: Address;
      readonly token: Address;
      readonly route: Address;
      readonly amount: bigint;
      readonly logIndex: number;
      /** The sweep took arrivals up to this block; undefined where the sweep does not state it. */
      readonly upTo?: bigint | undefined;
    }
  | {
      readonly kind: "transferred";
      readonly wallet: Address;
      readonly token: Address;
      readonly to: Address;
      readonly amount: bigint;
      readonly fee: bigint;
    }
  | ({ readonly kind: "swapped" } & PoolSwapFacts)
  | ({
      readonly kind: "locked";
      readonly escrow: Address;
      readonly deliveryId: Hex32;
      readonly wallet: Address;
      /** Unix seconds. */
      readonly lockedAt: bigint;
    } & LockFacts)
  | ({ readonly kind: "delivered" } & DeliveredFacts)
  | { readonly kind: "claimed"; readonly deliveryId: Hex32; readonly amount: bigint }
  | {
      readonly kind: "unattended";
      readonly wallet: Address;
      readonly token: Address;
      readonly amount: bigint;
    }
  | {
      readonly kind: "refunded";
      readonly wallet: Address;
      readonly token: Address;
      readonly to: Address;
      readonly amount: bigint;
      /** Null for a refund that the authority made itself, or on Solana asked for. */
      readonly reason: RefundReason | null;
    }
  | ({ readonly kind: "burned" } & BurnFacts)
  /** The bridge message that the transmitter emitted. */
  | { readonly kind: "message_sent"; readonly message: Hex };

/** A wallet's burn for a bridge. */
export interface BurnFacts {
  readonly wallet: Address;
  readonly token: Address;
  /** Base units that were burned. */
  readonly amount: bigint;
  /** Base units of the deposit kept before the burn. */
  readonly fee: bigint;
  /** The most that the bridge may keep of the burned amount, in base units. */
  readonly maxFee: bigint;
  /** The bridge's number of the destination. */
  readonly destDomain: number;
  readonly recipient: Hex32;
}

/** A pool swap of a deposit. */
export interface PoolSwapFacts {
  readonly wallet: Address;
  /** The recipient of the output. */
  readonly to: Address;
  readonly tokenIn: Address;
  readonly tokenOut: Address;
  /** Base units that went into the pool. */
  readonly amountIn: bigint;
  /** Base units by which the recipient's balance grew. */
  readonly amountOut: bigint;
  /** Base units of `tokenIn` kept before the pool swap. */
  readonly fee: bigint;
}

/**
 * All facts that determine the payout of a lock: its delivery id is the hash of these with its chain and escrow. Its time is
 * none of them: after a reorg the same lock can be in another block.
 */
export interface LockFacts {
  readonly commitment: Hex32;
  /** The contract that pays it on the destination. */
  readonly delivery: Hex32;
  readonly token: Address;
  readonly amount: bigint;
  /** Least delivered amount in destination base units. */
  readonly minOut: bigint;
  readonly seq: bigint;
}

/** A lock as the chain that pays it files it. */
export interface PaidLock {
  readonly deliveryId: Hex32;
  /** Bridge chain id of the escrow. */
  readonly srcChain: number;
  readonly escrow: Address;
  readonly seq: bigint;
}

export interface DeliveredFacts {
  readonly deliveryId: Hex32;
  readonly commitment: Hex32;
  readonly to: Address;
  readonly token: Address;
  readonly amount: bigint;
}

/** `unattended` is a settlement that somebody else executed, which the commitment allowed. */
export type OutflowKind = "swept" | "refunded" | "returned" | "unattended";

/** Value that left a deposit address in a sweep or refund, which always takes the whole balance. */
export interface Outflow {
  readonly kind: OutflowKind;
  readonly wallet: Address;
  readonly token: Address;
  /** Base units; negative where the escrow returned a lock (`returned`), which is not a new deposit. */
  readonly amount: bigint;
  readonly txHash: TxHash;
  /** Position of the log in its block. */
  readonly logIndex: number;
}

/** State of a lock: `claimed`, `returned` to its deposit address and `taken_back` by its refund authority are terminal. */
export type LockState = "locked" | "claimed" | "returned" | "taken_back";

/** A lock as the escrow holds it. */
export interface Lock extends LockFacts {
  readonly state: LockState;
  /** Unix seconds of the block that holds the lock, at the point of the read. */
  readonly lockedAt: bigint;
  /** Present balance, on a chain where anybody can add to a lock; ending the lock takes all of it. */
  readonly held?: bigint | undefined;
}

/** Value that a refund authority received from a deposit address. */
export interface FoundRefund {
  readonly to: Address;
  readonly amount: bigint;
  readonly txHash: TxHash;
  readonly blockNumber: bigint;
  /** Position of the log in its block. */
  readonly logIndex: number;
}

/** The mint of one bridge message, found on its chain by our own reader. */
export interface FoundMint {
  readonly to: Address;
  readonly token: Address;
  /** Base units that the recipient received. */
  readonly amount: bigint;
  /** Base units that the bridge kept. */
  readonly fee: bigint;
  readonly txHash: TxHash;
  readonly blockNumber: bigint;
}

/** A delivery found on its chain by our own reader. */
export interface FoundDelivery extends DeliveredFacts {
  readonly txHash: TxHash;
  readonly blockNumber: bigint;
}

/** Failure reason: the balance grew after the order was built (dust). Anybody can cause it by sending to a vault. */
export const MORE_ARRIVED = "more arrived than is final";
