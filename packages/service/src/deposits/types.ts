/**
 * Transfer: a movement of value on a chain. Deposit: our record of a transfer to a deposit address. A deposit is
 * identified by the transfer's position in its transaction, since a reorg may change its block. One found by balance has
 * no transaction and is identified by its block.
 */
import type { Address, Hex32, TxHash } from "../core/hex.ts";

/** One token in one wallet on one chain. */
export interface Holding {
  readonly chainId: number;
  readonly wallet: Address;
  readonly token: Address;
}

export type IgnoredReason = "below_token_min" | "below_min" | "no_adapter" | "enqueue_error";

/** Decision about a deposit when it was detected. */
export type DepositOutcome =
  | {
      readonly queued: true;
      /** Null for a deposit that was promised a settlement which does not exist yet. */
      readonly settlementId: string | null;
    }
  | { readonly queued: false; readonly reason: IgnoredReason };

/** A transfer to a wallet, or value found by balance, whose sender and transaction are unknown (null). */
export interface ArrivedTransfer {
  readonly from: Address | null;
  readonly txHash: TxHash | null;
  /** Base units, never zero. */
  readonly amount: bigint;
  /** Position among the logs of its block. */
  readonly logIndex: number;
  /** Position among the transfers of its transaction, or among the values found by balance in its block. */
  readonly ordinal: number;
}

/** The transfers of one token to one wallet in one block. They append one `deposit_detected` event. */
export interface ArrivedValue extends Holding {
  readonly blockNumber: bigint;
  readonly blockHash: Hex32;
  readonly transfers: readonly ArrivedTransfer[];
  /** Base units of the holding at the end of the block; undefined where they were not read. */
  readonly balance?: bigint | undefined;
}

/** Transfers that are not recorded, in a block of which others of the same holding may be. */
export interface OpenValue extends ArrivedValue {
  /** Base units of the holding that are recorded as deposits of the block. */
  readonly recordedAmount: bigint;
}
