/**
 * Solana through several nodes, of which some may lie, lag or be dead.
 *
 * State cannot be read at a named block here, so nodes cannot be asked the same question at the same moment. What they
 * say must be the same all the same, at slots that are not below one that enough of them call final (or confirmed, where
 * that is asked for); where it is not, they are asked again, a little later. Blocks are compared whole.
 */
import { OperatingError } from "../../core/errors.ts";
import type { Clock } from "../../core/ports.ts";
import type { Log } from "../../telemetry/log.ts";
import { createNodes, type Nodes, type Rule } from "../ask-nodes.ts";
import type { BlockAnswer } from "./answers.ts";
import { type Blocks, createBlocks } from "./blocks.ts";
import type { CommitmentLevel, SolanaNode } from "./node.ts";

/** How often state is asked for before a disagreement is one, and how long is waited in between. */
const ASKS_MAX = 4;
const PAUSE_MS = 400;
/** The nodes of the chain, asked together. */
export interface Quorum {
  readonly nodes: Nodes<SolanaNode>;
  /** Blocks as of each level. */
  readonly blocks: Readonly<Record<CommitmentLevel, Blocks>>;
  /** The newest slot that enough nodes call final. Never goes back. */
  getFinalSlot(): Promise<bigint>;
  /** The final block that follows a slot, or null while none does. */
  readBlockAfter(slot: bigint): Promise<BlockAnswer | null>;
  /** The final block of a slot, or null where there is surely none. */
  findBlock(slot: bigint): Promise<BlockAnswer | null>;
  /** A reading of state as of a level, which must not be of a slot below the one that is given. */
  agreeAt<T>(
    commitment: CommitmentLevel,
    read: (node: SolanaNode, minSlot: bigint) => Promise<T>,
    rule?: Rule<T>,
  ): Promise<T>;
  /** The same of what is final. */
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
