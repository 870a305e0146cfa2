/**
 * What this process knows of its own health without asking anybody: which roles it has, when each of their loops last
 * finished a look, and when the scanner of each chain last moved and last had nothing left to scan.
 */
import type { Clock } from "../core/ports.ts";

/** A loop that has finished no look for this long, beside its interval, does not work. */
export const POLL_OVERDUE_MS = 300_000;
/** A scanner that has not reached the newest block for this long, or seen none, does not work. */
export const SCANNER_LATE_MS = 300_000;

export interface Vitals {
  /** The roles this process is meant to have; each waits until it `started`. */
  readonly roles: readonly string[];
  started(role: string): void;
  isStarted(role: string): boolean;
  /** Watches a loop of a role; the answer is called when a look ended well. */
  watchLoop(loop: {
    readonly role: string;
    readonly name: string;
    readonly intervalMs: number;
  }): () => void;
  /** Loops of a role whose last finished look is too long ago. */
  listOverdue(role: string): readonly { readonly name: string; readonly forMs: number }[];
  /** Watches the scanner of a chain. */
  watchScanner(chainId: number): ScannerVitals;
  readonly scanners: ReadonlyMap<number, ScannerVitals>;
}

export interface ScannerVitals {
  /** A block was scanned. */
  moved(): void;
  /** There is nothing to scan now. */
  caughtUp(): void;
  /** Milliseconds since a block was scanned, or since the start. */
  idleMs(): number;
  /** Milliseconds since there was nothing to scan, or since the start. */
  behindMs(): number;
}

export function createVitals(clock: Clock, roles: readonly string[]): Vitals {
  const started = new Set<string>();
  const loops: { role: string; name: string; intervalMs: number; finishedMs: number }[] = [];
  const scanners = new Map<number, ScannerVitals>();
  return {
    roles,
    scanners,
    started: (role) => void started.add(role),
    isStarted: (role) => started.has(role),
    watchLoop(loop) {
      const watched = { ...loop, finishedMs: clock.now() };
      loops.push(watched);
      return () => {
        watched.finishedMs = clock.now();
      };
    },
    listOverdue(role) {
      return loops.flatMap(({ name, intervalMs, finishedMs, ...loop }) => {
        const forMs = clock.now() - finishedMs;
        return loop.role === role && forMs > intervalMs + POLL_OVERDUE_MS ? [{ name, forMs }] : [];
      });
    },
    watchScanner(chainId) {
      let movedMs = clock.now();
      let caughtUpMs = clock.now();
      const scanner: ScannerVitals = {
        moved() {
          movedMs = clock.now();
        },
        caughtUp() {
          caughtUpMs = clock.now();
        },
        idleMs: () => clock.now() - movedMs,
        behindMs: () => clock.now() - caughtUpMs,
      };
      scanners.set(chainId, scanner);
      return scanner;
    },
  };
}
