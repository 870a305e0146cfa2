/**
 * The blocks of one commitment level (finalized, or confirmed) that enough nodes agree on.
 *
 * Lists of slots, and estimates of how many are new, only say which slots to read: a block is the next one if its parent is
 * not above the one before it, and any block in between is read first.
 *
 * Final blocks never change and are cached. A confirmed block can be orphaned, so its head is read again before the
 * cached block is returned.
 */
import { OperatingError } from "../../core/errors.ts";
import type { Clock } from "../../core/ports.ts";
import type { Nodes, Read, Rule } from "../ask-nodes.ts";
import type { BlockHeadAnswer } from "./answers.ts";
import type { BlockAnswer } from "./block-answer.ts";
import type { ReadBlock } from "./block-decoder.ts";
import type { CommitmentLevel, SolanaNode } from "./node.ts";
import { createSlotPace } from "./slot-pace.ts";

/** Number of slots to list ahead. */
const SLOTS_AHEAD = 256;
/** Blocks of one node that are read at the same time: each answer has some megabytes. */
const BLOCKS_AT_ONCE = 8;
/** Listed slots to try when nodes list slots that have no block. */
const SLOTS_TRIED_MAX = 8;
/** Most parents to follow back from a found block to the next one. */
const BLOCKS_BACK_MAX = 64;
/**
 * Size of the cache. Callers read a block several times in a row, and a walk back that a failed request ended continues
 * from the blocks that it read.
 */
const BLOCKS_KEPT = BLOCKS_BACK_MAX;
/** Attempts to read a new confirmed block, and the pause between them: about one slot. */
const ASKS_MAX = 4;
const PAUSE_MS = 400;

/** Slots that some node says have a block, lowest first. */
interface Listed {
  /** It has no slots up to this one. */
  readonly after: bigint;
  readonly slots: readonly bigint[];
  /** Whether there may be further slots. */
  readonly isFull: boolean;
}

const NOTHING_LISTED: Listed = { after: 0n, slots: [], isFull: true };

/** Blocks of one level. */
export interface Blocks {
  /** Returns the newest slot that enough nodes have reached. The final slot never decreases. */
  getSlot(): Promise<bigint>;
  /** Returns the minimum slot for state reads: `getSlot`, but not below any block that was read. */
  getStateSlot(): Promise<bigint>;
  /** Returns the block of a slot; null when the slot certainly has none. */
  findBlock(slot: bigint): Promise<BlockAnswer | null>;
  /** Returns the head of a slot's block, of which some hundred bytes are read; null when the slot certainly has none. */
  findHead(slot: bigint): Promise<BlockHeadAnswer | null>;
  /** Returns the first block after a slot, or null while there is none. Nodes cannot hide a block in between. */
  readBlockAfter(slot: bigint): Promise<BlockAnswer | null>;
  /**
   * Returns the next blocks after a slot, linked by their parents, at most `max`; none while there is none. Made for a
   * caller that follows the chain: at the head, a read without a new block costs one request.
   */
  readBlocksAfter(slot: bigint, max: number): Promise<readonly BlockAnswer[]>;
}

