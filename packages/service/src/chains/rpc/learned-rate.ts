/**
 * The rate that a node accepts, where the configuration names none. Without a refusal there is no limit. After one, a little
 * less than the node has just accepted is sent; each second without a further refusal adds some.
 */

/** Milliseconds over which accepted requests are counted, and between two increases. */
const SECOND_MS = 1_000;
/** Below this rate, which every provider accepts, a short failure would stop everything. */
const RATE_MIN = 5;
/** Beyond this rate the limit ends: it was learned from a short failure of the node. */
const RATE_MAX = 2_000;

export interface LearnedRate {
  /** Requests per second. */
  now(): number;
  accepted(count: number, nowMs: number): void;
  refused(nowMs: number): void;
}

export function createLearnedRate(): LearnedRate {
  let rate = Infinity;
  let changedMs = 0;
  /** Oldest first. */
  let accepted: { readonly atMs: number; readonly count: number }[] = [];
  return {
    now: () => rate,
    accepted(count, nowMs) {
      accepted.push({ atMs: nowMs, count });
      // Keeps the list short between refusals.
      if (accepted.length > RATE_MAX) accepted = listNewer(accepted, nowMs);
      if (rate === Infinity || nowMs - changedMs < SECOND_MS) return;
      rate += Math.max(1, rate / 20);
      changedMs = nowMs;
      if (rate > RATE_MAX) rate = Infinity;
    },
    refused(nowMs) {
      const recent = listNewer(accepted, nowMs).reduce((sum, { count }) => sum + count, 0);
      rate = Math.max(RATE_MIN, Math.floor(Math.min(rate, recent) * 0.9));
      changedMs = nowMs;
    },
  };
}

function listNewer<Entry extends { readonly atMs: number }>(
  entries: readonly Entry[],
  nowMs: number,
): Entry[] {
  return entries.filter(({ atMs }) => nowMs - atMs < SECOND_MS);
}
