/**
 * The inspector ports: the reads of one node that only `sluice doctor` needs. State is read at the newest block unless
 * stated otherwise. A call throws `OperatingError` RPC_UNAVAILABLE when the node gives no usable answer, also when the
 * contract has no such function.
 */
import type { MintConfig } from "../config/index.ts";
import type { Address, EvmAddress, Hex32, TxHash } from "../core/hex.ts";
import type { EvmMeasures } from "./node-measures.ts";
import type { BlockRef, Fees, GovernedRole, ReadAt } from "./port/index.ts";

/** Contracts whose code this build knows. */
export const BUILT_CONTRACTS = [
  "factory",
  "implementation",
  "escrow",
  "delivery",
  "treasury",
  "transferRoute",
  "sameAssetRoute",
  "pricedRoute",
  "cctpRoute",
  "swapRoute",
  "swapCctpRoute",
] as const;

export type BuiltContract = (typeof BUILT_CONTRACTS)[number];

export interface SeenBlock extends BlockRef {
  /** Unix seconds. */
  readonly timestamp: bigint;
}

/** The governance and state of a contract. */
export interface Governance {
  readonly owner: EvmAddress;
  readonly guardian: EvmAddress;
  readonly delaySeconds: bigint;
  readonly isSealed: boolean;
  readonly isPaused: boolean;
}

/** The values that determine the addresses of a factory's wallets. */
export interface FactoryIdentity {
  readonly implementation: EvmAddress;
  readonly initCodeHash: Hex32;
}

/** The immutable values of an escrow or delivery contract. */
export interface ContractTerms {
  readonly factory: EvmAddress;
  /** Bridge chain id. */
  readonly bridgeId: number;
}

/** The immutable values of a route on the same chain. */
export interface TransferTerms {
  readonly evmChainId: bigint;
  readonly bridgeId: number;
  readonly factory: EvmAddress;
  readonly token: EvmAddress;
  readonly feeRecipient: EvmAddress;
}

/** The immutable values of any route through a pool. */
export interface PoolTerms {
  readonly evmChainId: bigint;
  readonly factory: EvmAddress;
  readonly router: EvmAddress;
  readonly weth: EvmAddress;
  readonly tokenIn: EvmAddress;
  readonly decimalsIn: number;
  readonly tokenOut: EvmAddress;
  readonly decimalsOut: number;
  readonly poolFee: number;
  readonly limits: {
    /** Seconds over which the pool's price is averaged. */
    readonly window: number;
    readonly toleranceBps: number;
    /** First daily cap, in base units of the input. */
    readonly perDay: bigint;
  };
}

/** The immutable values of a route through a pool on the same chain. */
export interface SwapTerms extends PoolTerms {
  readonly bridgeId: number;
  readonly feeRecipient: EvmAddress;
}

/** The immutable values of a route through a pool and Circle's bridge. */
export interface SwapBridgePair extends PoolTerms, Omit<BridgePair, "token"> {}

/** The immutable values of a route into the escrow. */
export interface EscrowPair {
  readonly evmChainId: bigint;
  readonly sourceChain: number;
  readonly sourceToken: EvmAddress;
  readonly sourceDecimals: number;
  readonly escrow: EvmAddress;
  readonly destChain: number;
  /** 32 bytes, addresses padded on the left. */
  readonly destToken: Hex32;
  readonly destDecimals: number;
  readonly delivery: Hex32;
}

/** The immutable values of a route through Circle's bridge. */
export interface BridgePair {
  readonly evmChainId: bigint;
  readonly factory: EvmAddress;
  readonly token: EvmAddress;
  readonly messenger: EvmAddress;
  readonly destChain: number;
  /** 32 bytes, addresses padded on the left. */
  readonly destToken: Hex32;
  /** Circle's number of the destination chain. */
  readonly destDomain: number;
}

/** The answer of a price feed. */
export interface FeedAnswer {
  /** The feed's own name of its pair. */
  readonly description: string;
  /** US dollars per whole unit, times 1e18. */
  readonly usd: bigint;
  readonly publishedAtMs: number;
}

/** The immutable values of a router or quoter of Uniswap v3. */
export interface SwapRouterTerms {
  readonly factory: EvmAddress;
  /** The wrapped native coin. */
  readonly weth: EvmAddress;
}

