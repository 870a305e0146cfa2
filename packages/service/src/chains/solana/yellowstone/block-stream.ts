/**
 * The newest blocks of one node, from its Yellowstone gRPC stream.
 *
 * The stream replaces requests, and decides nothing that `getBlock` does not decide as well: a caller links its blocks by
 * their parents and compares them by digest. It never waits for the stream for long: with a stream that is silent, broken or
 * has a gap, there is no answer here, and the caller sends its request. A block is given twice at most, so that one that
 * other nodes or later blocks contradict is then read with `getBlock`.
 */
import type { Clock, Random } from "../../../core/ports.ts";
import type { BlockHeadAnswer } from "../answers.ts";
import type { ReadBlock } from "../block-decoder.ts";
import type { CommitmentLevel } from "../node.ts";
import { type Assembled, createAssembler } from "./assembler.ts";
import { openCall } from "./grpc-call.ts";
import { encodePing, encodeSubscription, parseUpdate } from "./messages.ts";

export interface BlockStreamOptions {
  /** May contain credentials; never displayed. */
  readonly url: string;
  /** Sent as `x-token`; undefined: none. Never displayed. */
  readonly token?: string | undefined;
  readonly commitment: CommitmentLevel;
  readonly clock: Clock;
  readonly random: Random;
}

/** Callbacks of a stream. */
export interface StreamEvents {
  readonly onBlock: (slot: bigint) => void;
  readonly onBytes: (bytes: number) => void;
  /** Called with the first block of a connection. */
  readonly onConnected: () => void;
  /** Called when a connection ends or fails, with a short reason of ours. */
  readonly onDisconnected: (ended: {
    readonly reason: string;
    readonly wasConnected: boolean;
    readonly isStopped: boolean;
  }) => void;
}

/** The answer of a stream for a slot. */
export type Streamed =
  | { readonly kind: "block"; readonly read: ReadBlock; readonly connection: number }
  /** The next block of the stream has a parent below the slot. */
  | { readonly kind: "skipped" }
  /** The stream has not come so far. */
  | { readonly kind: "ahead" }
  /** The stream is silent, began later, or had a gap there. */
  | { readonly kind: "unknown" };

export interface BlockStream {
  readonly commitment: CommitmentLevel;
  /** Returns the block of a slot. Waits for a slot that the stream has not reached. */
  find(slot: bigint, waitMs: number): Promise<Streamed>;
  /** Drops a connection that sent a wrong block, with everything that it sent. */
  reject(connection: number): void;
  start(events: StreamEvents): void;
  stop(): Promise<void>;
}

const PATH = "/geyser.Geyser/Subscribe";
/**
 * Blocks that are kept, some seconds of the chain, and the bytes of their messages. A scanner further behind reads with
 * `getBlock`.
 */
const BLOCKS_MAX = 64;
const BYTES_MAX = 512 * 1024 * 1024;
/** Most times that a block is given. */
const USES_MAX = 2;
/** A stream without a block for this long is silent: some ten slots. */
const SILENT_MS = 5_000;
/** A connection without a block for this long is opened again. */
const LOST_MS = 30_000;
const DELAY_MIN_MS = 500;
const DELAY_MAX_MS = 60_000;

interface Kept {
  readonly read: Assembled;
  readonly connection: number;
  uses: number;
}

