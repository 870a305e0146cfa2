/**
 * The process's own health, known without a query: its roles, when each of their loops last finished a poll, and when
 * the scanner of each chain last moved and last caught up with the chain.
 */
import type { Clock } from "../core/ports.ts";

/** A loop that has finished no poll for this long, in addition to its interval, is unhealthy. */
export const POLL_OVERDUE_MS = 300_000;
/** A scanner that has not reached or seen a newest block for this long is unhealthy. */
export const SCANNER_LATE_MS = 300_000;

export interface Vitals {
  /** The roles this process is meant to have; each waits until it `started`. */
  readonly roles: readonly string[];
  started(role: string): void;
  isStarted(role: string): boolean;
  /** Registers a loop of a role. Returns the function to call after each poll that succeeded. */
  watchLoop(loop: {
    readonly role: string;
    readonly name: string;
    readonly intervalMs: number;
  }): () => void;
  /** Returns the loops of a role whose last successful poll is overdue. */
  listOverdue(role: string): readonly { readonly name: string; readonly forMs: number }[];
  /** Forgets the loops of a role that ended, and its scanners; it counts as started, because another one follows. */
  ended(role: string): void;
  /** Registers the scanner of a chain. */
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
  let loops: { role: string; name: string; intervalMs: number; finishedMs: number }[] = [];
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
    ended(role) {
      loops = loops.filter((loop) => loop.role !== role);
      if (role === "scanner") scanners.clear();
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
