/**
 * The chain port: what the service asks of a chain, and nothing a family could not honour.
 *
 * Reads name the block they are about where that matters: a listing is by block hash, so it can never mix two forks,
 * and what decides over inventory is read at the final block. A call that fails because the node did not answer throws
 * `OperatingError` RPC_UNAVAILABLE and says nothing about the chain; "not there" is `null` or `false`.
 *
 * Heights and amounts are bigint; token address zero is the native coin.
 */
import type { ChainKind } from "../core/chain-registry.ts";
import type { Commitment } from "../core/commitment.ts";
import type { Address, Hex, Hex32, TxHash } from "../core/hex.ts";

/** A point of view: the newest block a node has, or the newest that cannot be undone. */
export type ReadAt = "latest" | "final";

/** One block, and no other at its height. */
export interface BlockId {
  readonly number: bigint;
  readonly hash: Hex32;
}

/** Where state is read: from a point of view, or at exactly one block. Reading throws when the node lacks the block. */
export type ReadPoint = ReadAt | BlockId;

export interface BlockRef extends BlockId {
  readonly parentHash: Hex32;
}

/** A token transfer as a chain's log states it: a hint of value, proved by the balance. */
export interface Transfer {
  readonly token: Address;
  readonly from: Address;
  readonly to: Address;
  /** Base units, never zero. */
  readonly amount: bigint;
  readonly txHash: TxHash;
  /** Position of the log in its block; of a native transfer, how many logs of the block come before its transaction. */
  readonly logIndex: number;
  /**
   * Position of this transfer among those of its token in its transaction, from 0: it survives re-inclusion in another
   * block, and does not depend on which other tokens are listed.
   */
  readonly ordinal: number;
}

/** One token in one wallet. */
export interface TokenHolding {
  readonly token: Address;
  readonly wallet: Address;
}

export type OutflowKind = "swept" | "refunded" | "returned";

/** Value that left a deposit address by one of its two ways out, a sweep or a refund: it takes the whole balance. */
export interface Outflow {
  readonly kind: OutflowKind;
  readonly wallet: Address;
  readonly token: Address;
  /** Base units; below zero where the escrow gave a lock back (`returned`), which is no new deposit. */
  readonly amount: bigint;
  readonly txHash: TxHash;
  /** Position of the log in its block. */
  readonly logIndex: number;
}

/** What a wallet holds of a token to be swept. */
export interface Held {
  /** Base units. */
  readonly amount: bigint;
  /** The block up to which arrivals are in the amount; undefined where a sweep takes all that is there when it is mined. */
  readonly asOf?: bigint | undefined;
  /** Where it lies, where that is in more accounts than the one to be expected. */
  readonly sources?: readonly TokenSource[] | undefined;
  /**
   * What must be left where a sweep is to go through whatever else arrives before it is mined; undefined where nothing that
   * arrives can hinder one. Base units.
   */
  readonly spare?: bigint | undefined;
}

/** Why an order from a vault would fail, or failed, that met more than it takes: anybody can send some at any time. */
export const MORE_ARRIVED = "more arrived than is final";

/** An account of a token, and what is taken of it. */
export interface TokenSource {
  readonly account: Address;
  /** Base units. */
  readonly amount: bigint;
}

/** Picks the accounts that matter out of many. */
export type ChoosePayees = (accounts: readonly Address[]) => Promise<ReadonlySet<Address>>;

/** A call to one of our contracts, ready to be simulated or signed. */
export interface Call {
  readonly to: Address;
  readonly data: Hex;
  /** Wei sent along. */
  readonly value: bigint;
}

/** A call, and the gas limit under which it is to run. */
export interface GasCall {
  readonly call: Call;
  readonly gas: bigint;
}

/** Several calls as one. */
export interface Batch extends GasCall {
  /** Which of them, by their positions. */
  readonly members: readonly number[];
}

export type Simulation =
  | { readonly ok: true; /** Gas limit to sign, margin included. */ readonly gas: bigint }
  | {
      readonly ok: false;
      /** Name of the contract's error, or "reverted". */ readonly reason: string;
    };

/** Fees per gas in wei (EIP-1559). */
export interface Fees {
  readonly maxFeePerGas: bigint;
  readonly maxPriorityFeePerGas: bigint;
}

