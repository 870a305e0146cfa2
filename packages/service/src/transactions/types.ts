/**
 * Lane: one sender account on one chain, a strictly ordered sequence of nonces.
 * Intent: one effect that is wanted on a chain, named once and for ever (`deploy:<settlement>:1`).
 * Transaction: an intent with, once assigned, the one nonce it keeps whatever happens.
 * Batch: a transaction that carries the calls of others; it has the nonce, and they have its outcome.
 * Attempt: one signed transaction on that nonce; a replacement has the same call and higher fees.
 */
import type { Call, Lifetime } from "../chains/port/index.ts";
import type { Address, Hex, Hex32, TxHash } from "../core/hex.ts";

export const INTENT_KINDS = [
  "deploy",
  "sweep",
  "deliver",
  "claim",
  "return",
  "refund",
  "mint",
  "batch",
] as const;
export type IntentKind = (typeof INTENT_KINDS)[number];

/** `<kind>:<subject>:<running number>`; unique over all time, so submitting twice is submitting once. */
export type IntentName = `${IntentKind}:${string}:${number}`;

/** `abandoned` is what no signer signs and of which nothing can be mined; only where nothing waits for its nonce. */
export type TransactionState = "queued" | "carried" | "assigned" | "mined" | "final" | "abandoned";

export interface LaneTransaction {
  readonly id: string;
  readonly chainId: number;
  readonly lane: Address;
  readonly intent: IntentName;
  readonly settlementId: string | null;
  readonly call: Call;
  readonly gas: bigint;
  /** Null until assigned, and for ever where a batch carries it. */
  readonly nonce: number | null;
  readonly state: TransactionState;
  /** Null until mined. */
  readonly mined: MinedFacts | null;
}

export interface MinedFacts {
  readonly txHash: TxHash;
  readonly blockHash: Hex32;
  readonly blockNumber: bigint;
  readonly succeeded: boolean;
  /** Wei that the lane paid for gas; of what a batch carried, that of the batch. */
  readonly gasCost: bigint;
}

export interface Attempt {
  readonly hash: TxHash;
  readonly number: number;
  readonly raw: Hex;
  readonly maxFeePerGas: bigint;
  readonly maxPriorityFeePerGas: bigint;
  /** Null where nonces order transactions. */
  readonly lifetime: Lifetime | null;
  /** Milliseconds since the epoch. */
  readonly signedAtMs: number;
  /** Milliseconds since the epoch of the last send whose outcome was recorded; null before. */
  readonly sentAtMs: number | null;
  readonly accepted: boolean;
}

/** Whether nothing of a transaction can change any more, whatever came of it. */
export function isOver({ state }: Pick<LaneTransaction, "state">): boolean {
  return state === "final" || state === "abandoned";
}

/** How a transaction failed: by what it did in a block, or by never getting into one. Null while it has not. */
export function failureOf(
  sent: LaneTransaction | null,
): { readonly txHash: TxHash | null; readonly isFinal: boolean } | null {
  if (sent?.state === "abandoned") return { txHash: null, isFinal: true };
  if (!sent?.mined || sent.mined.succeeded) return null;
  return { txHash: sent.mined.txHash, isFinal: sent.state === "final" };
}

/** The kind an intent's name begins with. */
export function kindOf(intent: IntentName): IntentKind {
  const kind = INTENT_KINDS.find((known) => intent.startsWith(`${known}:`));
  if (!kind) throw new TypeError(`expected an intent such as "deploy:<id>:1", got "${intent}"`);
  return kind;
}