/** The reads of a node of any chain family. */
export interface NodeInspector {
  /** Bridge chain id. */
  readonly chainId: number;
  getHead(at: ReadAt): Promise<SeenBlock>;
  /** Returns the hash of the block at a height (on Solana, of all its content that is read); null without a block. */
  getBlockHash(number: bigint): Promise<Hex32 | null>;
}

/** One node of one EVM chain. */
export interface ChainInspector extends NodeInspector, EvmMeasures {
  /** Returns the newest block that the node calls `safe`. */
  getSafeHead(): Promise<SeenBlock>;
  /** Unix seconds of the block at a height. */
  getTimestamp(number: bigint): Promise<bigint>;
  getEvmChainId(): Promise<number>;
  /** Wei. */
  getCoinBalance(owner: EvmAddress): Promise<bigint>;
  /** Returns the number of transactions that the newest block shows of an account. */
  getTransactionCount(account: EvmAddress): Promise<number>;
  /** Returns the fees that a lane would offer now. */
  suggestFees(): Promise<Fees>;
  /** Returns the wei that a transaction of a settlement costs besides its gas. */
  readSurcharge(): Promise<bigint>;
  hasCode(address: EvmAddress): Promise<boolean>;
  /** Returns whether the address has code other than an account's delegation (EIP-7702). */
  isContract(address: EvmAddress): Promise<boolean>;
  /** Returns the hash of the code at an address; without code, the hash of zero bytes. */
  getCodeHash(address: EvmAddress): Promise<Hex32>;
  /** Returns whether the code is this build's, with any immutable values. */
  isOfBuild(address: EvmAddress, contract: BuiltContract): Promise<boolean>;
  /** Returns whether the code is this build's wallet implementation and names the factory. */
  isImplementationOf(address: EvmAddress, factory: EvmAddress): Promise<boolean>;
  /** Base units of a token, or wei. */
  getBalance(token: EvmAddress, owner: EvmAddress): Promise<bigint>;
  getTokenDecimals(token: EvmAddress): Promise<number>;
  getTokenSymbol(token: EvmAddress): Promise<string>;
  getGovernance(contract: EvmAddress): Promise<Governance>;
  /** Returns the time in Unix seconds from which a scheduled addition can be executed; zero without one. */
  getReadyAt(
    contract: EvmAddress,
    addition: { readonly role: GovernedRole; readonly account: EvmAddress },
  ): Promise<bigint>;
  /** Returns the scheduled raise of a daily cap and its time; zeros without one. */
  getCapRaise(
    delivery: EvmAddress,
    token: EvmAddress,
  ): Promise<{ readonly perDay: bigint; readonly readyAt: bigint }>;
  /** Returns whether an account may move what a treasury has. */
  isMover(treasury: EvmAddress, account: EvmAddress): Promise<boolean>;
  /** Returns the daily cap of a treasury's direction, zero if it is not listed, and the scheduled one; zeros without one. */
  getDirection(
    treasury: EvmAddress,
    direction: { readonly token: EvmAddress; readonly to: EvmAddress },
  ): Promise<{
    readonly perDay: bigint;
    readonly pending: { readonly perDay: bigint; readonly readyAt: bigint };
  }>;
  getFactoryIdentity(factory: EvmAddress): Promise<FactoryIdentity>;
  getContractTerms(contract: EvmAddress): Promise<ContractTerms>;
  /** Returns the account that receives claims and withdrawn inventory; zero before the seal. */
  getTreasury(factory: EvmAddress): Promise<EvmAddress>;
  /** Returns the contact for reports of vulnerabilities that the owner set; empty without one. */
  getSecurityContact(factory: EvmAddress): Promise<string>;
  /** Returns the seconds after a lock in which a `Delivery` pays. */
  getPayoutWindow(delivery: EvmAddress): Promise<number>;
  /** Returns the number of attestors that must sign; zero before the seal. */
  getThreshold(factory: EvmAddress): Promise<number>;
  /** Returns the base units of claims that the treasury refused and that wait for `collect`. */
  getUncollected(escrow: EvmAddress, token: EvmAddress): Promise<bigint>;
  getEscrowEvmChainId(escrow: EvmAddress): Promise<bigint>;
  getTransferTerms(route: EvmAddress): Promise<TransferTerms>;
  getEscrowPair(route: EvmAddress): Promise<EscrowPair>;
  getBridgePair(route: EvmAddress): Promise<BridgePair>;
  getSwapTerms(route: EvmAddress): Promise<SwapTerms>;
  getSwapBridgePair(route: EvmAddress): Promise<SwapBridgePair>;
  /** Returns the Uniswap v3 pool of two tokens and a fee; null when there is none. */
  findPool(
    factory: EvmAddress,
    pool: { readonly tokens: readonly [EvmAddress, EvmAddress]; readonly fee: number },
  ): Promise<EvmAddress | null>;
  isRoute(factory: EvmAddress, route: EvmAddress): Promise<boolean>;
  isRelayer(factory: EvmAddress, relayer: EvmAddress): Promise<boolean>;
  isAttestor(factory: EvmAddress, attestor: EvmAddress): Promise<boolean>;
  isSettler(delivery: EvmAddress, settler: EvmAddress): Promise<boolean>;
  /** Returns the daily cap of a token in a `Delivery` or a route through a pool, in base units. */
  getDailyCap(contract: EvmAddress, token: EvmAddress): Promise<bigint>;
  /** Returns whether the pool of a route remembers as long as the route averages its price. */
  hasAveragedPrice(route: EvmAddress): Promise<boolean>;
  getPriceFeed(feed: EvmAddress): Promise<FeedAnswer>;
  /** Returns the transmitter that a CCTP messenger sends through. */
  getCctpTransmitter(messenger: EvmAddress): Promise<EvmAddress>;
  /** Returns Circle's number of the chain that a CCTP transmitter is on. */
  getCctpDomain(transmitter: EvmAddress): Promise<number>;
  getSwapRouterTerms(contract: EvmAddress): Promise<SwapRouterTerms>;
}