/** Creates the blocks of one level. Every method throws RPC_UNAVAILABLE without enough agreeing answers. */
export function createBlocks(
  nodes: Nodes<SolanaNode>,
  options: {
    readonly commitment: CommitmentLevel;
    readonly clock: Clock;
    /** Creates an RPC_UNAVAILABLE error. `reason` is our own text, never a node's. */
    readonly unavailable: (reason: string) => OperatingError;
  },
): Blocks {
  const { commitment, clock, unavailable } = options;
  const isFinal = commitment === "finalized";
  /** Cached blocks by slot, in the order they were read. */
  const kept = new Map<bigint, BlockAnswer>();
  let finalSlot = 0n;
  let highestRead = 0n;
  let listed = NOTHING_LISTED;
  /** The newest slot when the list was read, and the time. */
  let newestListed = { slot: 0n, atMs: 0 };
  const pace = createSlotPace(clock);

  async function getSlot(): Promise<bigint> {
    const slots = await nodes.collect((node) => node.getSlot(commitment));
    const slot = nodes.reachedBy(slots.values);
    if (!isFinal) return slot;
    if (slot > finalSlot) finalSlot = slot;
    return finalSlot;
  }

  async function getStateSlot(): Promise<bigint> {
    const slot = await getSlot();
    return slot > highestRead ? slot : highestRead;
  }

  /** Reads a block at or below the newest slot. Throws RPC_UNAVAILABLE also when the slot has none. */
  async function readBlock(slot: bigint): Promise<BlockAnswer> {
    const known = kept.get(slot);
    if (known && (isFinal || (await isThere(known)))) return known;
    const read: Read<ReadBlock, SolanaNode> = (node) => node.readBlock(slot, commitment);
    // Final blocks are at all honest nodes. They are large, so that only as many nodes as must agree are asked at first.
    return keep(await (isFinal ? nodes.sparing : nodes).agree(read, SAME_BLOCK));
  }

  /** Reads the block of a slot that may not have one yet; null if enough nodes say that they have none. */
  async function readNewBlock(slot: bigint): Promise<BlockAnswer | null> {
    const known = kept.get(slot);
    if (known && isFinal) return known;
    const read: Read<ReadBlock | null, SolanaNode> = (node) => node.findBlock(slot, commitment);
    const found = await nodes.agree(read, SAME_BLOCK_OR_NONE);
    return found && keep(found);
  }

  function keep({ block }: ReadBlock): BlockAnswer {
    kept.delete(block.slot);
    kept.set(block.slot, block);
    const [oldest] = kept.keys();
    if (kept.size > BLOCKS_KEPT && oldest !== undefined) kept.delete(oldest);
    if (block.slot > highestRead) highestRead = block.slot;
    return block;
  }

  /** Returns whether a cached block is still on the chain. Reads only its head, a fraction of the bytes. */
  async function isThere({ slot, hash }: BlockAnswer): Promise<boolean> {
    const head = await readHead(slot);
    return head.hash === hash;
  }

  async function readHead(slot: bigint): Promise<BlockHeadAnswer> {
    const head = await nodes.agree((node) => node.readHead(slot, commitment));
    if (slot > highestRead) highestRead = slot;
    return head;
  }

  /** Returns the parent of a block on the chain. The hash proves that the parent is on the chain too. */
  async function readParent({ parentSlot, parentHash }: BlockAnswer): Promise<BlockAnswer> {
    const known = kept.get(parentSlot);
    const parent = known?.hash === parentHash ? known : await readBlock(parentSlot);
    if (parent.hash !== parentHash) throw unavailable("parent differs");
    return parent;
  }

  /** Lists slots that some node says have a block, lowest first. A hint only: a node can invent or omit slots. */
  async function listSlotsAfter(slot: bigint, newest: bigint): Promise<readonly bigint[]> {
    const known = listKnownAfter(slot).filter((other) => other <= newest);
    if (known.length > 0) return known;
    const args = { limit: SLOTS_AHEAD, commitment };
    const atMs = clock.now();
    const lists = await nodes.collect((node) => node.listSlots(slot + 1n, args));
    const slots = [...new Set(lists.values.flat())].sort((one, other) => (one < other ? -1 : 1));
    const isFull = lists.values.some(({ length }) => length >= SLOTS_AHEAD);
    listed = { after: slot, slots, isFull };
    newestListed = { slot: newest, atMs };
    return listKnownAfter(slot).filter((other) => other <= newest);
  }

  function listKnownAfter(slot: bigint): readonly bigint[] {
    return listed.after <= slot ? listed.slots.filter((other) => other > slot) : [];
  }

  /** Adds the slot of a parent, which has a block whatever the lists said, so that the next read tries it first. */
  function addToList(slot: bigint): void {
    if (listed.slots.includes(slot)) return;
    const at = listed.slots.findIndex((other) => other > slot);
    listed = { ...listed, slots: listed.slots.toSpliced(at === -1 ? Infinity : at, 0, slot) };
  }

  function isEndOfList(slot: bigint): boolean {
    return !listed.isFull && slot >= newestListed.slot && listKnownAfter(slot).length === 0;
  }

  /** Reads listed blocks at the same time. Those without an answer are left out, and out of the list. */
  async function readListed(slots: readonly bigint[]): Promise<Present> {
    const present = await readPresent(slots, readBlock);
    // Invented, or of an orphaned fork: dropped, so that the next read does not try them first.
    const found = new Set(present.blocks.map(({ slot }) => slot));
    const missing = new Set(slots.filter((slot) => !found.has(slot)));
    listed = { ...listed, slots: listed.slots.filter((slot) => !missing.has(slot)) };
    return present;
  }

  async function findAnyAfter(slot: bigint, newest: bigint, max: number): Promise<Present> {
    const slots = await listSlotsAfter(slot, newest);
    const first = await readListed(slots.slice(0, max));
    if (first.blocks.length > 0) return first;
    const second = await readListed(slots.slice(max, max + SLOTS_TRIED_MAX));
    if (second.blocks.length > 0) return second;
    // If no list helps, the newest slot has a block, whose parents lead back.
    return { ...first, blocks: [await readBlock(newest)] };
  }

  /** Returns a block and the blocks between it and a slot, lowest first. */
  async function readBack(block: BlockAnswer, slot: bigint): Promise<BlockAnswer[]> {
    const blocks = [block];
    // A list can omit blocks, but the parent hash of a block cannot be wrong.
    for (let lowest = block; lowest.parentSlot > slot;) {
      if (blocks.length > BLOCKS_BACK_MAX) {
        listed = NOTHING_LISTED;
        throw unavailable("too many blocks left out");
      }
      addToList(lowest.parentSlot);
      lowest = await readParent(lowest);
      blocks.unshift(lowest);
    }
    return blocks;
  }

  /** Links blocks that were read, the lowest first, and reads those in between. Ends where the next one is missing. */
  async function link({ blocks }: Present, slot: bigint, max: number): Promise<BlockAnswer[]> {
    const linked: BlockAnswer[] = [];
    for (const block of blocks) {
      const before = linked.at(-1);
      try {
        const next = await readBack(block, before?.slot ?? slot);
        // Another fork, which became the chain between two reads.
        if (before && next[0]?.parentHash !== before.hash) break;
        linked.push(...next);
      } catch (error) {
        if (!before || !isUnavailable(error)) throw error;
        break;
      }
      if (linked.length >= max) break;
    }
    return linked.slice(0, max);
  }

  async function findNext(slot: bigint, max: number): Promise<readonly BlockAnswer[]> {
    const newest = await getSlot();
    if (slot >= newest) {
      pace.caughtUp(slot, clock.now());
      return [];
    }
    return link(await findAnyAfter(slot, newest, max), slot, max);
  }

  /** Retries at level confirmed: a new block is not yet at every node, or not at every backend of one. */
  async function findNextPatiently(slot: bigint, max: number): Promise<readonly BlockAnswer[]> {
    for (let asks = 1; ; asks += 1) {
      try {
        return await findNext(slot, max);
      } catch (error) {
        if (isFinal || asks === ASKS_MAX || !isUnavailable(error)) throw error;
        await clock.sleep(PAUSE_MS);
      }
    }
  }

  async function readBlockAfter(slot: bigint): Promise<BlockAnswer | null> {
    const [block] = await findNextPatiently(slot, 1);
    return block ?? null;
  }

  /** Reads the slots that probably have a block by now. Null if that does not help and a list is needed. */
  async function readExpected(slot: bigint, max: number): Promise<readonly BlockAnswer[] | null> {
    const count = pace.expect(slot, max);
    if (count === 0) return null;
    const slots = Array.from({ length: count }, (_, index) => slot + 1n + BigInt(index));
    const present = await readPresent(slots, readNewBlock);
    const isEnough = pace.saw(slot, present.blocks.at(-1)?.slot ?? null);
    if (present.blocks.length > 0) return link(present, slot, max);
    return present.hasFailed || !isEnough ? null : [];
  }

  async function readBlocksAfter(slot: bigint, max: number): Promise<readonly BlockAnswer[]> {
    const known = listKnownAfter(slot).slice(0, max);
    const expected = known.length === 0 ? await readExpected(slot, max) : null;
    if (expected) return expected;
    const blocks = known.length > 0 ? await link(await readListed(known), slot, max) : [];
    const found = blocks.length > 0 ? blocks : await findNextPatiently(slot, max);
    const last = found.at(-1);
    if (last && isEndOfList(last.slot)) pace.caughtUp(last.slot, newestListed.atMs);
    return found;
  }

  async function find<Found extends BlockHeadAnswer>(
    slot: bigint,
    read: (slot: bigint) => Promise<Found>,
  ): Promise<Found | BlockAnswer | null> {
    const known = kept.get(slot);
    if (known && isFinal) return known;
    if (slot > (await getSlot())) return null;
    try {
      return await read(slot);
    } catch (error) {
      if (!isUnavailable(error)) throw error;
      // Nodes report a slot as skipped also when they lack its block: the next block's parent decides.
      const next = slot === 0n ? null : await readBlockAfter(slot - 1n);
      if (next === null) throw error;
      return next.slot === slot ? next : null;
    }
  }

  return {
    getSlot,
    getStateSlot,
    findBlock: (slot) => find(slot, readBlock),
    findHead: (slot) => find(slot, readHead),
    readBlockAfter,
    readBlocksAfter,
  };
}

