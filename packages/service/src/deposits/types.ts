/**
 * Transfer: a fact on a chain. Deposit: our record of value that arrived at a deposit address; its identity is the
 * transfer's place in its transaction, and its block may change in a reorganisation. One that only the balance shows has
 * no transaction: its identity is its block.
 */
import type { Address, Hex32, TxHash } from "../core/hex.ts";

/** One token in one wallet on one chain. */
export interface Holding {
  readonly chainId: number;
  readonly wallet: Address;
  readonly token: Address;
}

export type IgnoredReason = "below_token_min" | "below_min" | "no_adapter" | "enqueue_error";

/** What became of a deposit when it was seen. */
export type DepositOutcome =
  | {
      readonly queued: true;
      /** Null while the settlement that will take it does not exist yet. */
      readonly settlementId: string | null;
    }
  | { readonly queued: false; readonly reason: IgnoredReason };

/** A transfer to a wallet, or value that was found by its balance: then nobody says by whom or in what transaction. */
export interface ArrivedTransfer {
  readonly from: Address | null;
  readonly txHash: TxHash | null;
  /** Base units, never zero. */
  readonly amount: bigint;
  /** Position among the logs of its block. */
  readonly logIndex: number;
  /** Position among the transfers of its transaction, or among what was found by balance in its block. */
  readonly ordinal: number;
}

/** The transfers of one token to one wallet in one block: they make one `deposit_detected`. */
export interface ArrivedValue extends Holding {
  readonly blockNumber: bigint;
  readonly blockHash: Hex32;
  readonly transfers: readonly ArrivedTransfer[];
}
