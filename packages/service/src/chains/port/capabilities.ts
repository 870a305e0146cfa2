/** Capabilities that differ between chain families. */
import type { Address, EvmAddress, Hex, Hex32, TxHash } from "../../core/hex.ts";
import type { Commitment } from "../../core/commitment.ts";
import type { RefundReason } from "../../core/refund-reason.ts";
import type { BlockId, BlockRef, ReadPoint } from "./blocks.ts";
import type { BurnTerms, Payout, PoolSwapBurnTerms, PoolSwapTerms, RefundProof } from "./codec.ts";
import type { FoundDelivery, FoundMint, LockFacts, PaidLock } from "./effects.ts";
import type { Held, TokenHolding } from "./reading.ts";
import type { Call } from "./sending.ts";

/** The nonce of the sender ensures that a transaction is mined at most once. */
export interface NonceSequencing {
  readonly kind: "nonce";
  /** Returns the sender's number of mined transactions up to the block, which is its next nonce. */
  getTransactionCount(sender: Address, at?: ReadPoint): Promise<number>;
}

/** Without nonces, a transaction names a block and expires when that block is too old. */
export interface BlockhashSequencing {
  readonly kind: "blockhash";
  /** Returns a lifetime that begins now. */
  getLifetime(): Promise<Lifetime>;
  /** Returns whether the final height is above the lifetime, so that its transactions can never be mined. */
  isExpired(lifetime: Lifetime): Promise<boolean>;
}

/** The range of blocks in which a signed transaction can be mined, on a chain without nonces. */
export interface Lifetime {
  readonly blockhash: Hex32;
  /** The last height at which it can be mined. */
  readonly lastValidHeight: bigint;
}

/** Wallets are contracts: their address follows from the commitment, and they are deployed before the first sweep. */
export interface ContractWallets {
  readonly kind: "contract";
  /** Returns whether an address has code, as a deployed wallet and a token's contract do. */
  hasCode(address: Address, at?: ReadPoint): Promise<boolean>;
  buildDeploy(commitment: Commitment): Call;
  /** Builds the call that pays a wallet's whole balance to its refund authority; only the authority can make it. */
  buildRefund(commitment: Commitment, token: Address): Call;
  /** Builds the call by which a relayer refunds what attestors signed. */
  buildAttestedRefund(proof: RefundProof, signatures: Hex): Call;
  /** Returns the final block of the newest sweep or refund of a wallet and token, starting at a block; null if there is none. */
  findOutflow(args: {
    readonly wallet: Address;
    readonly token: Address;
    readonly fromBlock: bigint;
  }): Promise<bigint | null>;
  /** Builds a step of a take-back; only the refund authority can make it. */
  buildTakeBack(step: TakeBackStep): Call;
  /** Returns the time, in Unix seconds, of the standing announcement of a take-back; null if there is none. */
  getAnnouncement(wallet: Address, token: Address, at?: ReadPoint): Promise<bigint | null>;
  /** Returns whether the factory's state still refuses settlements with an error. */
  isRefused(refusal: ContractRefusal, at?: ReadPoint): Promise<boolean>;
}

/** An error with which a state of the factory refuses settlements, and whom it refuses. */
export type ContractRefusal =
  | { readonly reason: "IsPaused" | "NotSealed" | "TooFewAttestors" }
  | { readonly reason: "NotRelayer"; readonly relayer: Address }
  | { readonly reason: "NotRoute"; readonly route: Address };

/** A step of a refund authority that takes locks of a wallet and token back from the escrow. */
export type TakeBackStep =
  | {
      readonly kind: "announce" | "cancel";
      readonly commitment: Commitment;
      readonly token: Address;
    }
  | {
      readonly kind: "take_back";
      readonly commitment: Commitment;
      readonly lock: LockFacts;
    };

/** Wallets are keys that only the signer can derive. Nothing is deployed. */
export interface VaultWallets {
  readonly kind: "vault";
  /** Builds the order that pays a vault's balance to its refund authority; the signer judges the reason, if there is one. */
  buildRefund(
    commitment: Commitment,
    token: Address,
    refunded: Held & { readonly reason: RefundReason | null },
  ): Call;
  /** Returns the part of the final balance that stood since a time, unless an order took from the vault meanwhile. */
  readStood(asked: Stood): Promise<bigint | "too_recent" | "moved_since" | "history_too_long">;
}