/** Creates the stream of a node, without a connection. */
export function createBlockStream(options: BlockStreamOptions): BlockStream {
  const { commitment, clock } = options;
  const blocks = createKeptBlocks();
  const stopping = new AbortController();
  let running = Promise.resolve();
  let newest = -1n;
  let newestMs = 0;
  let connection = 0;
  let drop: (reason: string) => void = () => undefined;
  let isConnected = false;
  /** Ends the waits for a block. */
  let arrived = new AbortController();

  const isSilent = () => !isConnected || clock.now() - newestMs > SILENT_MS;

  function wakeWaiting(): void {
    arrived.abort();
    arrived = new AbortController();
  }

  /** One connection, from its opening to its end. Returns whether it brought a block, and why it ended. */
  async function listen(events: StreamEvents, fromSlot: bigint | null) {
    connection += 1;
    const own = connection;
    const assembler = createAssembler();
    const over = new AbortController();
    const { promise, resolve } = Promise.withResolvers<string>();
    let heardMs = clock.now();
    const call = openCall({
      url: options.url,
      path: PATH,
      headers: options.token === undefined ? {} : { "x-token": options.token },
      onMessage(message) {
        events.onBytes(message.length);
        const update = parseUpdate(message);
        if (update.kind === "ping") call.send(encodePing());
        const read = assembler.add(update, message.length);
        if (!read) return;
        heardMs = newestMs = clock.now();
        blocks.add(read, own);
        newest = read.block.slot;
        if (!isConnected) events.onConnected();
        isConnected = true;
        wakeWaiting();
        events.onBlock(newest);
      },
      onEnd(reason) {
        over.abort();
        resolve(reason);
      },
    });
    call.send(encodeSubscription({ commitment, fromSlot }));
    drop = call.end;
    const stopped = () => call.end("stopped");
    stopping.signal.addEventListener("abort", stopped);
    if (stopping.signal.aborted) stopped();
    while (!over.signal.aborted) {
      await clock.sleep(heardMs + LOST_MS - clock.now(), over.signal);
      if (clock.now() - heardMs >= LOST_MS) call.end("no block in time");
    }
    stopping.signal.removeEventListener("abort", stopped);
    const wasConnected = isConnected;
    isConnected = false;
    wakeWaiting();
    return { reason: await promise, wasConnected };
  }

  async function run(events: StreamEvents): Promise<void> {
    let failures = 0;
    let canReplay = true;
    while (!stopping.signal.aborted) {
      const fromSlot = canReplay && newest >= 0n ? newest + 1n : null;
      const ended = await listen(events, fromSlot);
      events.onDisconnected({ ...ended, isStopped: stopping.signal.aborted });
      // Servers keep few slots, or none, and refuse the others.
      canReplay = ended.wasConnected;
      failures = ended.wasConnected ? 1 : failures + 1;
      const delayMs = Math.min(DELAY_MIN_MS * 2 ** (failures - 1), DELAY_MAX_MS);
      // Spread, since all clients of a server that restarts come back at once.
      const share = 0.5 + Number.parseInt(options.random.uuid().slice(0, 8), 16) / 2 ** 33;
      await clock.sleep(delayMs * share, stopping.signal);
    }
  }

  return {
    commitment,
    async find(slot, waitMs) {
      const deadlineMs = clock.now() + waitMs;
      for (;;) {
        const found = blocks.find(slot);
        if (found) return found;
        if (isSilent() || slot <= newest) return UNKNOWN;
        const leftMs = deadlineMs - clock.now();
        if (leftMs <= 0) return AHEAD;
        await clock.sleep(leftMs, arrived.signal);
      }
    },
    reject(rejected) {
      blocks.remove(rejected);
      if (rejected === connection) drop("another block than the node's");
    },
    start(events) {
      running = run(events);
    },
    async stop() {
      stopping.abort();
      await running;
    },
  };
}

const UNKNOWN: Streamed = { kind: "unknown" };
const AHEAD: Streamed = { kind: "ahead" };
const SKIPPED: Streamed = { kind: "skipped" };

/** The newest blocks of the stream, which never contradict each other: a later one replaces those that it contradicts. */
function createKeptBlocks() {
  const kept = new Map<bigint, Kept>();
  let heldBytes = 0;

  function drop(slot: bigint): void {
    heldBytes -= kept.get(slot)?.read.bytes ?? 0;
    kept.delete(slot);
  }

  return {
    add(read: Assembled, connection: number): void {
      const { block, bytes } = read;
      for (const [slot, other] of kept) if (contradict(block, other.read.block)) drop(slot);
      kept.set(block.slot, { read, connection, uses: 0 });
      heldBytes += bytes;
      while (kept.size > BLOCKS_MAX || heldBytes > BYTES_MAX) {
        const [oldest] = kept.keys();
        if (oldest === undefined) break;
        drop(oldest);
      }
    },
    find(slot: bigint): Streamed | null {
      const known = kept.get(slot);
      if (known) {
        if (known.uses >= USES_MAX) return UNKNOWN;
        known.uses += 1;
        return { kind: "block", read: known.read, connection: known.connection };
      }
      for (const { read } of kept.values()) {
        if (read.block.parentSlot < slot && slot < read.block.slot) return SKIPPED;
      }
      return null;
    },
    remove(connection: number): void {
      for (const [slot, block] of kept) if (block.connection === connection) drop(slot);
    },
  };
}

/** Reports whether two blocks cannot be on one chain. */
function contradict(one: BlockHeadAnswer, other: BlockHeadAnswer): boolean {
  const [low, high] = one.slot < other.slot ? [one, other] : [other, one];
  if (low.slot === high.slot) return true;
  if (low.slot === high.parentSlot) return low.hash !== high.parentHash;
  return high.parentSlot < low.slot;
}
