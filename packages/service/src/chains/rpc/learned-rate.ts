/**
 * The rate that a node accepts, where the configuration names none. Without a refusal there is no limit. After one, a little
 * less than the node has just accepted is sent; each second without a further refusal adds some.
 *
 * A node on a bad day refuses requests at any rate, and a lower one would not help. Its refusals come after few requests as
 * well as after many, while a limit refuses after about as many as it accepts in other seconds.
 */

/** Milliseconds over which accepted requests are counted, and between two increases. */
const SECOND_MS = 1_000;
/** Below this rate, which every provider accepts, a short failure would stop everything. */
const RATE_MIN = 8;
/** Beyond this rate the limit ends: it was learned from a short failure of the node. */
const RATE_MAX = 2_000;
/** Seconds for which the requests that the node accepted in one second are remembered. */
const REMEMBERED_S = 600;
/** Refusals that are compared with the best second, and with each other. */
const JUDGED = 4;
const COMPARED = 6;
/** Requests of which the refused share is counted, and the share that only a limit refuses for long. */
const SHARE_OF = 50;
const SHARE_MAX = 0.25;

export interface LearnedRate {
  /** Requests per second. */
  now(): number;
  accepted(count: number, nowMs: number): void;
  /** Reports a refusal; `isFirst` of those that came together. */
  refused(nowMs: number, isFirst: boolean): void;
  /** Reports whether the node lately refused requests after far fewer than it accepts. */
  isAtAnyRate(): boolean;
}

interface Counted {
  readonly atMs: number;
  readonly count: number;
}

export function createLearnedRate(): LearnedRate {
  let rate = Infinity;
  let changedMs = 0;
  /** Oldest first. */
  let accepted: Counted[] = [];
  /** The requests that were accepted in each of the last seconds. */
  const bySecond = new Map<number, number>();
  /** The requests that were accepted in the second before each of the last refusals, newest last. */
  let refusals: (Counted & { readonly isEarly: boolean })[] = [];
  /** The share of the last requests that was refused. */
  let refusedShare = 0;

  function isAtAnyRate(): boolean {
    if (refusedShare >= SHARE_MAX) return false;
    const judged = refusals.slice(-JUDGED);
    if (2 * judged.filter(({ isEarly }) => isEarly).length > judged.length) return true;
    const counts = refusals.map(({ count }) => count);
    return counts.length === COMPARED && Math.min(...counts) < Math.max(...counts) / 2;
  }

  /** Returns the most requests that were accepted in one second. */
  function findBest(nowMs: number): number {
    const first = Math.floor(nowMs / SECOND_MS) - REMEMBERED_S;
    for (const second of bySecond.keys()) if (second < first) bySecond.delete(second);
    return Math.max(0, ...bySecond.values());
  }

  return {
    now: () => rate,
    isAtAnyRate,
    accepted(count, nowMs) {
      refusedShare *= (1 - 1 / SHARE_OF) ** count;
      const second = Math.floor(nowMs / SECOND_MS);
      bySecond.set(second, (bySecond.get(second) ?? 0) + count);
      accepted.push({ atMs: nowMs, count });
      // Keeps them short between refusals.
      if (accepted.length > RATE_MAX) accepted = listNewer(accepted, nowMs - SECOND_MS);
      if (bySecond.size > 2 * REMEMBERED_S) findBest(nowMs);
      if (rate === Infinity || nowMs - changedMs < SECOND_MS) return;
      rate += Math.max(1, rate / 20);
      changedMs = nowMs;
      if (rate > RATE_MAX) rate = Infinity;
    },
    refused(nowMs, isFirst) {
      refusedShare += (1 - refusedShare) / SHARE_OF;
      if (!isFirst) return;
      accepted = listNewer(accepted, nowMs - SECOND_MS);
      const recent = accepted.reduce((sum, { count }) => sum + count, 0);
      const isEarly = recent <= Math.max(RATE_MIN, findBest(nowMs) / 2);
      const known = listNewer(refusals, nowMs - REMEMBERED_S * SECOND_MS).slice(1 - COMPARED);
      refusals = [...known, { atMs: nowMs, count: recent, isEarly }];
      rate = isAtAnyRate()
        ? Math.min(rate * 1.25, RATE_MAX)
        : Math.max(RATE_MIN, Math.floor(Math.min(rate, recent) * 0.9));
      changedMs = nowMs;
    },
  };
}

function listNewer<Entry extends Counted>(entries: readonly Entry[], sinceMs: number): Entry[] {
  return entries.filter(({ atMs }) => atMs > sinceMs);
}