/** A vault's balance of a token since a time. */
export interface Stood {
  readonly wallet: Address;
  readonly token: Address;
  /** Unix seconds. */
  readonly sinceS: bigint;
}

/** The price feeds of a chain. */
export interface PriceFeeds {
  /** Reads a feed's price in US dollars per whole unit times 1e18, which can be zero or negative, and its time. */
  readPriceFeed(
    feed: Address,
    at?: ReadPoint,
  ): Promise<{ readonly usd: bigint; readonly publishedAtMs: number }>;
}

/** The pools of a chain. */
export interface Pools {
  /** Returns the amount that a pool would pay, in base units; null if there is no such pool or it cannot pay. */
  quoteSwap(swap: PoolSwapQuestion, at?: ReadPoint): Promise<bigint | null>;
  /** Returns the limits that a route's contract sets to its pool swaps now. */
  readSwapLimits(swap: LimitedSwap, at?: ReadPoint): Promise<SwapLimits>;
  /** Encodes the route data of a pool swap. */
  encodeSwapData(terms: PoolSwapTerms): Hex;
}

/** A pool swap that a route's contract limits. */
export interface LimitedSwap {
  /** The route's contract. */
  readonly route: Address;
  /** The deposited token; zero for the native coin. */
  readonly token: Address;
  readonly amountIn: bigint;
}

export interface SwapLimits {
  /** Minimum output by the pool's averaged price, in base units; null while the pool's history is too short for one. */
  readonly least: bigint | null;
  /** Base units of input that the daily cap still allows. */
  readonly capLeft: bigint;
}

/** A pool swap as the quoter of Uniswap v3 takes it. */
export interface PoolSwapQuestion {
  /** `QuoterV2`. */
  readonly quoter: Address;
  /** Never the native coin: pools hold its wrapped form. */
  readonly tokenIn: Address;
  readonly tokenOut: Address;
  /** Fee of the pool, in hundredths of a basis point. */
  readonly poolFee: number;
  readonly amountIn: bigint;
}

/** Circle's CCTP v2 contracts on a chain. */
export interface CctpContracts {
  /** Circle's number of the chain. */
  readonly domain: number;
  /** TokenMessengerV2. */
  readonly messenger: EvmAddress;
  /** MessageTransmitterV2. */
  readonly transmitter: EvmAddress;
}

/** Circle's bridge on a chain that has it. */
export interface CctpBridge {
  readonly contracts: CctpContracts;
  /** Builds the call that submits an attested bridge message. Anybody can submit it, once. */
  buildReceive(message: Hex, attestation: Hex): Call;
  /** Encodes the route data of `FAST_MCTP`. */
  encodeBurnData(terms: BurnTerms): Hex;
  /** Encodes the route data of `FAST_MCTP` with a pool swap before the burn. */
  encodeSwapBurnData(terms: PoolSwapBurnTerms): Hex;
  /** Returns the most base units of a token that one message may burn; zero if the bridge does not take it. */
  readBurnLimit(token: Address, at?: ReadPoint): Promise<bigint>;
  /**
   * Returns the block number that contracts see, with which the bridge compares the expiry of a message. It is not the chain's
   * height everywhere: on Arbitrum it is about the height of layer 1.
   */
  readContractHeight(): Promise<bigint>;
  /** Finds the mint of the bridge message with a nonce, submitted by anybody; null while nobody has. */
  findMint(nonce: Hex32, at?: ReadPoint): Promise<FoundMint | null>;
}

/**
 * Searches blocks for a payout, in parts whose progress the caller keeps: where nodes give ten blocks per request, a search
 * takes longer than one poll.
 */
