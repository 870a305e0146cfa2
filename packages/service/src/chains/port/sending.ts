/** Simulation and sending of signed transactions. */
import type { Address, Hex, Hex32, TxHash } from "../../core/hex.ts";
import type { Effect } from "./effects.ts";

/** A call to one of our contracts, ready to be simulated or signed. */
export interface Call {
  readonly to: Address;
  readonly data: Hex;
  /** Wei sent along. */
  readonly value: bigint;
}

/** A call and its gas limit. */
export interface GasCall {
  readonly call: Call;
  readonly gas: bigint;
}

/** Several calls combined into one. */
export interface Batch extends GasCall {
  /** Positions of the combined calls. */
  readonly members: readonly number[];
  /** Whether a batch of more such calls would be too large. */
  readonly isFull: boolean;
}

export type Simulation =
  | { readonly ok: true; /** Gas limit to sign, margin included. */ readonly gas: bigint }
  | {
      readonly ok: false;
      /** Name of the contract's error, or "reverted". */ readonly reason: string;
    };

/** Knowledge of a call's gas before its simulation. */
export type GasHint =
  /** Its limit is known: the simulation says whether the call succeeds within it. */
  | { readonly gas: bigint }
  /** Names calls that take about as much. A limit of the last minute is used again if the call succeeds within it now. */
  | { readonly like: string };

/** Prices of one unit of gas: wei per gas on EVM chains, micro-lamports per compute unit on Solana. */
export interface Fees {
  /** Most that is paid for a unit, the tip included. */
  readonly gasPriceMax: bigint;
  /** Most of it that the block producer receives. */
  readonly tipMax: bigint;
}

/** A node's answer to a signed transaction. `unknown` may have been accepted: only poll or rebroadcast, never replan. */
export type SendOutcome =
  | "accepted"
  | "known"
  | "nonce_too_low"
  | "underpriced"
  | "insufficient_funds"
  | "unknown";

export interface Receipt {
  readonly txHash: TxHash;
  readonly blockHash: Hex32;
  readonly blockNumber: bigint;
  readonly succeeded: boolean;
  /** Set when the transaction failed only because a vault received more before it was mined. */
  readonly metMore?: true | undefined;
  /** Wei that the sender paid for gas, including a rollup's L1 fee. */
  readonly gasCost: bigint;
  readonly effects: readonly Effect[];
}

/** Sending to a chain, one signed transaction at a time. */
export interface ChainSender {
  /**
   * Returns whether a final block proves that no payout with this deadline (Unix seconds) can still be mined: a chain that
   * checks deadlines has passed it; elsewhere every transaction signed in time is mined or expired.
   */
  isOrderOver(deadline: bigint): Promise<boolean>;
  /** Returns the fees to offer now: twice the base fee plus the tip. */
  suggestFees(): Promise<Fees>;
  /**
   * Returns the base units of native coin that a transaction of a settlement costs besides its gas: on the OP stack the fees for
   * layer 1 and of the operator, 0 elsewhere.
   */
  readSurcharge(): Promise<bigint>;
  simulate(from: Address, call: Call, hint?: GasHint): Promise<Simulation>;
  send(raw: Hex): Promise<SendOutcome>;
  getReceipt(txHash: TxHash): Promise<Receipt | null>;
}
