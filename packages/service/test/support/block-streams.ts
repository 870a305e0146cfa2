/** Streams of blocks for tests: the adapter's, over a stand-in, with a clock that tests can advance. */
import type { Clock } from "../../src/core/ports.ts";
import {
  type BlockStream,
  type BlockStreamOptions,
  createBlockStream,
  type StreamEvents,
} from "../../src/chains/solana/yellowstone/block-stream.ts";
import { systemClock, systemRandom } from "../../src/roles/system-ports.ts";

/** The real time plus what a test adds to it. */
export interface SkewedClock extends Clock {
  advance(ms: number): void;
}

export function createSkewedClock(): SkewedClock {
  let skewMs = 0;
  return {
    now: () => systemClock.now() + skewMs,
    sleep: (ms, signal) => systemClock.sleep(ms, signal),
    advance(ms) {
      skewMs += ms;
    },
  };
}

/** A stream, and what it reported. */
export interface WatchedStream extends BlockStream {
  readonly slots: readonly bigint[];
  readonly ends: readonly string[];
  readonly bytes: () => number;
  readonly connections: () => number;
  /** Resolves when the stream has brought a slot. */
  reached(slot: bigint): Promise<void>;
  /** Resolves when a connection ended for the given number of times. */
  ended(count: number): Promise<void>;
}

/** Starts a stream. `stop` ends it. */
export function startWatchedStream(
  options: Pick<BlockStreamOptions, "url" | "token"> & {
    readonly clock?: Clock;
    readonly commitment?: BlockStreamOptions["commitment"];
  },
): WatchedStream {
  const { clock = systemClock, commitment = "finalized", ...rest } = options;
  const stream = createBlockStream({ ...rest, commitment, clock, random: systemRandom });
  const slots: bigint[] = [];
  const ends: string[] = [];
  let bytes = 0;
  let connections = 0;
  let waiting: (() => void)[] = [];
  const wake = () => {
    for (const resolve of waiting) resolve();
    waiting = [];
  };
  const events: StreamEvents = {
    onBlock(slot) {
      slots.push(slot);
      wake();
    },
    onBytes(more) {
      bytes += more;
    },
    onConnected() {
      connections += 1;
    },
    onDisconnected({ reason }) {
      ends.push(reason);
      wake();
    },
  };
  const until = async (isTrue: () => boolean) => {
    while (!isTrue()) await new Promise<void>((resolve) => waiting.push(resolve));
  };
  stream.start(events);
  return {
    ...stream,
    slots,
    ends,
    bytes: () => bytes,
    connections: () => connections,
    reached: (slot) => until(() => slots.includes(slot)),
    ended: (count) => until(() => ends.length >= count),
  };
}
