/** What some chains can do and others cannot. */
import type { Address, EvmAddress, Hex, Hex32 } from "../../core/hex.ts";
import type { Commitment } from "../../core/commitment.ts";
import type { BlockRef, ReadPoint } from "./blocks.ts";
import type { BurnTerms, PoolSwapBurnTerms, PoolSwapTerms } from "./codec.ts";
import type { FoundMint } from "./effects.ts";
import type { TokenHolding } from "./reading.ts";
import type { Call } from "./sending.ts";

/** What makes that a transaction is mined once: the nonce of its sender. */
export interface NonceSequencing {
  readonly kind: "nonce";
  /** Number of transactions of the sender up to the block: the next nonce that can be mined. */
  getTransactionCount(sender: Address, at?: ReadPoint): Promise<number>;
}

/** The same without nonces: a transaction names a block that gets too old. */
export interface BlockhashSequencing {
  readonly kind: "blockhash";
  /** A lifetime from now on. */
  getLifetime(): Promise<Lifetime>;
  /** Whether a final block is higher than transactions of this lifetime can be mined at. */
  isExpired(lifetime: Lifetime): Promise<boolean>;
}

/** How long a signed transaction may still be mined, on a chain whose senders have no nonces. */
export interface Lifetime {
  readonly blockhash: Hex32;
  /** The last height at which it may be. */
  readonly lastValidHeight: bigint;
}

/** Deposit addresses are contracts: computed from the commitment, and deployed before they can be swept. */
export interface ContractWallets {
  readonly kind: "contract";
  buildDeploy(commitment: Commitment): Call;
}

/** Deposit addresses are keys of the signer, who alone can derive them and move what they hold. Nothing is deployed. */
export interface VaultWallets {
  readonly kind: "vault";
}

/** Price feeds of a chain. */
export interface PriceFeeds {
  /** What a feed says: US dollars per whole unit times 1e18 (zero and below included), and when it said so. */
  readPriceFeed(
    feed: Address,
    at?: ReadPoint,
  ): Promise<{ readonly usd: bigint; readonly publishedAtMs: number }>;
}

/** Pools of a chain that exchange what a wallet holds. */
export interface Pools {
  /** What a pool would give now for an amount, in base units; null when it cannot, or there is none. */
  quoteSwap(swap: PoolSwapQuestion, at?: ReadPoint): Promise<bigint | null>;
  /** Route data of a swap. */
  encodeSwapData(terms: PoolSwapTerms): Hex;
}

/** A swap in one pool of Uniswap v3, as its quoter is asked. */
export interface PoolSwapQuestion {
  /** `QuoterV2`. */
  readonly quoter: Address;
  /** Never the native coin: a pool has its wrapped form. */
  readonly tokenIn: Address;
  readonly tokenOut: Address;
  /** The pool's, in hundredths of a basis point. */
  readonly poolFee: number;
  readonly amountIn: bigint;
}

/** Circle's CCTP v2 contracts on a chain. */
export interface CctpContracts {
  /** The bridge's number of the chain. */
  readonly domain: number;
  /** TokenMessengerV2. */
  readonly messenger: EvmAddress;
  /** MessageTransmitterV2. */
  readonly transmitter: EvmAddress;
}

/** The bridge on a chain that has it. */
export interface CctpBridge {
  readonly contracts: CctpContracts;
  /** Hands an attested message in; anybody may, once. */
  buildReceive(message: Hex, attestation: Hex): Call;
  /** Route data of `FAST_MCTP`. */
  encodeBurnData(terms: BurnTerms): Hex;
  /** Route data of `FAST_MCTP` where a pool exchanges the token before it is burned. */
  encodeSwapBurnData(terms: PoolSwapBurnTerms): Hex;
  /** What was minted for the message of a nonce, by whoever handed it in; null while nobody has. */
  findMint(nonce: Hex32, at?: ReadPoint): Promise<FoundMint | null>;
}

/** State is read at any block. */
export interface BalancesAtBlock {
  readonly kind: "at_block";
  /**
   * Accounts that contracts may have paid in the native coin in exactly this block, as traces tell: a hint where to look
   * at the balance, never value. Null when the node has no traces.
   */
  listTracedPayees(block: BlockRef): Promise<readonly Address[] | null>;
  /** Native balances at exactly this block, in the order of the owners. Throws when the node lacks its state. */
  listNativeBalances(block: BlockRef, owners: readonly Address[]): Promise<readonly bigint[]>;
  /**
   * Token balances at exactly the block of this hash, in the order of the holdings; null for one whose contract reverts,
   * burns all gas or answers nonsense. Null for all when the node no longer has the state of that block.
   */
  listTokenBalances(
    blockHash: Hex32,
    holdings: readonly TokenHolding[],
  ): Promise<readonly (bigint | null)[] | null>;
}

/** Nodes tell of their newest final block only. Every payment is in a block, and none is found by balance. */
export interface FinalBalances {
  readonly kind: "final";
  /** What wallets hold, each as of a block of its own. */
  listHoldings(holdings: readonly TokenHolding[]): Promise<readonly HeldAt[]>;
}

/** What a wallet held of a token as of a final block. */
export interface HeldAt extends TokenHolding {
  readonly amount: bigint;
  readonly at: bigint;
}
