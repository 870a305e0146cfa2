/**
 * What is read of a chain: its blocks, what moved in them, and what accounts hold.
 *
 * Reads name the block they are about where that matters: a listing is by block hash, so it can never mix two forks, and
 * what decides over inventory is read at the final block. A call that fails because the node did not answer throws
 * `OperatingError` RPC_UNAVAILABLE and says nothing about the chain; "not there" is `null` or `false`.
 */
import type { ChainKind } from "../../core/chain-registry.ts";
import type { Address, TxHash } from "../../core/hex.ts";
import type { BlockRef, ReadPoint } from "./blocks.ts";

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

/** An account of a token, and what is taken of it. */
export interface TokenSource {
  readonly account: Address;
  /** Base units. */
  readonly amount: bigint;
}

/** Picks the accounts that matter out of many. */
export type ChoosePayees = (accounts: readonly Address[]) => Promise<ReadonlySet<Address>>;

/** The native coin of a chain. */
export interface Coin {
  readonly token: Address;
  readonly decimals: number;
}

/** Reading a chain. Addresses are of the chain's own family. */
export interface ChainReader {
  /** Bridge chain id. */
  readonly chainId: number;
  readonly kind: ChainKind;
  readonly coin: Coin;
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
}
