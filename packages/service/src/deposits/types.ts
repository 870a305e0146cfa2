/**
 * Transfer: a fact on a chain. Deposit: our record of value that arrived at a deposit address; its identity is the
 * transfer's place in its transaction, and its block may change in a reorganisation.
 */
import type { EvmAddress, Hex32 } from "../core/hex.ts";
import type { Transfer } from "../chains/port.ts";

export type IgnoredReason = "below_token_min" | "below_min" | "no_adapter" | "enqueue_error";

/** What became of a deposit when it was seen. */
export type DepositOutcome =
  | {
      readonly queued: true;
      /** Null while the settlement that will take it does not exist yet. */
      readonly settlementId: string | null;
    }
  | { readonly queued: false; readonly reason: IgnoredReason };

/** The transfers of one token to one wallet in one block: they make one `deposit_detected`. */
export interface ArrivedValue {
  readonly chainId: number;
  readonly wallet: EvmAddress;
  readonly token: EvmAddress;
  readonly blockNumber: bigint;
  readonly blockHash: Hex32;
  readonly transfers: readonly Transfer[];
}
