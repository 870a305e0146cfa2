/** Computed without asking a node: addresses and ids of commitments, and the calls to our contracts. */
import type { Commitment } from "../../core/commitment.ts";
import type { Address, Hex, Hex32 } from "../../core/hex.ts";
import type { RefundReason } from "../../core/refund-reason.ts";
import type { LockFacts, Outflow } from "./effects.ts";
import type { TokenSource, Transfer } from "./reading.ts";
import type { Batch, Call, GasCall, Receipt } from "./sending.ts";

/** The addresses of our contracts, or of the accounts in their place. */
export interface OwnAccounts {
  /** The root of deposit addresses: the factory, or on Solana the account that vaults are bound to. */
  readonly walletRoot: Address;
  readonly escrow: Address;
  readonly delivery: Address;
}

/** The computations of a chain and its contracts. */
export interface ChainCodec {
  readonly addresses: OwnAccounts;
  /** Returns the cost of gas at a fee per gas, in base units of the native coin, rounded up. */
  costOf(gas: bigint, feePerGas: bigint): bigint;
  /** Returns the cost of a settlement's step at a fee per gas, in base units of the native coin, rounded up. */
  costOfStep(step: Step, feePerGas: bigint): bigint;
  /**
   * Returns the wallet of a commitment as prices and the ids of deliveries name it: the one deposit address on every EVM
   * chain. On Solana, where only the signer can derive the vault, they name the commitment's address on EVM chains.
   */
  predictWallet(commitment: Commitment): Address;
  hashCommitment(commitment: Commitment): Hex32;
  /** Returns whether a deposit address belongs to its commitment. `proof` is the signer's, on chains where only it can derive. */
  isWalletOf(address: {
    readonly commitment: Commitment;
    readonly wallet: Address;
    readonly proof: Hex | null;
  }): boolean;
  buildSettle(call: SettleCall): Call;
  buildDeliver(payout: Payout, attestorSignature: Hex): Call;
  buildClaim(claim: ClaimProof, attestorSignature: Hex, lock: OpenLock): Call;
  buildReturn(proof: ReturnProof, attestorSignature: Hex, lock: OpenLock): Call;
  /** Combines some of the calls into one; null if fewer than two can be combined. A failing call undoes no other. */
  combine(calls: readonly GasCall[]): Batch | null;
  /** Returns whether a call had its effect in the mined transaction that carried it. */
  tookEffect(receipt: Receipt, call: Call): boolean;
  /** Route data of `SWIFT`. */
  encodeLockData(terms: LockTerms): Hex;
  /** Route data of `MONO_CHAIN`. */
  encodeTransferData(fee: RouteFee): Hex;
  /** Returns the id of a lock in this chain's escrow. */
  deliveryIdOf(lock: LockFacts): Hex32;
  /** Returns the delivery id of a payout by this chain, whose escrow is on another chain. */
  deliveryIdOfPayout(payout: Payout): Hex32;
  /**
   * Returns whether a transfer is a lock that the escrow returned to its wallet. It belongs to the settlement that locked
   * it and is not a new deposit. `outflows` are those of the transfer's block.
   */
  isGivenBack(transfer: Transfer, outflows: readonly Outflow[]): boolean;
}

/** One transaction of a settlement. */
export interface Step {
  /** Gas measured by the contracts' gas tests. */
  readonly gas: bigint;
  /** Set if the step pays the recipient: on Solana that may open an account, whose rent is not returned. */
  readonly paysRecipient?: true;
}

export interface SettleCall {
  readonly commitment: Commitment;
  readonly token: Address;
  readonly route: Address;
  readonly routeData: Hex;
  /** Of the route in the commitment's set of routes; absent without a set. */
  readonly proof?: readonly Hex32[] | undefined;
  /** The planned amount. Only needed on a chain whose sweeps name their amount; so is the next field. */
  readonly amount: bigint;
  readonly asOf?: bigint | undefined;
  readonly sources?: readonly TokenSource[] | undefined;
}

