/** Computed without asking a node: addresses and ids of commitments, and the calls to our contracts. */
import type { Commitment } from "../../core/commitment.ts";
import type { Address, Hex, Hex32 } from "../../core/hex.ts";
import type { Lock, Outflow } from "./effects.ts";
import type { Held, TokenSource, Transfer } from "./reading.ts";
import type { Batch, Call, GasCall, Receipt } from "./sending.ts";

/** Where our contracts are, or the accounts that stand in their place. */
export interface OwnAccounts {
  /** What deposit addresses are derived from: the factory, or on Solana the account that vaults are bound to. */
  readonly walletRoot: Address;
  readonly escrow: Address;
  readonly delivery: Address;
}

/** What is computed of a chain and its contracts. */
export interface ChainCodec {
  readonly addresses: OwnAccounts;
  /** What so much gas costs at a fee per gas, in base units of the native coin, rounded up. */
  costOf(gas: bigint, feePerGas: bigint): bigint;
  /** What a step of a settlement costs at a fee per gas, in base units of the native coin, rounded up. */
  costOfStep(step: Step, feePerGas: bigint): bigint;
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
  buildSettle(call: SettleCall): Call;
  buildDeliver(payout: Payout, attestorSignature: Hex): Call;
  buildClaim(claim: ClaimProof, attestorSignature: Hex, lock: OpenLock): Call;
  buildReturn(proof: ReturnProof, attestorSignature: Hex, lock: OpenLock): Call;
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
  /** The id under which an escrow of this chain keeps a lock. */
  deliveryIdOf(lock: { wallet: Address; token: Address; seq: bigint }): Hex32;
  /** The same id for an escrow of another chain. */
  deliveryIdOfPayout(payout: Payout): Hex32;
  /**
   * Whether a transfer is what the escrow gave back to a wallet: it belongs to the settlement that locked it, and is no new
   * deposit. `outflows` are those of its block.
   */
  isGivenBack(transfer: Transfer, outflows: readonly Outflow[]): boolean;
}

/** One transaction of a settlement. */
export interface Step {
  /** As the contracts' gas tests measure it. */
  readonly gas: bigint;
  /** Whether it pays the recipient: on Solana that may open an account, whose rent stays there. */
  readonly paysRecipient?: true;
}

export interface SettleCall {
  readonly commitment: Commitment;
  readonly token: Address;
  readonly route: Address;
  readonly routeData: Hex;
  /** What was planned with; only a chain whose sweeps name their amount needs it, as the next. */
  readonly amount: bigint;
  readonly asOf?: bigint | undefined;
  readonly sources?: readonly TokenSource[] | undefined;
}

/** Terms of a lock. */
export interface LockTerms {
  /** Null where both sides are the same asset. */
  readonly price: AttestedPrice | null;
  /** The least that is to be delivered, in destination base units; a contract computes it itself. */
  readonly minOut: bigint;
  /** Unlike any other of the wallet and token; a contract counts itself. */
  readonly seq: bigint;
  /** The destination's `Delivery`. */
  readonly delivery: Hex32;
}

/** A lock to be ended, as far as whoever builds the call must know it; contracts know their locks themselves. */
export interface OpenLock {
  readonly commitment: Commitment;
  readonly token: Address;
  readonly seq: bigint;
  readonly amount: bigint;
  /** As the lock says. */
  readonly held?: bigint | undefined;
  /** Ends it in a way that nobody can hinder by adding to it. Costs more; only where `held` is told. */
  readonly whole?: boolean | undefined;
}

/** The destination leg of a settlement from inventory, as the `Delivery` contract takes it. */
export interface Payout {
  readonly commitment: Commitment;
  /** Bridge chain id of the escrow. */
  readonly srcChain: number;
  readonly escrow: Address;
  readonly srcToken: Address;
  readonly seq: bigint;
  /** Destination base units to pay. */
  readonly amount: bigint;
  /** Unix seconds after which the contract refuses. */
  readonly deadline: bigint;
}

/** Proof towards the escrow that a delivery was paid and is final. */
export interface ClaimProof {
  readonly deliveryId: Hex32;
  /** Destination base units that were paid. */
  readonly paidAmount: bigint;
  /** Unix seconds after which the contract refuses. */
  readonly deadline: bigint;
}

/** Gives a lock back to its deposit address: it can no longer be delivered. */
export interface ReturnProof {
  readonly deliveryId: Hex32;
  /** Unix seconds after which the contract refuses. */
  readonly deadline: bigint;
}

/** What a route takes out of a deposit, all of it under the committed cap. */
export interface RouteFee {
  /** A share of the deposit, in basis points. */
  readonly bps: number;
  /** On top, in source base units: gas and bridge cost. */
  readonly flat: bigint;
}

/** How a burn is asked for. */
export interface BurnTerms {
  readonly fee: RouteFee;
  /** The most that the bridge may keep of what is burned, in base units. */
  readonly maxFee: bigint;
  /** The bridge's own scale. */
  readonly minFinalityThreshold: number;
}

/** A price as the contracts take it. */
export interface SignedPrice {
  /** Whole destination tokens per whole source token, times 1e18. */
  readonly rate: bigint;
  /** The most it may be used for, in source base units. */
  readonly maxAmount: bigint;
  /** Unix seconds after which the contract refuses. */
  readonly deadline: bigint;
}

/** A price, and the attestor's signature over it. */
export interface AttestedPrice {
  readonly price: SignedPrice;
  readonly signature: Hex;
}

/** How a swap is asked for. */
export interface PoolSwapTerms extends AttestedPrice {
  readonly fee: RouteFee;
  /** The least that must come out; the contract never takes less than the price allows, whatever this says. */
  readonly minOut: bigint;
  /** Unix seconds after which the contract refuses. */
  readonly deadline: bigint;
}

/** How a swap is asked for whose outcome is burned: `fee` is of the deposited token, `maxFee` of what comes out. */
export interface PoolSwapBurnTerms extends PoolSwapTerms, BurnTerms {}

/** A price for one wallet, as the attestor is asked to sign it. */
export interface PriceRequest extends SignedPrice {
  readonly wallet: Address;
  readonly token: Address;
  /** The route's contract, which is what the signature is bound to. */
  readonly route: Address;
}
