/**
 * Solana through several nodes, of which some may lie, lag or be dead.
 *
 * State cannot be read at a named block here, so nodes cannot be asked the same question at the same moment. What they
 * say must be the same all the same, at slots that are not below one that enough of them call final; where it is not,
 * they are asked again, a little later. Blocks do not change any more, and are compared whole.
 */
import { OperatingError } from "../../core/errors.ts";
import type { Clock } from "../../core/ports.ts";
import type { Log } from "../../telemetry/log.ts";
import { createNodes, type Nodes, type Read, type Rule } from "../ask-nodes.ts";
import type { BlockAnswer } from "./answers.ts";
import type { ReadBlock, SolanaNode } from "./node.ts";

/** How often state is asked for before a disagreement is one, and how long is waited in between. */
const ASKS_MAX = 4;
const PAUSE_MS = 400;
/** Blocks that were read and are kept: each is asked for several times in a row. */
const BLOCKS_KEPT = 8;
/** How far a list of slots is asked for ahead. */
const SLOTS_AHEAD = 64;
/** Slots of a list that are tried, where nodes name some that none has. */
const SLOTS_TRIED_MAX = 8;
/** How far is gone back from a block that was found to the one that follows. */
const BLOCKS_BACK_MAX = 64;

/** The nodes of the chain, asked together. */
export interface Quorum {
  readonly nodes: Nodes<SolanaNode>;
  /** The newest slot that enough nodes call final. Never goes back. */
  getFinalSlot(): Promise<bigint>;
  /** A block at or below the final slot. Throws RPC_UNAVAILABLE also where the slot has none. */
  readBlock(slot: bigint): Promise<BlockAnswer>;
  /** The block that follows a slot, or null while none does. No block between the two can be hidden. */
  readBlockAfter(slot: bigint): Promise<BlockAnswer | null>;
  /** The block of a slot, or null where there is surely none. */
  findBlock(slot: bigint): Promise<BlockAnswer | null>;
  /** A reading of state, which must not be of a slot below the one that is given. */
  agreeFinal<T>(
    read: (node: SolanaNode, minSlot: bigint) => Promise<T>,
    rule?: Rule<T>,
  ): Promise<T>;
  /** RPC_UNAVAILABLE, for a short reason of our own words. */
  unavailable(reason: string): OperatingError;
}

/** Puts nodes together. */
export function createQuorum(
  members: readonly SolanaNode[],
  options: { readonly required: number; readonly clock: Clock; readonly log: Log },
): Quorum {
  const { clock } = options;
  const nodes = createNodes(members, { ...options, readFirst: (node) => node.readGenesis() });
  /** By slot, in the order of their reading. */
  const kept = new Map<bigint, BlockAnswer>();
  let finalSlot = 0n;
  /** Slots that were listed after one: what is older than that one is not in it. */
  let listed: { readonly after: bigint; readonly slots: readonly bigint[] } = NOTHING_LISTED;

  async function getFinalSlot(): Promise<bigint> {
    const slots = await nodes.collect((node) => node.getSlot("finalized"));
    const slot = nodes.reachedBy(slots.values);
    if (slot > finalSlot) finalSlot = slot;
    return finalSlot;
  }

  async function readBlock(slot: bigint): Promise<BlockAnswer> {
    const known = kept.get(slot);
    if (known) return known;
    const read: Read<ReadBlock, SolanaNode> = (node) => node.readBlock(slot);
    const { block } = await nodes.agree(read, SAME_BLOCK);
    kept.set(slot, block);
    const [oldest] = kept.keys();
    if (kept.size > BLOCKS_KEPT && oldest !== undefined) kept.delete(oldest);
    return block;
  }

  /** Slots after one that some node says have a block, lowest first: a hint, as any of them may be made up or left out. */
  async function listSlotsAfter(slot: bigint, final: bigint): Promise<readonly bigint[]> {
    const isAhead = (other: bigint) => other > slot && other <= final;
    const known = listed.after <= slot ? listed.slots.filter(isAhead) : [];
    if (known.length > 0) return known;
    const lists = await nodes.collect((node) => node.listSlots(slot + 1n, SLOTS_AHEAD));
    const slots = [...new Set(lists.values.flat())].sort((one, other) => (one < other ? -1 : 1));
    listed = { after: slot, slots };
    return slots.filter(isAhead);
  }

  async function findAnyAfter(slot: bigint, final: bigint): Promise<BlockAnswer> {
    let failure: unknown;
    const slots = await listSlotsAfter(slot, final);
    // Where lists say nothing, what is final is known to be there, and leads back.
    for (const candidate of [...slots.slice(0, SLOTS_TRIED_MAX), final]) {
      try {
        return await readBlock(candidate);
      } catch (error) {
        if (!(error instanceof OperatingError) || error.code !== "RPC_UNAVAILABLE") throw error;
        failure = error;
      }
    }
    // What was remembered may be of a node that made it up.
    listed = NOTHING_LISTED;
    throw failure;
  }

  async function readBlockAfter(slot: bigint): Promise<BlockAnswer | null> {
    const final = await getFinalSlot();
    if (slot >= final) return null;
    let block = await findAnyAfter(slot, final);
    // A list may leave blocks out. A block names its parent, and of that it can be no mistake.
    for (let back = 0; block.parentSlot > slot; back += 1) {
      if (back === BLOCKS_BACK_MAX) {
        listed = NOTHING_LISTED;
        throw unavailable("too many blocks left out");
      }
      const parent = await readBlock(block.parentSlot);
      if (parent.hash !== block.parentHash) throw unavailable("another parent");
      block = parent;
    }
    return block;
  }

  async function findBlock(slot: bigint): Promise<BlockAnswer | null> {
    const known = kept.get(slot);
    if (known) return known;
    if (slot > (await getFinalSlot())) return null;
    try {
      return await readBlock(slot);
    } catch (error) {
      if (!(error instanceof OperatingError) || error.code !== "RPC_UNAVAILABLE") throw error;
      // Nodes say that a slot was skipped also where they lack its block: what follows it tells.
      const next = slot === 0n ? null : await readBlockAfter(slot - 1n);
      if (next === null || next.slot === slot) throw error;
      return null;
    }
  }

  async function agreeFinal<T>(
    read: (node: SolanaNode, minSlot: bigint) => Promise<T>,
    rule?: Rule<T>,
  ): Promise<T> {
    const minSlot = await getFinalSlot();
    for (let asks = 1; ; asks += 1) {
      try {
        return await nodes.agree((node) => read(node, minSlot), rule);
      } catch (error) {
        if (asks === ASKS_MAX || !isDisagreement(error)) throw error;
        await clock.sleep(PAUSE_MS);
      }
    }
  }

  function unavailable(reason: string): OperatingError {
    const [first] = members;
    return new OperatingError("RPC_UNAVAILABLE", "The chain's nodes gave no usable answer.", {
      details: { chainId: first?.chainId ?? 0, reason },
    });
  }

  return { nodes, getFinalSlot, readBlock, readBlockAfter, findBlock, agreeFinal, unavailable };
}

const NOTHING_LISTED = { after: 0n, slots: [] };

/** Blocks are large: what they hold is compared by its hash. */
const SAME_BLOCK: Rule<ReadBlock> = {
  isSame: (one, other) => one.digest === other.digest,
  merge([first]) {
    if (!first) throw new TypeError("expected a block");
    return first;
  },
};

function isDisagreement(error: unknown): boolean {
  return error instanceof OperatingError && error.details?.["reason"] === "nodes disagree";
}