export interface PayoutSearch {
  /** Returns the first block at or after a time in Unix seconds; the block after the head if there is none yet. */
  findBlockAt(timeS: bigint): Promise<bigint>;
  /**
   * Returns the payout of a lock in the blocks `from` to `to`, or null. Throws RPC_UNAVAILABLE if a node would need too many
   * requests for them.
   */
  findIn(
    lock: PaidLock,
    range: { readonly from: bigint; readonly to: bigint },
  ): Promise<FoundDelivery | null>;
  /**
   * Lists all payouts in the blocks `from` to `to`, the oldest first. Throws RPC_UNAVAILABLE if a node would need too many
   * requests for them.
   */
  listIn(range: { readonly from: bigint; readonly to: bigint }): Promise<readonly FoundDelivery[]>;
  /**
   * Returns the payouts that a transaction ordered directly, with accounts as the contract has them, padded to 32 bytes; none
   * if it called another contract. Throws RPC_UNAVAILABLE if no node knows the transaction.
   */
  listOrdered(txHash: TxHash): Promise<readonly Payout[]>;
}

/** Nodes serve state at any block. */
export interface BalancesAtBlock {
  readonly kind: "at_block";
  /**
   * Lists accounts that contracts may have paid native coin in exactly this block, from traces. A hint at which balances
   * to read, never proof of a payment. Null when the node has no traces.
   */
  listTracedPayees(block: BlockRef): Promise<readonly Address[] | null>;
  /** Returns native balances at exactly this block, in the order of the owners. Throws when the node lacks its state. */
  listNativeBalances(block: BlockId, owners: readonly Address[]): Promise<readonly bigint[]>;
  /** Returns the same from more nodes, for the few balances that would be a deposit; absent where no more are needed. */
  readonly confirmNativeBalances?: BalancesAtBlock["listNativeBalances"];
  /**
   * Returns token balances at exactly the block of this hash, in the order of the holdings; null for one whose contract
   * reverts, burns all gas or returns malformed data. Null for all when the node no longer has the state of that block.
   */
  listTokenBalances(
    blockHash: Hex32,
    holdings: readonly TokenHolding[],
  ): Promise<readonly (bigint | null)[] | null>;
}

/** Nodes serve only their newest final state. Every payment is visible in a block, so none is found by balance. */
export interface FinalBalances {
  readonly kind: "final";
  /** Returns the final balances of wallets, each with the block that it was read at. */
  listHoldings(holdings: readonly TokenHolding[]): Promise<readonly HeldAt[]>;
}

/** A wallet's balance of a token at a final block. */
export interface HeldAt extends TokenHolding {
  readonly amount: bigint;
  readonly at: bigint;
}

/** The contract that receives claims, and moves them between accounts of the operator. */
export interface TreasuryContract {
  readonly address: Address;
  /** Builds the call by which a mover sends a token in a listed direction. */
  buildMove(move: TreasuryDirection & { readonly amount: bigint }): Call;
  /**
   * Returns the base units that one move may take now: the smaller of the balance above the token's floor and the announced
   * withdrawal, and the unused part of the direction's daily cap; zero for a direction that the owner has not listed.
   */
  readMovable(direction: TreasuryDirection, at?: ReadPoint): Promise<bigint>;
  /** Returns what the treasury has of a token; zero address for the native coin. */
  readStock(token: Address, at?: ReadPoint): Promise<TreasuryStock>;
  /** Builds the owner's call that announces a withdrawal to the owner. */
  buildScheduleWithdrawal(withdrawal: { readonly token: Address; readonly amount: bigint }): Call;
  /** Builds the owner's call that pays an announced withdrawal once its delay is over. */
  buildExecuteWithdrawal(token: Address): Call;
}

/** What a treasury has of a token, in base units. */
export interface TreasuryStock {
  readonly balance: bigint;
  /** Moves leave this much. */
  readonly floor: bigint;
  /** The withdrawal that the owner announced, from `readyAt` on, a time of the chain in seconds; null without one. */
  readonly announced: { readonly amount: bigint; readonly readyAt: bigint } | null;
}

/** A token of a treasury and an account of the operator that receives it. */
export interface TreasuryDirection {
  /** Zero for the native coin. */
  readonly token: Address;
  /** The `Delivery` of the chain, or a deposit address that pays that of another. */
  readonly to: Address;
}
