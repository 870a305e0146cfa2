/**
 * The inspector ports: what `sluice doctor` asks of one node, beyond what the service needs to run. Everything is read
 * at the newest block. A call throws `OperatingError` RPC_UNAVAILABLE when the node gave no usable answer, also when the
 * contract that was asked has no such function.
 */
import type { MintConfig } from "../config/index.ts";
import type { Address, EvmAddress, Hex32, TxHash } from "../core/hex.ts";
import type { BlockRef, Fees, ReadAt } from "./port/index.ts";

/** Contracts whose code the build of this service knows. */
export const BUILT_CONTRACTS = [
  "factory",
  "implementation",
  "escrow",
  "delivery",
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

/** Who governs a contract, and in which state it is. */
export interface Governance {
  readonly owner: EvmAddress;
  readonly guardian: EvmAddress;
  readonly delaySeconds: bigint;
  readonly isSealed: boolean;
  readonly isPaused: boolean;
}

/** What fixes the addresses of a factory. */
export interface FactoryIdentity {
  readonly implementation: EvmAddress;
  readonly initCodeHash: Hex32;
}

/** What an escrow or delivery contract was made for. */
export interface ContractTerms {
  readonly factory: EvmAddress;
  /** Bridge chain id. */
  readonly bridgeId: number;
  readonly treasury: EvmAddress;
}

/** What a route on the same chain was made for. */
export interface TransferTerms {
  readonly evmChainId: bigint;
  readonly bridgeId: number;
  readonly token: EvmAddress;
  readonly feeRecipient: EvmAddress;
}

/** What routes through a pool were made for. */
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
}

/** What a route through a pool of its chain was made for. */
export interface SwapTerms extends PoolTerms {
  readonly bridgeId: number;
  readonly feeRecipient: EvmAddress;
}

/** What a route through a pool and Circle's bridge was made for. */
export interface SwapBridgePair extends PoolTerms, Omit<BridgePair, "token"> {}

/** What a route into the escrow was made for. */
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

/** What a route through Circle's bridge was made for. */
export interface BridgePair {
  readonly evmChainId: bigint;
  readonly token: EvmAddress;
  readonly messenger: EvmAddress;
  readonly destChain: number;
  /** 32 bytes, addresses padded on the left. */
  readonly destToken: Hex32;
  /** Circle's number of the destination. */
  readonly destDomain: number;
}

/** What a price feed says. */
export interface FeedAnswer {
  /** Its pair, as it calls it. */
  readonly description: string;
  /** US dollars per whole unit, times 1e18. */
  readonly usd: bigint;
  readonly publishedAtMs: number;
}

/** What a router or a quoter of Uniswap v3 was made for. */
export interface SwapRouterTerms {
  readonly factory: EvmAddress;
  /** The wrapped native coin. */
  readonly weth: EvmAddress;
}

/** What a node of any family is asked about its chain. */
export interface NodeInspector {
  /** Bridge chain id. */
  readonly chainId: number;
  getHead(at: ReadAt): Promise<SeenBlock>;
  /** The hash of the block at a height, on Solana of all that is read of it; null when the node has none. */
  getBlockHash(number: bigint): Promise<Hex32 | null>;
}