/** The facts that a factory and its chain must match. */
export interface FactoryExpectation {
  /** Returns the identity from which the service derives deposit addresses. */
  identityOf(factory: EvmAddress): FactoryIdentity;
  /** The deterministic deployer, at the same address on every chain, which must exist before a factory. */
  readonly deployer: { readonly address: EvmAddress; readonly codeHash: Hex32 };
}

/** A token account on Solana. */
export interface SeenTokenAccount {
  readonly owner: Address;
  /** Base units. */
  readonly amount: bigint;
  readonly isFrozen: boolean;
}

/** Whether a Solana node keeps memos: a transaction whose memo it has, memos lost, or no memo to check. */
export type SeenMemos =
  | { readonly kind: "kept"; readonly txHash: TxHash }
  | { readonly kind: "lost" }
  | { readonly kind: "none" };

/** One Solana node. State is read at the node's newest final slot. */
export interface SolanaInspector extends NodeInspector {
  getGenesisHash(): Promise<Hex32>;
  /** Returns the node's own text for its version, which can have any characters. */
  getVersion(): Promise<string>;
  /** Returns the oldest slot whose block the node still has. */
  getFirstSlot(): Promise<bigint>;
  /** Counts the transactions of the newest final block. Throws CONFIG_MISSING on an unsupported transaction version. */
  countTransactions(): Promise<number>;
  /** Searches the newest history of the accounts, then that of the memo program. */
  findMemos(accounts: readonly Address[]): Promise<SeenMemos>;
  hasTransaction(txHash: TxHash): Promise<boolean>;
  /** Lamports. */
  getCoinBalance(owner: Address): Promise<bigint>;
  /** Returns an order's cost in lamports: its fee and, if it pays a recipient, the rent of accounts it may open. */
  getTransactionCost(paysRecipient: boolean): Promise<bigint>;
  /** Returns whether an account belongs to the system program and has no data; null when it does not exist. */
  isWallet(account: Address): Promise<boolean | null>;
  /** Returns why a mint differs from its configuration or is refused, in a few words; null when it is accepted. */
  findMintFault(mint: Address, configured: MintConfig): Promise<string | null>;
  /** Returns the associated token account of an owner; null when it is not open. */
  findTokenAccount(
    owner: Address,
    mint: Address,
    program: MintConfig["program"],
  ): Promise<SeenTokenAccount | null>;
}
