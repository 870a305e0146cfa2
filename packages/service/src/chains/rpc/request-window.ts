/** Counts requests so that no second has more than a number of them, wherever the second begins. */

/** A little more than a second, because requests do not arrive at the pace at which they are sent. */
const WINDOW_MS = 1_050;

export interface RequestWindow {
  /** Returns the earliest time at which `count` more requests are allowed. */
  freeAt(count: number, nowMs: number): number;
  take(count: number, nowMs: number): void;
}

/** Returns a window of `perSecond` requests, which may change. More of them at once have a second of their own. */
export function createRequestWindow(perSecond: () => number): RequestWindow {
  /** Oldest first. */
  let taken: { readonly atMs: number; readonly count: number }[] = [];
  return {
    freeAt(count, nowMs) {
      taken = taken.filter(({ atMs }) => atMs + WINDOW_MS > nowMs);
      let used = taken.reduce((sum, entry) => sum + entry.count, 0);
      let freeMs = nowMs;
      for (const entry of taken) {
        if (used + count <= perSecond()) break;
        used -= entry.count;
        freeMs = entry.atMs + WINDOW_MS;
      }
      return freeMs;
    },
    take(count, nowMs) {
      taken.push({ atMs: nowMs, count });
    },
  };
}
