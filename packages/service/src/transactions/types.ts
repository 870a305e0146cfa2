/**
 * Lane: one sender account on one chain, a strictly ordered sequence of nonces.
 * Intent: one effect wanted on a chain, with a permanent unique name (`deploy:<settlement>:1`).
 * Transaction: an intent and, once assigned, its nonce. The nonce never changes afterwards.
 * Batch: a transaction that carries the calls of other intents. The batch has the nonce; its members take their outcome
 *   from its receipt.
 * Attempt: one signed transaction on an intent's nonce. A replacement is another attempt: the same call, higher fees.
 */
import type { Call, Lifetime, SendOutcome } from "../chains/port/index.ts";
import type { Address, Hex, Hex32, TxHash } from "../core/hex.ts";

export const INTENT_KINDS = [
  "deploy",
  "sweep",
  "deliver",
  "claim",
  "return",
  "refund",
  "mint",
  "move",
  "batch",
  "fill",
] as const;
export type IntentKind = (typeof INTENT_KINDS)[number];

/** `<kind>:<subject>:<sequence number>`. Permanently unique, which makes `submitIntent` idempotent. */
export type IntentName = `${IntentKind}:${string}:${number}`;

/**
 * `abandoned` means that the signer refused to sign and no earlier attempt can be mined. On a chain with nonces it was never
 * signed, and the nonce went to the calls behind it.
 */
export type TransactionState = "queued" | "carried" | "assigned" | "mined" | "final" | "abandoned";

/** A transaction without its call, which is most of a row. */
export interface TransactionFacts {
  readonly id: string;
  readonly chainId: number;
  readonly lane: Address;
  readonly intent: IntentName;
  readonly settlementId: string | null;
  /** Null until assigned, and of an abandoned call; always null for a member of a batch. */
  readonly nonce: number | null;
  readonly state: TransactionState;
  /** Whether an operator gave the call up: from then on only a transfer of nothing is signed for its nonce. */
  readonly cancelled: boolean;
  /** Null until mined. */
  readonly mined: MinedFacts | null;
}

export interface LaneTransaction extends TransactionFacts {
  readonly call: Call;
  readonly gas: bigint;
}

export interface MinedFacts {
  readonly txHash: TxHash;
  readonly blockHash: Hex32;
  readonly blockNumber: bigint;
  readonly succeeded: boolean;
  /** Wei that the lane paid for gas. A member of a batch has the cost of the whole batch. */
  readonly gasCost: bigint;
}

export interface Attempt {
  readonly hash: TxHash;
  readonly number: number;
  readonly raw: Hex;
  readonly gasPriceMax: bigint;
  readonly tipMax: bigint;
  /** Null on chains that order transactions by nonce. */
  readonly lifetime: Lifetime | null;
  /** Milliseconds since the epoch. */
  readonly signedAtMs: number;
  /** Milliseconds since the epoch of the last send with a recorded outcome; null before the first. */
  readonly sentAtMs: number | null;
  /** Number of sends with a recorded outcome. */
  readonly sends: number;
  /** Outcome of the last send; null before the first. */
  readonly outcome: SendOutcome | null;
  /** Whether a node accepted it since it was signed or orphaned. */
  readonly accepted: boolean;
  /** Whether it transfers nothing to the lane itself, in place of the transaction's call. */
  readonly cancels: boolean;
}

/** Reports whether a transaction can no longer change. */
export function isOver({ state }: Pick<LaneTransaction, "state">): boolean {
  return state === "final" || state === "abandoned";
}

/** Returns how a transaction failed: mined and reverted, or abandoned (null hash). Returns null if it has not failed. */
export function failureOf(
  sent: LaneTransaction | null,
): { readonly txHash: TxHash | null; readonly isFinal: boolean } | null {
  if (sent?.state === "abandoned") return { txHash: null, isFinal: true };
  if (!sent?.mined || sent.mined.succeeded) return null;
  return { txHash: sent.mined.txHash, isFinal: sent.state === "final" };
}

/** Returns the kind of an intent from the prefix of its name. */
export function kindOf(intent: IntentName): IntentKind {
  const kind = INTENT_KINDS.find((known) => intent.startsWith(`${known}:`));
  if (!kind) throw new TypeError(`expected an intent such as "deploy:<id>:1", got "${intent}"`);
  return kind;
}
