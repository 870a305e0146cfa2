/** Our contracts on a chain: what to call, and what they hold. */
import type { Commitment } from "../../core/commitment.ts";
import type { Address, Hex, Hex32, TxHash } from "../../core/hex.ts";
import type { BlockRef, ReadPoint } from "./blocks.ts";
import type {
  BurnTerms,
  ClaimOrder,
  DeliveryOrder,
  LockTerms,
  OpenLock,
  ReturnOrder,
  RouteFee,
  SettleCall,
  SwapBurnOrder,
  SwapOrder,
} from "./codec.ts";
import type { FoundDelivery, FoundRefund, Lock, Outflow } from "./effects.ts";
import type { Held } from "./reading.ts";
import type { Batch, Call, GasCall, Receipt } from "./sending.ts";

/** Our contracts on a chain: what to call, and what they hold. */
export interface DepositContracts {
  /**
   * The wallet of a commitment as prices and the ids of deliveries name it: the one deposit address on every EVM chain.
   * On Solana only the signer can derive the vault, and what is named is the address that the commitment has on EVM.
   */
  predictWallet(commitment: Commitment): Address;
  hashCommitment(commitment: Commitment): Hex32;
  /** Whether a deposit address is the one of its commitment; `proof` is the signer's word where nobody can compute it. */
  isWalletOf(address: {
    readonly commitment: Commitment;
    readonly wallet: Address;
    readonly proof: Hex | null;
  }): boolean;
  /** Whether a lock of this chain's escrow is of the commitment. */
  isLockOf(lock: Pick<Lock, "wallet" | "commitment">, commitment: Commitment): boolean;
  buildDeploy(commitment: Commitment): Call;
  buildSettle(call: SettleCall): Call;
  buildDeliver(order: DeliveryOrder, attestorSignature: Hex): Call;
  buildClaim(claim: ClaimOrder, attestorSignature: Hex, lock: OpenLock): Call;
  buildReturn(order: ReturnOrder, attestorSignature: Hex, lock: OpenLock): Call;
  /**
   * Takes a wallet's whole balance to its refund authority, who alone may call it; or what it held, on a chain whose sweeps
   * name their amount, and only there `held` is needed.
   */
  buildRefund(commitment: Commitment, token: Address, held?: Held): Call;
  /** Some of the calls as one, or null where fewer than two can be combined. A call that fails undoes no other. */
  combine(calls: readonly GasCall[]): Batch | null;
  /** Whether a call did what it was for, in the mined transaction that carried it. */
  tookEffect(receipt: Receipt, call: Call): boolean;
  /** Route data of `SWIFT`. */
  encodeLockData(terms: LockTerms): Hex;
  /** Route data of `MONO_CHAIN`. */
  encodeTransferData(fee: RouteFee): Hex;
  /** Route data of `FAST_MCTP`. */
  encodeBurnData(terms: BurnTerms): Hex;
  /** Route data of a swap. */
  encodeSwapData(order: SwapOrder): Hex;
  /** Route data of `FAST_MCTP` where a pool exchanges the token before it is burned. */
  encodeSwapBurnData(order: SwapBurnOrder): Hex;
  /** The id under which an escrow of this chain keeps a lock. */
  deliveryIdOf(lock: { wallet: Address; token: Address; seq: bigint }): Hex32;
  /** The same id for an escrow of another chain. */
  deliveryIdOfOrder(order: DeliveryOrder): Hex32;
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
  readonly addresses: {
    readonly factory: Address;
    readonly escrow: Address;
    readonly delivery: Address;
  };
}
