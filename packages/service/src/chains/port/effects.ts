/** What our contracts say that they did, as the logs of a mined transaction or a search on the chain shows it. */
import type { Address, Hex, Hex32, TxHash } from "../../core/hex.ts";

/** What one of our contracts says that it did, read from the logs of a mined transaction. */
export type Effect =
  | { readonly kind: "deployed"; readonly wallet: Address; readonly commitment: Hex32 }
  | {
      readonly kind: "settled";
      readonly wallet: Address;
      readonly token: Address;
      readonly route: Address;
      readonly amount: bigint;
      readonly logIndex: number;
      /** The block up to which it took what had arrived, where the sweep says so. */
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
    } & LockFacts)
  | ({ readonly kind: "delivered" } & DeliveredFacts)
  | { readonly kind: "claimed"; readonly deliveryId: Hex32; readonly amount: bigint }
  | {
      readonly kind: "refunded";
      readonly wallet: Address;
      readonly token: Address;
      readonly to: Address;
      readonly amount: bigint;
    }
  | ({ readonly kind: "burned" } & BurnFacts)
  /** What the bridge's transmitter sent, as it stands on the chain. */
  | { readonly kind: "message_sent"; readonly message: Hex };

/** A wallet's burn for a bridge. */
export interface BurnFacts {
  readonly wallet: Address;
  readonly token: Address;
  /** Base units that were burned. */
  readonly amount: bigint;
  /** Kept of the deposit before the burn. */
  readonly fee: bigint;
  /** The most that the bridge may keep of what was burned. */
  readonly maxFee: bigint;
  /** The bridge's number of the destination. */
  readonly destDomain: number;
  readonly recipient: Hex32;
}

/** What a pool exchanged for a wallet. */
export interface PoolSwapFacts {
  readonly wallet: Address;
  /** Who received what came out. */
  readonly to: Address;
  readonly tokenIn: Address;
  readonly tokenOut: Address;
  /** Base units that went into the pool. */
  readonly amountIn: bigint;
  /** Base units by which the recipient's balance grew. */
  readonly amountOut: bigint;
  /** Kept of the deposit before the swap, in base units of `tokenIn`. */
  readonly fee: bigint;
}

export interface LockFacts {
  readonly wallet: Address;
  readonly commitment: Hex32;
  readonly token: Address;
  readonly amount: bigint;
  readonly minOut: bigint;
  readonly seq: bigint;
  readonly destChain: number;
  readonly delivery: Hex32;
}

export interface DeliveredFacts {
  readonly deliveryId: Hex32;
  readonly commitment: Hex32;
  readonly to: Address;
  readonly token: Address;
  readonly amount: bigint;
}

export type OutflowKind = "swept" | "refunded" | "returned";

/** Value that left a deposit address by one of its two ways out, a sweep or a refund: it takes the whole balance. */
export interface Outflow {
  readonly kind: OutflowKind;
  readonly wallet: Address;
  readonly token: Address;
  /** Base units; below zero where the escrow gave a lock back (`returned`), which is no new deposit. */
  readonly amount: bigint;
  readonly txHash: TxHash;
  /** Position of the log in its block. */
  readonly logIndex: number;
}

/** `claimed`, `returned` to its deposit address, or `taken_back` by its refund authority: the last three are for good. */
export type LockState = "locked" | "claimed" | "returned" | "taken_back";

/** A lock as the escrow holds it. */
export interface Lock extends LockFacts {
  readonly state: LockState;
  /** Unix seconds of the block of the lock. */
  readonly lockedAt: bigint;
  /** What lies in it now, where anybody may add to a lock: what ends it takes all of that. */
  readonly held?: bigint | undefined;
}

/** Value that a refund authority got back from a deposit address. */
export interface FoundRefund {
  readonly to: Address;
  readonly amount: bigint;
  readonly txHash: TxHash;
  readonly blockNumber: bigint;
  /** Position of the log in its block. */
  readonly logIndex: number;
}

/** What a bridge minted for one message, found on its chain by our own reader. */
export interface FoundMint {
  readonly to: Address;
  readonly token: Address;
  /** Base units that the recipient got. */
  readonly amount: bigint;
  /** Kept by the bridge. */
  readonly fee: bigint;
  readonly txHash: TxHash;
  readonly blockNumber: bigint;
}

/** A delivery found on its chain by our own reader. */
export interface FoundDelivery extends DeliveredFacts {
  readonly txHash: TxHash;
  readonly blockNumber: bigint;
}

/** Why an order from a vault would fail, or failed, that met more than it takes: anybody can send some at any time. */
export const MORE_ARRIVED = "more arrived than is final";
