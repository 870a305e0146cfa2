/**
 * Reads of a chain: blocks, the transfers in them, and balances.
 *
 * Reads name their block where it matters: a listing is by block hash, so it can never mix two forks, and decisions
 * about inventory use the final block. A call that fails because the node did not answer throws
 * `OperatingError` RPC_UNAVAILABLE and says nothing about the chain; "not there" is `null` or `false`.
 */
import type { ChainKind } from "../../core/chain-registry.ts";
import type { Address, Hex32, TxHash } from "../../core/hex.ts";
import type { BlockRef, FinalBlock, ReadPoint } from "./blocks.ts";
import type { Outflow } from "./effects.ts";

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

/** The balance of a token that a sweep can take. */
export interface Held {
  /** Base units. */
  readonly amount: bigint;
  /** The amount counts arrivals up to this block; undefined where a sweep takes the whole balance when it is mined. */
  readonly asOf?: bigint | undefined;
  /** The accounts that hold the amount, if it is not only the default account. */
  readonly sources?: readonly TokenSource[] | undefined;
  /**
   * Base units to leave behind so that later arrivals cannot fail the sweep; undefined where arrivals never fail a
   * sweep.
   */
  readonly spare?: bigint | undefined;
}

/** A token account and the amount to take from it. */
export interface TokenSource {
  readonly account: Address;
  /** Base units. */
  readonly amount: bigint;
}

/** Returns the subset of accounts that matter. */
export type ChooseAccounts = (accounts: readonly Address[]) => Promise<ReadonlySet<Address>>;

/** A scanner's request for blocks. */
export interface SectionRequest {
  /** Height below the first block. Heights can have gaps (skipped slots). */
  readonly after: bigint;
  /** Most blocks to read; if all are final, the number of heights, and the section has all of them. */
  readonly max: number;
  /**
   * Whether the caller knows that `max` heights are final. Then a chain may read logs by height, and leave out blocks that
   * hold nothing, except the last: a final height has one block, so no two forks can be mixed.
   */
  readonly isFinal: boolean;
  /**
   * Whether the blocks are long there, as all final ones are: honest nodes have them, so that of several nodes only as many
   * are asked at first as must agree.
   */
  readonly isOld: boolean;
  /** Listed tokens; payments of the native coin are read only if it is among them. */
  readonly tokens: readonly Address[];
  /** Chooses the wallets whose transfers and outflows matter. */
  readonly choose: ChooseAccounts;
}

/** Consecutive blocks, the lowest first. */
export interface Section {
  /** Hash of the parent of the first block. */
  readonly parentHash: Hex32;
  /** All blocks or, if all are final, those that hold something and the last. Never empty. */
  readonly blocks: readonly ScannedBlock[];
}

/** A block with the movements of the chosen wallets. */
export interface ScannedBlock extends BlockRef {
  /** Unix seconds. */
  readonly time: bigint;
  /** Token transfers in log order, then payments of the native coin by the block's own transactions, in order. */
  readonly transfers: readonly Transfer[];
  /** In log order. */
  readonly outflows: readonly Outflow[];
}

/** The native coin of a chain. */
export interface Coin {
  readonly token: Address;
  readonly decimals: number;
}

/** A payment on the destination, out of inventory or as a mint of the bridge. */
export interface Payment {
  readonly payer: "delivery" | "bridge";
  readonly token: Address;
  readonly to: Address;
  readonly amount: bigint;
}
export type PaymentOutcome = "accepted" | "refused";

/** Reads a chain. Addresses belong to the chain's own family. */
export interface ChainReader {
  /** Bridge chain id. */
  readonly chainId: number;
  readonly kind: ChainKind;
  readonly coin: Coin;
  /** Throws `OperatingError` CONFIG_MISSING when the node serves another chain than configured. */
  checkIdentity(): Promise<void>;
  getHead(): Promise<BlockRef>;
  /** Returns the height of the newest final block. */
  getFinalNumber(): Promise<bigint>;
  /** Returns the newest final block, height and hash of one answer. */
  getFinalBlock(): Promise<FinalBlock>;
  /**
   * Returns the newest block that the node calls `safe`: on Ethereum justified, on a rollup in the batches that Ethereum has. A
   * reorganisation can still remove it. On Solana it is the newest final block.
   */
  getSafeBlock(): Promise<FinalBlock>;
  /** Returns the time of a block, in Unix seconds. */
  getTime(at: ReadPoint): Promise<bigint>;
  getBlock(number: bigint): Promise<BlockRef | null>;
  /**
   * Reads the next blocks above a height; null while there is none. They are linked by their parents, and their movements
   * are of exactly these blocks. The section may end before `max` blocks, at the newest one or where the answers grow too large.
   * Nothing is said about the parent of the first block, which the caller compares with its own.
   */
  readSection(request: SectionRequest): Promise<Section | null>;
  /** Returns a balance, in the newest block unless `at` names another; the same default holds below. */
  getBalance(token: Address, owner: Address, at?: ReadPoint): Promise<bigint>;
  /** Returns the balance of a token that a sweep can take, and the arrivals that it includes. */
  readHolding(token: Address, owner: Address): Promise<Held>;
  /**
   * Returns the balance that the gate checks. Null when the token's contract, which anybody can name, reverts, uses up
   * all gas or returns malformed data.
   */
  findBalance(token: Address, owner: Address, at?: ReadPoint): Promise<bigint | null>;
  /**
   * Simulates a payment that a contract of a route will make. Refused means that this recipient cannot be paid, and another
   * could.
   */
  simulatePayment(payment: Payment): Promise<PaymentOutcome>;
  /** Returns the least that can be paid to an account now, in base units; on some chains rent sets a minimum balance. */
  getLeastPayment(token: Address, to: Address): Promise<bigint>;
}
