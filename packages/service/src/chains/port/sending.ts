/** Sending to a chain, one signed transaction at a time. */
import type { Address, Hex, Hex32, TxHash } from "../../core/hex.ts";
import type { ReadPoint } from "./blocks.ts";
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

/** How long a signed transaction may still be mined, on a chain whose senders have no nonces. */
export interface Lifetime {
  readonly blockhash: Hex32;
  /** The last height at which it may be. */
  readonly lastValidHeight: bigint;
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