function isUnavailable(error: unknown): boolean {
  return error instanceof OperatingError && error.code === "RPC_UNAVAILABLE";
}

/** The blocks of some slots, lowest first. */
interface Present {
  readonly blocks: readonly BlockAnswer[];
  /** Whether there was no answer for some slot. */
  readonly hasFailed: boolean;
}

/** Reads the blocks of slots, some at the same time, and leaves out those that are absent or have no answer. */
async function readPresent(
  slots: readonly bigint[],
  read: (slot: bigint) => Promise<BlockAnswer | null>,
): Promise<Present> {
  const blocks: BlockAnswer[] = [];
  let hasFailed = false;
  const left = [...slots];
  async function readLeft(): Promise<void> {
    for (let slot = left.shift(); slot !== undefined; slot = left.shift()) {
      try {
        const block = await read(slot);
        if (block) blocks.push(block);
      } catch (error) {
        if (!isUnavailable(error)) throw error;
        hasFailed = true;
      }
    }
  }
  await Promise.all(Array.from({ length: BLOCKS_AT_ONCE }, readLeft));
  blocks.sort((one, other) => (one.slot < other.slot ? -1 : 1));
  return { blocks, hasFailed };
}

/** Compares blocks by their digest, since they are large. */
const SAME_BLOCK: Rule<ReadBlock> = {
  isSame: (one, other) => one.digest === other.digest,
  merge: ([first]) => expectAnswer(first),
};
const SAME_BLOCK_OR_NONE: Rule<ReadBlock | null> = {
  isSame: (one, other) => one?.digest === other?.digest,
  merge: ([first]) => expectAnswer(first),
};

function expectAnswer<T>(answer: T | undefined): T {
  if (answer === undefined) throw new TypeError("expected an answer");
  return answer;
}
