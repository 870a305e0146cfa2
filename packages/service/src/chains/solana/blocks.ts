/**
 * The blocks of one commitment level (finalized, or confirmed) that enough nodes agree on.
 *
 * Final blocks never change and are cached. A confirmed block can be orphaned, so its head is read again before the
 * cached block is returned.
 */
import { OperatingError } from "../../core/errors.ts";
import type { Hex32 } from "../../core/hex.ts";
import type { Clock } from "../../core/ports.ts";
import type { Nodes, Read, Rule } from "../ask-nodes.ts";
import type { BlockAnswer } from "./answers.ts";
import type { CommitmentLevel, ReadBlock, SolanaNode } from "./node.ts";

/** Size of the cache: callers read a block several times in a row. */
const BLOCKS_KEPT = 8;
/** Number of slots to list ahead. */
const SLOTS_AHEAD = 64;
/** Listed slots to try when nodes list slots that have no block. */
const SLOTS_TRIED_MAX = 8;
/** Most parents to follow back from a found block to the next one. */
const BLOCKS_BACK_MAX = 64;
/** Attempts to read a new confirmed block, and the pause between them: about one slot. */
const ASKS_MAX = 4;
const PAUSE_MS = 400;

const NOTHING_LISTED = { after: 0n, slots: [] };

/** Blocks of one level. */
export interface Blocks {
  /** Returns the newest slot that enough nodes have reached. The final slot never decreases. */
  getSlot(): Promise<bigint>;
  /** Returns the minimum slot for state reads: `getSlot`, but not below any block that was read. */
  getStateSlot(): Promise<bigint>;
  /** Returns the block of a slot; null when the slot certainly has none. */
  findBlock(slot: bigint): Promise<BlockAnswer | null>;
  /** Returns the first block after a slot, or null while there is none. Nodes cannot hide a block in between. */
  readBlockAfter(slot: bigint): Promise<BlockAnswer | null>;
  /** Returns exactly this block, even if it was orphaned after it was read. */
  readExactly(block: { readonly number: bigint; readonly hash: Hex32 }): Promise<BlockAnswer>;
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
  /** Slots listed after `after`; it has no older ones. */
  let listed: { readonly after: bigint; readonly slots: readonly bigint[] } = NOTHING_LISTED;

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
    const { block } = await nodes.agree(read, SAME_BLOCK);
    kept.delete(slot);
    kept.set(slot, block);
    const [oldest] = kept.keys();
    if (kept.size > BLOCKS_KEPT && oldest !== undefined) kept.delete(oldest);
    if (slot > highestRead) highestRead = slot;
    return block;
  }

  /** Returns whether a cached block is still on the chain. Reads only its head, a fraction of the bytes. */
  async function isThere({ slot, hash }: BlockAnswer): Promise<boolean> {
    const head = await nodes.agree((node) => node.readHead(slot, commitment));
    return head.hash === hash;
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
    const isAhead = (other: bigint) => other > slot && other <= newest;
    const known = listed.after <= slot ? listed.slots.filter(isAhead) : [];
    if (known.length > 0) return known;
    const args = { limit: SLOTS_AHEAD, commitment };
    const lists = await nodes.collect((node) => node.listSlots(slot + 1n, args));
    const slots = [...new Set(lists.values.flat())].sort((one, other) => (one < other ? -1 : 1));
    listed = { after: slot, slots };
    return slots.filter(isAhead);
  }

  async function findAnyAfter(slot: bigint, newest: bigint): Promise<BlockAnswer> {
    let failure: unknown;
    const slots = await listSlotsAfter(slot, newest);
    // If no list helps, the newest slot has a block, whose parents lead back.
    for (const candidate of [...slots.slice(0, SLOTS_TRIED_MAX), newest]) {
      try {
        return await readBlock(candidate);
      } catch (error) {
        if (!isUnavailable(error)) throw error;
        failure = error;
        // Invented, or of an orphaned fork: drop it, so that the next read does not try it first.
        const others = listed.slots.filter((one) => one !== candidate);
        listed = { ...listed, slots: others };
      }
    }
    throw failure;
  }

  async function findNext(slot: bigint): Promise<BlockAnswer | null> {
    const newest = await getSlot();
    if (slot >= newest) return null;
    let block = await findAnyAfter(slot, newest);
    // A list can omit blocks, but the parent hash of a block cannot be wrong.
    for (let back = 0; block.parentSlot > slot; back += 1) {
      if (back === BLOCKS_BACK_MAX) {
        listed = NOTHING_LISTED;
        throw unavailable("too many blocks left out");
      }
      block = await readParent(block);
    }
    return block;
  }

  /** Retries at level confirmed: a new block is not yet at every node, or not at every backend of one. */
  async function readBlockAfter(slot: bigint): Promise<BlockAnswer | null> {
    for (let asks = 1; ; asks += 1) {
      try {
        return await findNext(slot);
      } catch (error) {
        if (isFinal || asks === ASKS_MAX || !isUnavailable(error)) throw error;
        await clock.sleep(PAUSE_MS);
      }
    }
  }

  async function findBlock(slot: bigint): Promise<BlockAnswer | null> {
    const known = kept.get(slot);
    if (known && isFinal) return known;
    if (slot > (await getSlot())) return null;
    try {
      return await readBlock(slot);
    } catch (error) {
      if (!isUnavailable(error)) throw error;
      // Nodes report a slot as skipped also when they lack its block: the next block's parent decides.
      const next = slot === 0n ? null : await readBlockAfter(slot - 1n);
      if (next === null) throw error;
      return next.slot === slot ? next : null;
    }
  }

  async function readExactly({ number, hash }: { number: bigint; hash: Hex32 }) {
    const known = kept.get(number);
    const block = known?.hash === hash ? known : await readBlock(number);
    if (block.hash !== hash) throw unavailable("another block");
    return block;
  }

  return { getSlot, getStateSlot, findBlock, readBlockAfter, readExactly };
}

function isUnavailable(error: unknown): boolean {
  return error instanceof OperatingError && error.code === "RPC_UNAVAILABLE";
}

/** Compares blocks by their digest, since they are large. */
const SAME_BLOCK: Rule<ReadBlock> = {
  isSame: (one, other) => one.digest === other.digest,
  merge([first]) {
    if (!first) throw new TypeError("expected a block");
    return first;
  },
};