/** One node of one EVM chain. */
export interface ChainInspector extends NodeInspector {
  getEvmChainId(): Promise<number>;
  /** Wei. */
  getCoinBalance(owner: EvmAddress): Promise<bigint>;
  /** What a lane would offer now. */
  suggestFees(): Promise<Fees>;
  hasCode(address: EvmAddress): Promise<boolean>;
  /** Code that is not the delegation of an ordinary account (EIP-7702). */
  isContract(address: EvmAddress): Promise<boolean>;
  /** The hash of the code at an address; that of no bytes where there is none. */
  getCodeHash(address: EvmAddress): Promise<Hex32>;
  /** Whether the code is that of this build, whatever its immutable values are. */
  isOfBuild(address: EvmAddress, contract: BuiltContract): Promise<boolean>;
  /** Whether the code is the wallet implementation of this build, and obeys the factory. */
  isImplementationOf(address: EvmAddress, factory: EvmAddress): Promise<boolean>;
  /** Base units of a token, or wei. */
  getBalance(token: EvmAddress, owner: EvmAddress): Promise<bigint>;
  getTokenDecimals(token: EvmAddress): Promise<number>;
  getTokenSymbol(token: EvmAddress): Promise<string>;
  getGovernance(contract: EvmAddress): Promise<Governance>;
  getFactoryIdentity(factory: EvmAddress): Promise<FactoryIdentity>;
  getContractTerms(contract: EvmAddress): Promise<ContractTerms>;
  getEscrowEvmChainId(escrow: EvmAddress): Promise<bigint>;
  getTransferTerms(route: EvmAddress): Promise<TransferTerms>;
  getEscrowPair(route: EvmAddress): Promise<EscrowPair>;
  getBridgePair(route: EvmAddress): Promise<BridgePair>;
  getSwapTerms(route: EvmAddress): Promise<SwapTerms>;
  getSwapBridgePair(route: EvmAddress): Promise<SwapBridgePair>;
  /** The pool of two tokens and a fee that a factory of Uniswap v3 knows, or null when it knows none. */
  findPool(
    factory: EvmAddress,
    pool: { readonly tokens: readonly [EvmAddress, EvmAddress]; readonly fee: number },
  ): Promise<EvmAddress | null>;
  isRoute(factory: EvmAddress, route: EvmAddress): Promise<boolean>;
  isRelayer(factory: EvmAddress, relayer: EvmAddress): Promise<boolean>;
  isAttestor(factory: EvmAddress, attestor: EvmAddress): Promise<boolean>;
  isSettler(delivery: EvmAddress, settler: EvmAddress): Promise<boolean>;
  /** The most that a delivery contract pays of a token in any 24 hours, in base units. */
  getDailyCap(delivery: EvmAddress, token: EvmAddress): Promise<bigint>;
  getPriceFeed(feed: EvmAddress): Promise<FeedAnswer>;
  /** The transmitter through which a messenger of CCTP speaks. */
  getCctpTransmitter(messenger: EvmAddress): Promise<EvmAddress>;
  /** Circle's own id of the chain on which a transmitter of CCTP stands. */
  getCctpDomain(transmitter: EvmAddress): Promise<number>;
  getSwapRouterTerms(contract: EvmAddress): Promise<SwapRouterTerms>;
}

/** What follows from a factory's address alone, and what a chain must have before a factory can stand on it. */
export interface FactoryExpectation {
  /** The identity that the service derives deposit addresses with. */
  identityOf(factory: EvmAddress): FactoryIdentity;
  /** The deterministic deployer, at one address on every chain. */
  readonly deployer: { readonly address: EvmAddress; readonly codeHash: Hex32 };
}

/** A token account on Solana. */
export interface SeenTokenAccount {
  readonly owner: Address;
  /** Base units. */
  readonly amount: bigint;
  readonly isFrozen: boolean;
}

/** What a node of Solana keeps of memos: a transaction whose memo it shows, memos that it lost, or none to tell by. */
export type SeenMemos =
  | { readonly kind: "kept"; readonly txHash: TxHash }
  | { readonly kind: "lost" }
  | { readonly kind: "none" };

/** One node of Solana. State is read of what the node calls final. */
export interface SolanaInspector extends NodeInspector {
  getGenesisHash(): Promise<Hex32>;
  /** As the node calls itself, whatever characters that has. */
  getVersion(): Promise<string>;
  /** The oldest slot whose block the node still has. */
  getFirstSlot(): Promise<bigint>;
  /** How many transactions the newest final block has. Throws CONFIG_MISSING when some are of a version that is not understood. */
  countTransactions(): Promise<number>;
  /** Looks through the newest history of the accounts, then through that of the memo program. */
  findMemos(accounts: readonly Address[]): Promise<SeenMemos>;
  hasTransaction(txHash: TxHash): Promise<boolean>;
  /** Lamports. */
  getCoinBalance(owner: Address): Promise<bigint>;
  /** Lamports that an order takes now: its fee, and where it pays a recipient the rent of accounts that it may open. */
  getTransactionCost(paysRecipient: boolean): Promise<bigint>;
  /** Whether an account is a plain one, of the system program and without data; null where there is none yet. */
  isWallet(account: Address): Promise<boolean | null>;
  /** Why a mint is not what it is configured as, or is refused, in few words; null where it is settled. */
  findMintFault(mint: Address, configured: MintConfig): Promise<string | null>;
  /** The associated token account of an owner; null where it is not open. */
  findTokenAccount(
    owner: Address,
    mint: Address,
    program: MintConfig["program"],
  ): Promise<SeenTokenAccount | null>;
}
