/**
 * The blocks of a chain that some nodes show together, as of one commitment level: final ones, or all that are confirmed.
 *
 * What is final never changes. What is only confirmed may leave the chain: a block that was read before is then asked
 * for again by its head, before it is said to be there.
 */
import { OperatingError } from "../../core/errors.ts";
import type { Hex32 } from "../../core/hex.ts";
import type { Clock } from "../../core/ports.ts";
import type { Nodes, Read, Rule } from "../ask-nodes.ts";
import type { BlockAnswer } from "./answers.ts";
import type { CommitmentLevel, ReadBlock, SolanaNode } from "./node.ts";

/** Blocks that were read and are kept: each is asked for several times in a row. */
const BLOCKS_KEPT = 8;
/** How far a list of slots is asked for ahead. */
const SLOTS_AHEAD = 64;
/** Slots of a list that are tried, where nodes name some that none has. */
const SLOTS_TRIED_MAX = 8;
/** How far is gone back from a block that was found to the one that follows. */
const BLOCKS_BACK_MAX = 64;
/** How often what is new is asked for, and how long is waited in between: about as long as a slot. */
const ASKS_MAX = 4;
const PAUSE_MS = 400;

const NOTHING_LISTED = { after: 0n, slots: [] };

/** Blocks of one level. */
export interface Blocks {
  /** The newest slot that enough nodes have come to. What is final never goes back. */
  getSlot(): Promise<bigint>;
  /** A slot to read state at or above: that of `getSlot`, and below no block that was read. */
  getStateSlot(): Promise<bigint>;
  /** The block of a slot, or null where there is surely none. */
  findBlock(slot: bigint): Promise<BlockAnswer | null>;
  /** The block that follows a slot, or null while none does. No block between the two can be hidden. */
  readBlockAfter(slot: bigint): Promise<BlockAnswer | null>;
  /** Exactly this block, also where it has left the chain meanwhile and was read before. */
  readExactly(block: { readonly number: bigint; readonly hash: Hex32 }): Promise<BlockAnswer>;
}

/** All throw RPC_UNAVAILABLE without answers enough. */
export function createBlocks(
  nodes: Nodes<SolanaNode>,
  options: {
    readonly commitment: CommitmentLevel;
    readonly clock: Clock;
    /** RPC_UNAVAILABLE, for a short reason of our own words. */
    readonly unavailable: (reason: string) => OperatingError;
  },
): Blocks {
  const { commitment, clock, unavailable } = options;
  const isFinal = commitment === "finalized";
  /** By slot, in the order of their reading. */
  const kept = new Map<bigint, BlockAnswer>();
  let finalSlot = 0n;
  let highestRead = 0n;
  /** Slots that were listed after one: what is older than that one is not in it. */
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

  /** A block at or below the newest slot. Throws RPC_UNAVAILABLE also where the slot has none. */
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

  /** Whether a block that was read is still on the chain. Its head says it, at a fraction of the bytes. */
  async function isThere({ slot, hash }: BlockAnswer): Promise<boolean> {
    const head = await nodes.agree((node) => node.readHead(slot, commitment));
    return head.hash === hash;
  }

  /** The parent of a block that is on the chain: named by its hash, it is as surely there. */
  async function readParent({ parentSlot, parentHash }: BlockAnswer): Promise<BlockAnswer> {
    const known = kept.get(parentSlot);
    const parent = known?.hash === parentHash ? known : await readBlock(parentSlot);
    if (parent.hash !== parentHash) throw unavailable("another parent");
    return parent;
  }

  /** Slots after one that some node says have a block, lowest first: a hint, as any of them may be made up or left out. */
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
    // Where lists say nothing, the newest is known to be there, and leads back.
    for (const candidate of [...slots.slice(0, SLOTS_TRIED_MAX), newest]) {
      try {
        return await readBlock(candidate);
      } catch (error) {
        if (!isUnavailable(error)) throw error;
        failure = error;
        // Made up, or of a fork that is gone: it would stand before those that are there at the next try.
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
    // A list may leave blocks out. A block names its parent, and of that it can be no mistake.
    for (let back = 0; block.parentSlot > slot; back += 1) {
      if (back === BLOCKS_BACK_MAX) {
        listed = NOTHING_LISTED;
        throw unavailable("too many blocks left out");
      }
      block = await readParent(block);
    }
    return block;
  }

  /** What was just confirmed is not at every node, nor behind every address of one, although it was said to be. */
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
      // Nodes say that a slot was skipped also where they lack its block: what follows it tells.
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

/** Blocks are large: what they hold is compared by its hash. */
const SAME_BLOCK: Rule<ReadBlock> = {
  isSame: (one, other) => one.digest === other.digest,
  merge([first]) {
    if (!first) throw new TypeError("expected a block");
    return first;
  },
};