/** Terms of a lock. */
export interface LockTerms {
  /** Null when both tokens are the same asset. */
  readonly price: BoundedPrice | null;
  /** Least delivered amount in destination base units; contracts compute it themselves. */
  readonly minOut: bigint;
  /** Unique per wallet and token; contracts count it themselves. */
  readonly seq: bigint;
  /** Unix seconds; contracts read the time of their block. */
  readonly lockedAt: bigint;
  /** The `Delivery` contract of the destination. */
  readonly delivery: Hex32;
}

/** The facts of a lock that a call to end it needs. */
export interface OpenLock {
  readonly commitment: Commitment;
  readonly facts: LockFacts;
  /** Present balance, as in `Lock.held`. */
  readonly held?: bigint | undefined;
  /** Ends the lock in a way that later additions cannot fail. Costs more; only valid with `held`. */
  readonly whole?: boolean | undefined;
}

/** The destination leg of a settlement from inventory, as the `Delivery` contract takes it: the lock, and the amount. */
export interface Payout {
  readonly commitment: Commitment;
  /** Bridge chain id of the escrow. */
  readonly srcChain: number;
  readonly escrow: Address;
  readonly srcToken: Address;
  /** Locked source base units. */
  readonly lockedAmount: bigint;
  readonly minOut: bigint;
  readonly seq: bigint;
  /** Unix seconds from which the contract's payout window counts: not after the time of the lock. */
  readonly windowStart: bigint;
  /** Destination base units to pay. */
  readonly amount: bigint;
}

/** The attestor's message to an escrow that a delivery was paid and is final. */
export interface ClaimProof {
  readonly deliveryId: Hex32;
  /** Destination base units that were paid. */
  readonly paidAmount: bigint;
  /** Unix seconds after which the contract refuses. */
  readonly deadline: bigint;
}

/** The attestor's message to an escrow that a lock can no longer be delivered and may return. */
export interface ReturnProof {
  readonly deliveryId: Hex32;
  /** Unix seconds after which the contract refuses. */
  readonly deadline: bigint;
}

/** The attestors' message to the factory that a deposit may be refunded to its committed authority. */
export interface RefundProof {
  readonly commitment: Commitment;
  readonly token: Address;
  /** The most to refund, in base units. */
  readonly maxAmount: bigint;
  readonly reason: RefundReason;
  /** Unix seconds after which the contract refuses, and which it accepts once. */
  readonly deadline: bigint;
}

/** The part of a deposit that a route keeps, within the committed cap. */
export interface RouteFee {
  /** A share of the deposit, in basis points. */
  readonly bps: number;
  /** On top, in source base units: gas and bridge cost. */
  readonly flat: bigint;
}

/** Terms of a burn. */
export interface BurnTerms {
  readonly fee: RouteFee;
  /** The most that the bridge may keep of the burned amount, in base units. */
  readonly maxFee: bigint;
  /** Finality threshold on CCTP's own scale. */
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

/** A price with the attestor's signature. */
export interface AttestedPrice {
  readonly price: SignedPrice;
  readonly signature: Hex;
}

/** The rates that the relayer accepts; the contract refuses any other. */
export interface RateBounds {
  readonly min: bigint;
  readonly max: bigint;
}

/** An attested price, and the bounds that the service's own rate sets for it. */
export interface BoundedPrice extends AttestedPrice {
  readonly bounds: RateBounds;
}

/** Terms of a pool swap. */
export interface PoolSwapTerms extends AttestedPrice {
  readonly fee: RouteFee;
  /** Least output in base units. The contract also enforces the price's own bound. */
  readonly minOut: bigint;
  /** Unix seconds after which the contract refuses. */
  readonly deadline: bigint;
}

/** Terms of a pool swap whose output is burned: `fee` is in the deposited token, `maxFee` in the output token. */
export interface PoolSwapBurnTerms extends PoolSwapTerms, BurnTerms {}

/** The attestor's signing input for a price of one wallet. */
export interface PriceRequest extends SignedPrice {
  readonly wallet: Address;
  readonly token: Address;
  /** The route's contract, to which the signature is bound. */
  readonly route: Address;
}
