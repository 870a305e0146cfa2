/**
 * Delays of retries and leases of claims, in milliseconds. Every row that waits or failed is due again after one of them,
 * or sooner when it is woken; none of them decides anything about value.
 */

/**
 * Retries of a settlement, the first failure first; the last one repeats. Published: integrators rely on it. 5 s, 15 s,
 * 30 s, 45 s, 1 min, 5 min, 15 min.
 */
export const RETRY_SCHEDULE_MS: readonly number[] = [
  5_000, 15_000, 30_000, 45_000, 60_000, 300_000, 900_000,
];

/**
 * How long a claimed row is left to its worker. Longer than its requests take when a node answers each at its time limit;
 * a transfer also waits in the queue of the attestation service.
 */
export const LEASE_MS = { settlement: 30_000, delivery: 30_000, transfer: 60_000 } as const;

/** A delivery or transfer with an error: most pass with a node or a price, and each retry asks the chains again. */
export const ERROR_RETRY_MS = 15_000;

/** A transaction that its signer does not sign yet, as another signature for the same lock may still be valid. */
export const SIGNER_RETRY_MS = 15_000;

/** A request that the attestor could not judge: a node did not answer. Shorter, as an order has a deadline. */
export const JUDGE_RETRY_MS = 5_000;

/** A request whose proof is not final yet. Short, as a delivery or a claim waits for it. */
export const PROOF_RETRY_MS = 500;

/** A deposit that is not final yet: each retry asks every node of the chain for the balance. */
export const FINALITY_RETRY_MS = 2_000;

/** A burn without its attestation, at the most: it takes seconds, or a quarter of an hour, and requests are limited. */
export const ATTESTATION_RETRY_MAX_MS = 30_000;

/** Between two requests to attest an expired burn again. */
export const REATTEST_AFTER_MS = 60_000;

/** A deposit without a settlement, the first time and at the most: the delay doubles, so that dust costs next to nothing. */
export const RECHECK_MS = 60_000;
export const RECHECK_MAX_MS = 24 * 3_600_000;

/** A refund of a dead settlement, at the least and at the most: the delay is a quarter of the time since it died. */
export const REFUND_POLL_MIN_MS = 5_000;
export const REFUND_POLL_MAX_MS = 6 * 3_600_000;
