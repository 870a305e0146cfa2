/**
 * The size of batches that a node takes, which no node announces. A refusal halves it. Acceptances double it slowly: some
 * servers refuse a batch because of one request in it, and a provider's plan can change.
 */

/** Every provider that takes batches takes this many, unless its plan is a small one. */
const SIZE_MAX = 100;
/** Full batches in a row after which twice as many are tried. */
const ACCEPTED_BEFORE_GROWTH = 50;

export interface BatchSize {
  /** Most requests of the next batch; 1 where batches are not used. */
  now(): number;
  refused(size: number): void;
  accepted(size: number): void;
}

/** Returns a size that starts with `most` and never exceeds it. */
export function createBatchSize(most = SIZE_MAX): BatchSize {
  let size = most;
  let accepted = 0;
  return {
    now: () => size,
    refused(tried) {
      size = Math.max(1, Math.min(size, Math.floor(tried / 2)));
      accepted = 0;
    },
    accepted(tried) {
      if (tried < size || size === most) return;
      accepted += 1;
      if (accepted < ACCEPTED_BEFORE_GROWTH) return;
      size = Math.min(most, size * 2);
      accepted = 0;
    },
  };
}
