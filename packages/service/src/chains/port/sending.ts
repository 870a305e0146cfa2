/** Sending to a chain, one signed transaction at a time. */
import type { Address, Hex, Hex32, TxHash } from "../../core/hex.ts";
import type { Effect } from "./effects.ts";

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

/** What a node said to a signed transaction. `unknown` may have been accepted: never plan anew, only look or resend. */
export type SendOutcome =
  "accepted" | "known" | "nonce_too_low" | "underpriced" | "insufficient_funds" | "unknown";

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

/** Sending to a chain, one signed transaction at a time. */
export interface ChainSender {
  /**
   * Whether a final block shows that no order of this deadline, in Unix seconds, can still be carried out: where the chain
   * itself looks at deadlines it is past this one; elsewhere what was signed in time is mined by now or never.
   */
  isOrderOver(deadline: bigint): Promise<boolean>;
  /** What a transaction should offer now: twice the base fee and the tip. */
  suggestFees(): Promise<Fees>;
  simulate(from: Address, call: Call): Promise<Simulation>;
  send(raw: Hex): Promise<SendOutcome>;
  getReceipt(txHash: TxHash): Promise<Receipt | null>;
}
