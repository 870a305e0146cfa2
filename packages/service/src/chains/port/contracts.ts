/** What our contracts on a chain hold and did. */
import type { Address, Hex32, TxHash } from "../../core/hex.ts";
import type { BlockRef, ReadPoint } from "./blocks.ts";
import type { FoundDelivery, FoundRefund, Lock, Outflow } from "./effects.ts";

/** Reading our contracts. Throws RPC_UNAVAILABLE as all reads do. */
export interface ContractReader {
  /** What left deposit addresses in exactly this block, in order, by whomever it was sent. */
  listOutflows(block: BlockRef): Promise<readonly Outflow[]>;
  /** The newest refund of a wallet and token in a final block, from a block on. */
  findRefund(args: {
    readonly wallet: Address;
    readonly token: Address;
    readonly fromBlock: bigint;
  }): Promise<FoundRefund | null>;
  /** `hints` are transactions that may have opened or ended it: only where to look first, on a chain that must search. */
  getLock(deliveryId: Hex32, at: ReadPoint, hints?: readonly TxHash[]): Promise<Lock | null>;
  /** The delivery made on this chain under the id, by whoever made it. `hints` as above. */
  findDelivery(
    deliveryId: Hex32,
    at?: ReadPoint,
    hints?: readonly TxHash[],
  ): Promise<FoundDelivery | null>;
  isDelivered(deliveryId: Hex32, at: ReadPoint): Promise<boolean>;
  /** What may be delivered of a token now under its cap over 24 hours, in base units. */
  getDailyCapLeft(token: Address, at?: ReadPoint): Promise<bigint>;
}