/** What one of our contracts says that it did, read from the logs of a mined transaction. */
export type Effect =
  | { readonly kind: "deployed"; readonly wallet: Address; readonly commitment: Hex32 }
  | {
      readonly kind: "settled";
      readonly wallet: Address;
      readonly token: Address;
      readonly route: Address;
      readonly amount: bigint;
      readonly logIndex: number;
      /** The block up to which it took what had arrived, where the sweep says so. */
      readonly upTo?: bigint | undefined;
    }
  | {
      readonly kind: "transferred";
      readonly wallet: Address;
      readonly token: Address;
      readonly to: Address;
      readonly amount: bigint;
      readonly fee: bigint;
    }
  | ({ readonly kind: "swapped" } & SwapFacts)
  | ({
      readonly kind: "locked";
      readonly escrow: Address;
      readonly deliveryId: Hex32;
    } & LockFacts)
  | ({ readonly kind: "delivered" } & DeliveredFacts)
  | { readonly kind: "claimed"; readonly deliveryId: Hex32; readonly amount: bigint }
  | {
      readonly kind: "refunded";
      readonly wallet: Address;
      readonly token: Address;
      readonly to: Address;
      readonly amount: bigint;
    }
  | ({ readonly kind: "burned" } & BurnFacts)
  /** What the bridge's transmitter sent, as it stands on the chain. */
  | { readonly kind: "message_sent"; readonly message: Hex };

/** A wallet's burn for a bridge. */
export interface BurnFacts {
  readonly wallet: Address;
  readonly token: Address;
  /** Base units that were burned. */
  readonly amount: bigint;
  /** Kept of the deposit before the burn. */
  readonly fee: bigint;
  /** The most that the bridge may keep of what was burned. */
  readonly maxFee: bigint;
  /** The bridge's number of the destination. */
  readonly destDomain: number;
  readonly recipient: Hex32;
}

/** What a pool exchanged for a wallet. */
export interface SwapFacts {
  readonly wallet: Address;
  /** Who received what came out. */
  readonly to: Address;
  readonly tokenIn: Address;
  readonly tokenOut: Address;
  /** Base units that went into the pool. */
  readonly amountIn: bigint;
  /** Base units by which the recipient's balance grew. */
  readonly amountOut: bigint;
  /** Kept of the deposit before the swap, in base units of `tokenIn`. */
  readonly fee: bigint;
}

export interface LockFacts {
  readonly wallet: Address;
  readonly commitment: Hex32;
  readonly token: Address;
  readonly amount: bigint;
  readonly minOut: bigint;
  readonly seq: bigint;
  readonly destChain: number;
  readonly delivery: Hex32;
}

/** `claimed`, `returned` to its deposit address, or `taken_back` by its refund authority: the last three are for good. */
export type LockState = "locked" | "claimed" | "returned" | "taken_back";

