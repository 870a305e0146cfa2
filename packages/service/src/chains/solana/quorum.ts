/**
 * Solana through several nodes, some of which may lie, lag or be down.
 *
 * Solana cannot read state at a given block, so nodes answer for slightly different slots. Their answers must be equal,
 * at slots not below one that enough nodes call final (or confirmed); otherwise they are asked again after a pause.
 * Blocks are compared whole.
 */
import { OperatingError } from "../../core/errors.ts";
import type { Clock } from "../../core/ports.ts";
import type { Log } from "../../telemetry/log.ts";
import { createNodes, type Nodes, type Rule } from "../ask-nodes.ts";
import type { BlockAnswer } from "./block-answer.ts";
import { type Blocks, createBlocks } from "./blocks.ts";
import type { CommitmentLevel, SolanaNode } from "./node.ts";

/** Attempts to read state before nodes count as disagreeing, and the pause between them. */
const ASKS_MAX = 4;
const PAUSE_MS = 400;
/** Reads that enough nodes of a chain must agree on. */
export interface Quorum {
  readonly nodes: Nodes<SolanaNode>;
  /** Blocks at each commitment level. */
  readonly blocks: Readonly<Record<CommitmentLevel, Blocks>>;
  /** Returns the newest slot that enough nodes call final. It never decreases. */
  getFinalSlot(): Promise<bigint>;
  /** Returns the first final block after a slot, or null while there is none. */
  readBlockAfter(slot: bigint): Promise<BlockAnswer | null>;
  /** Returns the final block of a slot; null when the slot certainly has none. */
  findBlock(slot: bigint): Promise<BlockAnswer | null>;
  /** Reads state at a level; the answer's slot must not be below the given one. */
  agreeAt<T>(
    commitment: CommitmentLevel,
    read: (node: SolanaNode, minSlot: bigint) => Promise<T>,
    rule?: Rule<T>,
  ): Promise<T>;
  /** Reads final state. */
  agreeFinal<T>(
    read: (node: SolanaNode, minSlot: bigint) => Promise<T>,
    rule?: Rule<T>,
  ): Promise<T>;
  /** Creates an RPC_UNAVAILABLE error. `reason` is our own text, never a node's. */
  unavailable(reason: string): OperatingError;
}

/** Combines nodes into a quorum. */
export function createQuorum(
  members: readonly SolanaNode[],
  options: { readonly required: number; readonly clock: Clock; readonly log: Log },
): Quorum {
  const { clock } = options;
  const nodes = createNodes(members, { ...options, readFirst: async (node) => node.genesisHash });
  const blocks = {
    confirmed: createBlocks(nodes, { commitment: "confirmed", clock, unavailable }),
    finalized: createBlocks(nodes, { commitment: "finalized", clock, unavailable }),
  };
  const { getSlot: getFinalSlot, readBlockAfter, findBlock } = blocks.finalized;

  async function agreeAt<T>(
    commitment: CommitmentLevel,
    read: (node: SolanaNode, minSlot: bigint) => Promise<T>,
    rule?: Rule<T>,
  ): Promise<T> {
    const minSlot = await blocks[commitment].getStateSlot();
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

  return {
    nodes,
    blocks,
    getFinalSlot,
    readBlockAfter,
    findBlock,
    agreeAt,
    agreeFinal: (read, rule) => agreeAt("finalized", read, rule),
    unavailable,
  };
}

function isDisagreement(error: unknown): boolean {
  return error instanceof OperatingError && error.details?.["reason"] === "nodes disagree";
}
