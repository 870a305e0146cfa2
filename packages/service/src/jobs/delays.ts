/**
 * Delays of retries and polls, in milliseconds. A row that waits or failed is due again after
 * one of these delays, or sooner when it is woken. None of them affects the safety of value.
 */

/**
 * Delays between the tries of a settlement, the first retry first; the last one repeats: 5 s, 15 s, 30 s, 45 s, 1 min,
 * 5 min, 15 min. Published: integrators rely on them.
 */
export const RETRY_SCHEDULE_MS: readonly number[] = [
  5_000, 15_000, 30_000, 45_000, 60_000, 300_000, 900_000,
];

/** Delay of the next poll of a row whose poll failed before it set one. */
export const FAILED_POLL_RETRY_MS = 5_000;

/** Minimum and maximum delay of the retry of a delivery or bridge transfer after an error. */
const ERROR_RETRY_MIN_MS = 1_000;
const ERROR_RETRY_MAX_MS = 15_000;

/**
 * Returns the delay of a retry after an error of something that has waited for a time. Most errors pass with a node or a
 * price: a request that was dropped costs a young delivery a second, and an outage no more requests than before.
 */
export function errorDelay(waitedMs: number): number {
  return Math.min(Math.max(waitedMs / 10, ERROR_RETRY_MIN_MS), ERROR_RETRY_MAX_MS);
}

/** Retry of a transaction whose signer waits, since another signature for the same lock may still be valid. */
export const SIGNER_RETRY_MS = 15_000;

/** Retry of a call that stepped aside in a lane with nonces, because its signer waits for a node. */
export const STEP_ASIDE_RETRY_MS = 2_000;

/** Retry of an attestor request that a silent node left undecided. Short, because payouts have a deadline. */
export const JUDGE_RETRY_MS = 5_000;

/** Retry of an attestor request whose proof is not final. Short, because a delivery or a claim waits for it. */
export const PROOF_RETRY_MS = 500;

/** Retry of a sweep that waits for a deposit's finality. Each retry reads the balance from every node of the chain. */
export const FINALITY_RETRY_MS = 2_000;

/** Maximum delay between polls of something that ends by finality; whatever ends it by a transaction of ours wakes it. */
export const FOLLOW_RETRY_MAX_MS = 15_000;

/**
 * Returns the delay until the next poll of something that has waited for a time: a twentieth of it, so that polls cost few
 * requests in a wait of minutes, and lengthen it by at most a twentieth.
 */
export function followDelay(waitedMs: number): number {
  return Math.min(Math.max(0, waitedMs) / 20, FOLLOW_RETRY_MAX_MS);
}

/** Maximum delay between polls of something that is not expected to be final yet: until then its block can be orphaned. */
const UNFINAL_RETRY_MAX_MS = 60_000;

/**
 * Returns the delay until the next poll of a mined transaction that has waited for finality for a time. Where the shortest of
 * the last waits is known, a poll before nine tenths of it only shows whether the block is orphaned, and the delays double;
 * after that, and where none is known, as `followDelay`.
 */
export function finalityDelay(waitedMs: number, usualMs: number | undefined): number {
  const expectedMs = (usualMs ?? 0) * 0.9 - waitedMs;
  return Math.max(
    followDelay(waitedMs),
    Math.min(Math.max(0, waitedMs), expectedMs, UNFINAL_RETRY_MAX_MS),
  );
}

/**
 * Minimum delay between polls of something whose transaction is sent: its lane wakes it, in the database transaction that
 * records what became of it.
 */
export const SENT_POLL_MS = 15_000;

/** Delay of the next poll of something that attestors were asked about: their answer wakes it, unless the connection broke. */
export const ANSWER_POLL_MS = 5_000;

/** Minimum delay between polls of a lock until it is final, which takes less than a second on some chains. */
export const LOCK_POLL_MIN_MS = 100;

/** Minimum delay between polls of a completed settlement until its sweep is final: finality takes longer. */
export const FOLLOW_COMPLETED_MIN_MS = 5_000;

/** Maximum delay between polls for a bridge attestation, which takes seconds to 15 minutes; requests are limited. */
export const ATTESTATION_RETRY_MAX_MS = 30_000;

/** Delay between two requests to attest an expired burn again. */
export const REATTEST_AFTER_MS = 60_000;

/** First and maximum delay of a deposit's re-check. The delay grows with its age, so that dust costs almost nothing. */
export const RECHECK_MS = 60_000;
export const RECHECK_MAX_MS = 24 * 3_600_000;

/** Maximum delay until a delivery that could not be proved is audited again. */
const AUDIT_RETRY_MAX_MS = 6 * 3_600_000;

/** Returns the delay until a delivery is audited again that has waited for a time: a quarter of it, since each try costs many requests. */
export function auditDelay(waitedMs: number): number {
  return Math.min(Math.max(0, waitedMs) / 4, AUDIT_RETRY_MAX_MS);
}

/** Minimum and maximum delay of polls for a refund: a quarter of the time since the settlement ended, in these bounds. */
export const REFUND_POLL_MIN_MS = 5_000;
export const REFUND_POLL_MAX_MS = 6 * 3_600_000;

/** Delay between two refunds of a balance by policy: one that attestors refuse is asked for once a day. */
export const REFUND_AGAIN_MS = 24 * 3_600_000;
