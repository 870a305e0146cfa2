/** State and effects of the service's contracts on a chain. */
import type { Address, TxHash } from "../../core/hex.ts";
import type { ReadPoint } from "./blocks.ts";
import type { FoundDelivery, FoundRefund, Lock, LockFacts, PaidLock } from "./effects.ts";

/** A role at a time. A relayer and an attestor claim a lock together. */
export interface Listing {
  readonly role: "relayer" | "attestor";
  readonly account: Address;
  /** Unix seconds. */
  readonly time: bigint;
}

/** Reads the service's contracts. Every method may throw RPC_UNAVAILABLE. */
export interface ContractReader {
  /** Returns the newest refund of a wallet and token in a final block, starting at a block. */
  findRefund(args: {
    readonly wallet: Address;
    readonly token: Address;
    readonly fromBlock: bigint;
  }): Promise<FoundRefund | null>;
  /**
   * Returns the lock with exactly these facts, or null if the escrow never held it. `hints` are transactions that may have
   * opened or ended it; a chain that must search tries them first.
   */
  getLock(lock: LockFacts, at: ReadPoint, hints?: readonly TxHash[]): Promise<Lock | null>;
  /**
   * Returns the delivery made on this chain for a lock, by any sender; "unlocated" if it was made, but neither a hint nor
   * the newest blocks show it: then `payoutSearch` finds it. `hints` are transactions that may have made it, as in `getLock`.
   */
  findDelivery(
    lock: PaidLock,
    at?: ReadPoint,
    hints?: readonly TxHash[],
  ): Promise<FoundDelivery | "unlocated" | null>;
  isDelivered(lock: PaidLock, at: ReadPoint): Promise<boolean>;
  /** Returns the seconds after its lock in which a delivery can be paid on this chain. */
  getPayoutWindow(at: ReadPoint): Promise<bigint>;
  /**
   * Returns whether an account had a role at a time in Unix seconds. Such an account can claim the locks of that time
   * permanently, also after its removal.
   */
  wasListed(listing: Listing, at: ReadPoint): Promise<boolean>;
  /**
   * Returns the attestors whose signatures suffice to claim the locks of a time in Unix seconds, whatever the threshold
   * became since.
   */
  getThresholdAt(time: bigint, at: ReadPoint): Promise<number>;
  /** Returns what may be delivered of a token now under its 24-hour cap, in base units. */
  getDailyCapLeft(token: Address, at?: ReadPoint): Promise<bigint>;
}
