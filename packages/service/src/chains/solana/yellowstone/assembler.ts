/**
 * Puts blocks together from the messages of a stream.
 *
 * A slot's block is whole when the stream has sent its head, and a transaction or a failure for each place in it: the head
 * names their number. Messages can arrive in any order. A slot with a message too few or too many never gets a block here,
 * and is read with `getBlock`.
 */
import { type BlockTransaction, composeBlock } from "../block-answer.ts";
import { digestOf, type ReadBlock } from "../block-decoder.ts";
import type { Update } from "./messages.ts";

/** Slots that are put together at the same time, and the bytes of their messages: a stream cannot fill the memory. */
const SLOTS_MAX = 64;
const BYTES_MAX = 128 * 1024 * 1024;
/** Transactions of a block. The cluster's limits allow some ten thousand. */
const PLACES_MAX = 100_000;

interface Gathered {
  block: Extract<Update, { kind: "block" }> | undefined;
  readonly places: Set<number>;
  readonly transactions: BlockTransaction[];
  bytes: number;
  /** Whether messages contradict each other, as of two forks: the slot never gets a block here. */
  isSpoiled: boolean;
}

/** A whole block, and the bytes of its messages. */
export interface Assembled extends ReadBlock {
  readonly bytes: number;
}

export interface Assembler {
  /** Takes a message of a size in bytes. Returns the block that it completes, otherwise null. */
  add(update: Update, bytes: number): Assembled | null;
}

/** Creates an assembler for one connection. */
export function createAssembler(): Assembler {
  /** By slot, in the order of their first message. */
  const open = new Map<bigint, Gathered>();
  let heldBytes = 0;

  function gather(slot: bigint, bytes: number): Gathered {
    const known = open.get(slot);
    const gathered = known ?? {
      block: undefined,
      places: new Set(),
      transactions: [],
      bytes: 0,
      isSpoiled: false,
    };
    open.set(slot, gathered);
    gathered.bytes += bytes;
    heldBytes += bytes;
    while (open.size > SLOTS_MAX || heldBytes > BYTES_MAX) {
      const [oldest] = open.keys();
      if (oldest === undefined) break;
      drop(oldest);
    }
    return gathered;
  }

  function drop(slot: bigint): void {
    heldBytes -= open.get(slot)?.bytes ?? 0;
    open.delete(slot);
  }

  function complete(slot: bigint, gathered: Gathered): Assembled | null {
    const { block, places, transactions, bytes, isSpoiled } = gathered;
    if (!block || isSpoiled || places.size !== block.count) return null;
    drop(slot);
    const isBeyond = [...places].some((place) => place >= block.count);
    if (isBeyond) return null;
    const sorted = transactions.toSorted((one, other) => one.index - other.index);
    const whole = composeBlock(block.head, block.count, sorted);
    return { block: whole, digest: digestOf(whole), bytes };
  }

  return {
    add(update, bytes) {
      if (update.kind !== "block" && update.kind !== "transaction") return null;
      const slot = update.kind === "block" ? update.head.slot : update.slot;
      const gathered = gather(slot, bytes);
      if (update.kind === "block") {
        if (gathered.block) gathered.isSpoiled = true;
        gathered.block = update;
      } else {
        const { index, transaction } = update;
        if (gathered.places.has(index) || index >= PLACES_MAX) gathered.isSpoiled = true;
        gathered.places.add(index);
        if (transaction) gathered.transactions.push(transaction);
      }
      if (gathered.isSpoiled) {
        // Remembered, so that later messages do not complete it, but without its content.
        gathered.places.clear();
        gathered.transactions.length = 0;
        return null;
      }
      return complete(slot, gathered);
    },
  };
}
