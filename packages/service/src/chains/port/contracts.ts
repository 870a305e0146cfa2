/** State and effects of the service's contracts on a chain. */
import type { Address, Hex32, TxHash } from "../../core/hex.ts";
import type { ReadPoint } from "./blocks.ts";
import type { FoundDelivery, FoundRefund, Lock } from "./effects.ts";

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
  /** Returns a lock. `hints` are transactions that may have opened or ended it; a chain that must search tries them first. */
  getLock(deliveryId: Hex32, at: ReadPoint, hints?: readonly TxHash[]): Promise<Lock | null>;
  /** Returns the delivery made on this chain under the id, by any sender. `hints` as in `getLock`. */
  findDelivery(
    deliveryId: Hex32,
    at?: ReadPoint,
    hints?: readonly TxHash[],
  ): Promise<FoundDelivery | null>;
  isDelivered(deliveryId: Hex32, at: ReadPoint): Promise<boolean>;
  /**
   * Returns whether an account had a role at a time in Unix seconds. Such an account can claim the locks of that time
   * permanently, also after its removal.
   */
  wasListed(listing: Listing, at: ReadPoint): Promise<boolean>;
  /** Returns what may be delivered of a token now under its 24-hour cap, in base units. */
  getDailyCapLeft(token: Address, at?: ReadPoint): Promise<bigint>;
}