/** A lock as the escrow holds it. */
export interface Lock extends LockFacts {
  readonly state: LockState;
  /** Unix seconds of the block of the lock. */
  readonly lockedAt: bigint;
  /** What lies in it now, where anybody may add to a lock: what ends it takes all of that. */
  readonly held?: bigint | undefined;
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

export interface DeliveredFacts {
  readonly deliveryId: Hex32;
  readonly commitment: Hex32;
  readonly to: Address;
  readonly token: Address;
  readonly amount: bigint;
}

/** Value that a refund authority got back from a deposit address. */
export interface FoundRefund {
  readonly to: Address;
  readonly amount: bigint;
  readonly txHash: TxHash;
  readonly blockNumber: bigint;
  /** Position of the log in its block. */
  readonly logIndex: number;
}

/** What a bridge minted for one message, found on its chain by our own reader. */
export interface FoundMint {
  readonly to: Address;
  readonly token: Address;
  /** Base units that the recipient got. */
  readonly amount: bigint;
  /** Kept by the bridge. */
  readonly fee: bigint;
  readonly txHash: TxHash;
  readonly blockNumber: bigint;
}

/** A delivery found on its chain by our own reader. */
export interface FoundDelivery extends DeliveredFacts {
  readonly txHash: TxHash;
  readonly blockNumber: bigint;
}

export interface Receipt {
  readonly txHash: TxHash;
  readonly blockHash: Hex32;
  readonly blockNumber: bigint;
  readonly succeeded: boolean;
  /** Set of a transaction that failed only for what somebody sent to a vault before it was mined. */
  readonly metMore?: true | undefined;
  /** Wei that the sender paid for gas, the fee of the chain below included. */
  readonly gasCost: bigint;
  readonly effects: readonly Effect[];
}

/** What a node said to a signed transaction. `unknown` may have been accepted: never plan anew, only look or resend. */
export type SendOutcome =
  "accepted" | "known" | "nonce_too_low" | "underpriced" | "insufficient_funds" | "unknown";

/** The destination leg of a settlement from inventory, as the `Delivery` contract takes it. */
export interface DeliveryOrder {
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

/** Reading a chain. Addresses are of the chain's own family. */
export interface ChainReader {
  /** Bridge chain id. */
  readonly chainId: number;
  readonly kind: ChainKind;
  /** Throws `OperatingError` CONFIG_MISSING when the node serves another chain than configured. */
  checkIdentity(): Promise<void>;
  getHead(): Promise<BlockRef>;
  /** Height of the newest block that cannot be undone. */
  getFinalNumber(): Promise<bigint>;
  /** The time of a block, in Unix seconds. */
  getTime(at: ReadPoint): Promise<bigint>;
  getBlock(number: bigint): Promise<BlockRef | null>;
  /**
   * The block that follows a height: the next higher one, whatever its parent, as slots may be skipped; null while there is
   * none.
   */
  getBlockAfter(number: bigint): Promise<BlockRef | null>;
  /** Every transfer of the tokens in exactly this block, in order. Throws when the node no longer has the block. */
  listTransfers(block: BlockRef, tokens: readonly Address[]): Promise<Transfer[]>;
  /** What transactions of exactly this block paid in the native coin to those whom `choose` picks, in order. */
  listNativeTransfers(block: BlockRef, choose: ChoosePayees): Promise<Transfer[]>;
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
  /** In the newest block unless another is named, as everywhere below. */
  getBalance(token: Address, owner: Address, at?: ReadPoint): Promise<bigint>;
  /** What may be swept of a token, and which arrivals are in it. */
  readHolding(token: Address, owner: Address): Promise<Held>;
  /**
   * What a wallet holds as its payers see it, which the gate looks at. Null where the token's contract, which anybody may
   * have named, reverts, burns all gas or answers nonsense.
   */
  findBalance(token: Address, owner: Address, at?: ReadPoint): Promise<bigint | null>;
  hasCode(address: Address, at?: ReadPoint): Promise<boolean>;
  /** The least that can be paid to an account now, in base units: some chains let no account hold less than its rent. */
  getLeastPayment(token: Address, to: Address): Promise<bigint>;
  /** What a price feed says: US dollars per whole unit times 1e18 (zero and below included), and when it said so. */
  readPriceFeed(
    feed: Address,
    at?: ReadPoint,
  ): Promise<{ readonly usd: bigint; readonly publishedAtMs: number }>;
  /** What a pool would give now for an amount, in base units; null when it cannot, or there is none. */
  quoteSwap(swap: SwapQuestion, at?: ReadPoint): Promise<bigint | null>;
}

/** A swap in one pool of Uniswap v3, as its quoter is asked. */
export interface SwapQuestion {
  /** `QuoterV2`. */
  readonly quoter: Address;
  /** Never the native coin: a pool has its wrapped form. */
  readonly tokenIn: Address;
  readonly tokenOut: Address;
  /** The pool's, in hundredths of a basis point. */
  readonly poolFee: number;
  readonly amountIn: bigint;
}

/** How long a signed transaction may still be mined, on a chain whose senders have no nonces. */
export interface Lifetime {
  readonly blockhash: Hex32;
  /** The last height at which it may be. */
  readonly lastValidHeight: bigint;
}

/** Sending to a chain, one signed transaction at a time. */
export interface ChainSender {
  /** What makes that a transaction is mined once: its sender's nonce, or a block that it names and that gets too old. */
  readonly sequencing: "nonce" | "blockhash";
  /** A lifetime from now on. Only where sequencing is by blockhash, as is the next. */
  getLifetime(): Promise<Lifetime>;
  /**
   * Whether a final block shows that no order of this deadline, in Unix seconds, can still be carried out: where the chain
   * itself looks at deadlines it is past this one; elsewhere what was signed in time is mined by now or never.
   */
  isOrderOver(deadline: bigint): Promise<boolean>;
  /** Whether a final block is higher than transactions of this lifetime can be mined at. */
  isExpired(lifetime: Lifetime): Promise<boolean>;
  /** What so much gas costs at a fee per gas, in base units of the native coin, rounded up. */
  costOf(gas: bigint, feePerGas: bigint): bigint;
  /** Only where sequencing is by nonce. Number of transactions of the sender up to the block: the next nonce that can be mined. */
  getTransactionCount(sender: Address, at?: ReadPoint): Promise<number>;
  /** What a transaction should offer now: twice the base fee and the tip. */
  suggestFees(): Promise<Fees>;
  simulate(from: Address, call: Call): Promise<Simulation>;
  send(raw: Hex): Promise<SendOutcome>;
  getReceipt(txHash: TxHash): Promise<Receipt | null>;
}

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

/** Circle's CCTP v2 contracts on a chain. */
export interface CctpContracts {
  /** The bridge's number of the chain. */
  readonly domain: number;
  /** TokenMessengerV2. */
  readonly messenger: Address;
  /** MessageTransmitterV2. */
  readonly transmitter: Address;
}

/** The bridge on a chain that has it. */
export interface CctpBridge {
  readonly contracts: CctpContracts;
  /** Hands an attested message in; anybody may, once. */
  buildReceive(message: Hex, attestation: Hex): Call;
  /** What was minted for the message of a nonce, by whoever handed it in; null while nobody has. */
  findMint(nonce: Hex32, at?: ReadPoint): Promise<FoundMint | null>;
}

/** Proof towards the escrow that a delivery was paid and is final. */
export interface ClaimOrder {
  readonly deliveryId: Hex32;
  /** Destination base units that were paid. */
  readonly paidAmount: bigint;
  /** Unix seconds after which the contract refuses. */
  readonly deadline: bigint;
}

/** Gives a lock back to its deposit address: it can no longer be delivered. */
export interface ReturnOrder {
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
export interface SwapOrder extends AttestedPrice {
  readonly fee: RouteFee;
  /** The least that must come out; the contract never takes less than the price allows, whatever this says. */
  readonly minOut: bigint;
  /** Unix seconds after which the contract refuses. */
  readonly deadline: bigint;
}

/** How a swap is asked for whose outcome is burned: `fee` is of the deposited token, `maxFee` of what comes out. */
export interface SwapBurnOrder extends SwapOrder, BurnTerms {}

/** A price for one wallet, as the attestor is asked to sign it. */
export interface PriceOrder extends SignedPrice {
  readonly wallet: Address;
  readonly token: Address;
  /** The route's contract, which is what the signature is bound to. */
  readonly route: Address;
}

/** How addresses of every family are written. */
export interface AddressFormat {
  /** The spelling shown to people and on the wire: EIP-55 on EVM chains, base58 on Solana. */
  display(address: Address): string;
  /** The address that a text names on the chains of a family. */
  parse(text: string, kind: ChainKind): ParsedAddress;
}

/** Reading state of a chain whose nodes tell it of their newest final block only. */
export interface MovingState {
  /** What wallets hold, each as of a block of its own. */
  listHoldings(holdings: readonly TokenHolding[]): Promise<readonly HeldAt[]>;
}

/** What a wallet held of a token as of a final block. */
export interface HeldAt extends TokenHolding {
  readonly amount: bigint;
  readonly at: bigint;
}

export type ParsedAddress =
  | { readonly kind: "address"; readonly address: Address }
  /** No address of the family; `expected` says what would have been one, in the words of a refusal. */
  | { readonly kind: "invalid"; readonly expected: string };

/** One chain, whole. */
export interface Chain extends ChainReader, ChainSender, DepositContracts {
  /** Null where state is read at any block. */
  readonly movingState: MovingState | null;
  /** Null on a chain without it. */
  readonly cctp: CctpBridge | null;
}

/** The configured chains by bridge id. */
export type Chains = ReadonlyMap<number, Chain>;
