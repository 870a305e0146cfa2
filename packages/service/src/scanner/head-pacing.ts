/**
 * The pace of a scanner's polls where nodes announce new blocks.
 *
 * A notice above the newest scanned block starts a poll at once. If that poll finds nothing, because the notice was wrong or
 * another server answers, the scanner polls again after 0.1 s, 0.2 s and so on up to its interval, and further notices do
 * not start polls earlier: a node that announces blocks all the time costs a few polls per block. While blocks are announced
 * before they are found, the pause between polls is longer than the interval. It ends when the last connection does.
 *
 * The interval counts from the start of a poll: a new block waits for the next poll, and not for the last one's reads too.
 */
import type { Clock } from "../core/ports.ts";

export interface HeadPacing {
  /** Reports a height that a node announced. */
  announce(height: bigint): void;
  /** Reports that a subscription began. Blocks may have been missed before. */
  connected(): void;
  /** Reports that a subscription ended. */
  disconnected(): void;
  /** Reports the newest scanned height. */
  scanned(height: bigint): void;
  /** Runs a poll. */
  poll(scan: () => Promise<boolean>): Promise<boolean>;
  /** Milliseconds until the next poll. */
  pauseMs(): number;
}

const GAP_MIN_MS = 100;
/** Factor of the interval while blocks are announced, and the longest pause that it makes. */
const STRETCH = 4;
const STRETCHED_MAX_MS = 60_000;

export function createHeadPacing(options: {
  readonly clock: Clock;
  readonly intervalMs: number;
  /** Starts a poll at once. */
  readonly wake: () => void;
}): HeadPacing {
  const { clock, intervalMs, wake } = options;
  const gapMinMs = Math.min(GAP_MIN_MS, intervalMs);
  let connections = 0;
  let newest: bigint | null = null;
  /** The last announced height above the newest scanned one. */
  let announced: bigint | null = null;
  let isPolling = false;
  /** Whether the last block was announced before it was found. */
  let isPushed = false;
  let gapMs = gapMinMs;
  /** Start of the last poll; undefined if it failed, after which the whole interval passes. */
  let startedMs: number | undefined;
  /** No notice starts a poll before this time. */
  let notBeforeMs = 0;

  const isAbove = (height: bigint | null, other: bigint | null) =>
    height !== null && (other === null || height > other);

  function settle(before: bigint | null, wasAwaited: boolean): void {
    if (newest !== before) {
      isPushed = isAbove(announced, before);
      gapMs = gapMinMs;
      notBeforeMs = 0;
    } else if (wasAwaited) {
      notBeforeMs = clock.now() + gapMs;
      // Waited long enough: notices mean nothing now.
      if (gapMs >= intervalMs) {
        announced = null;
        isPushed = false;
      }
      gapMs = Math.min(2 * gapMs, intervalMs);
    }
  }

  return {
    announce(height) {
      if (!isAbove(height, newest)) return;
      announced = height;
      // During a poll, `pauseMs` decides afterwards.
      if (!isPolling && clock.now() >= notBeforeMs) wake();
    },
    connected() {
      connections += 1;
      wake();
    },
    disconnected() {
      connections -= 1;
      if (connections === 0) wake();
    },
    scanned(height) {
      newest = height;
    },
    async poll(scan) {
      const before = newest;
      const wasAwaited = isAbove(announced, newest);
      const nowMs = clock.now();
      isPolling = true;
      startedMs = undefined;
      try {
        const more = await scan();
        startedMs = nowMs;
        return more;
      } finally {
        isPolling = false;
        settle(before, wasAwaited);
      }
    },
    pauseMs() {
      if (isAbove(announced, newest)) return Math.max(0, notBeforeMs - clock.now());
      if (!isPushed || connections === 0) {
        const passedMs = startedMs === undefined ? 0 : Math.max(0, clock.now() - startedMs);
        return Math.max(0, intervalMs - passedMs);
      }
      return Math.max(intervalMs, Math.min(STRETCH * intervalMs, STRETCHED_MAX_MS));
    },
  };
}
