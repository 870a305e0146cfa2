/**
 * The scanner's view of a chain with few full nodes and some witnesses: a full node reads the blocks, and witnesses confirm
 * its findings with few small requests.
 *
 * A block counts when `required` nodes, full ones and witnesses together, name the same hash and parent at its height. A
 * transfer to one of our wallets counts when as many show it: a witness reads it from the receipt of its transaction. A
 * section ends before the first block that is not confirmed.
 *
 * Believed of the full nodes alone: that a section leaves out no transfer, its outflows, times, and the balances that lower
 * an amount below its log. Reads of state for money (balances, locks, deliveries) never ask a witness.
 *
 * Invariant: no section is returned with a block or a transfer that fewer than `required` nodes confirm.
 */
import { isDeepStrictEqual } from "node:util";
import { OperatingError } from "../core/errors.ts";
import type { Clock } from "../core/ports.ts";
import type { Log } from "../telemetry/log.ts";
import type {
  BlockId,
  BlockRef,
  ScannedBlock,
  Section,
  SectionRequest,
  Transfer,
} from "./port/index.ts";
import { type ChainAtBlocks, combineNodes, createChainNodes } from "./quorum.ts";

/** Blocks with transfers that are confirmed at the same time. */
const CONFIRMED_AT_ONCE = 32;
/** Most transactions that an error names. */
const NAMED_MAX = 5;

/** The reads of a witness. */
export interface WitnessReader {
  /** Returns the blocks at these heights; null for one that the node does not have. */
  listBlocks(numbers: readonly bigint[]): Promise<readonly (BlockRef | null)[]>;
  /**
   * Returns those of a block's transfers that the receipts of their transactions show, in order. Throws RPC_UNAVAILABLE if
   * the node lacks one of them in this block.
   */
  listConfirmed(block: BlockId, transfers: readonly Transfer[]): Promise<readonly Transfer[]>;
}

/** A node that can be full or a witness. */
export type WitnessedNode = ChainAtBlocks & WitnessReader;

/**
 * Returns the chain for the scanner. All full nodes must agree, so that with them `required - full nodes` witnesses confirm.
 */
export function createWitnessedChain(
  /** The full nodes as one chain, which agree unanimously. */
  full: ChainAtBlocks,
  {
    nodes: placed,
    ...options
  }: {
    /** Every node, in the order of the configuration. */
    readonly nodes: readonly { readonly role: "full" | "witness"; readonly chain: WitnessedNode }[];
    readonly required: number;
    readonly clock: Clock;
    readonly log: Log;
  },
): ChainAtBlocks {
  const nodes = createChainNodes(
    placed.map(({ chain }) => chain),
    options,
  );
  const witnesses = new Set(placed.flatMap(({ role, chain }) => (role === "witness" ? chain : [])));
  const together = combineNodes(full, nodes);
  /** New blocks that too few witnesses had yet: they are not read again. */
  let held: { readonly after: bigint; readonly section: Section } | null = null;

  /** Takes the held section if it is the one requested. */
  function takeHeld({ after, max, isFinal }: SectionRequest): Section | null {
    const kept = held;
    held = null;
    if (isFinal || kept?.after !== after) return null;
    return { ...kept.section, blocks: kept.section.blocks.slice(0, max) };
  }

  /** Returns the number of leading blocks that enough nodes have, and why the next one does not count. */
  async function countAgreed(blocks: readonly ScannedBlock[]) {
    const stated = blocks.map(({ number, hash, parentHash }) => ({ number, hash, parentHash }));
    const numbers = stated.map(({ number }) => number);
    const said = await nodes.collect((node): Promise<readonly (BlockRef | null)[]> =>
      witnesses.has(node) ? node.listBlocks(numbers) : Promise.resolve(stated),
    );
    const sayAt = (index: number) => said.values.flatMap((list) => list[index] ?? []);
    const isAgreed = (ref: BlockRef, index: number) =>
      isDeepStrictEqual(nodes.agreedOf(sayAt(index)), ref);
    const wrong = stated.findIndex((ref, index) => !isAgreed(ref, index));
    const count = wrong < 0 ? stated.length : wrong;
    const [block] = blocks.slice(count);
    if (!block) return { count, isLagging: false, error: null };
    const error = unconfirmed("block not confirmed", block, { cause: said.disagreement() });
    return { count, isLagging: sayAt(count).length < nodes.required, error };
  }

  /** Throws RPC_UNAVAILABLE unless enough nodes show the transfers of a block. */
  async function confirm(block: ScannedBlock): Promise<void> {
    const { transfers } = block;
    const shown = await nodes
      .agree((node): Promise<readonly Transfer[]> =>
        witnesses.has(node) ? node.listConfirmed(block, transfers) : Promise.resolve(transfers),
      )
      .catch((cause: unknown) => {
        if (!(cause instanceof OperatingError)) throw cause;
        throw unconfirmed("transfer not confirmed", block, { cause, transfers });
      });
    if (isDeepStrictEqual(shown, transfers)) return;
    const missing = transfers.filter(
      (one) => !shown.some((other) => isDeepStrictEqual(one, other)),
    );
    throw unconfirmed("transfer not confirmed", block, { transfers: missing });
  }

  /** Returns the leading blocks whose transfers enough nodes show, and why the next one does not count. */
  async function listConfirmed(blocks: readonly ScannedBlock[]) {
    const withTransfers = blocks.filter(({ transfers }) => transfers.length > 0);
    for (let from = 0; from < withTransfers.length; from += CONFIRMED_AT_ONCE) {
      const some = withTransfers.slice(from, from + CONFIRMED_AT_ONCE);
      const outcomes = await Promise.allSettled(some.map(confirm));
      const wrong = outcomes.findIndex(({ status }) => status === "rejected");
      const [outcome, block] = [outcomes[wrong], some[wrong]];
      if (outcome?.status !== "rejected" || !block) continue;
      const error: unknown = outcome.reason;
      return { blocks: blocks.filter(({ number }) => number < block.number), error };
    }
    return { blocks, error: null };
  }

  async function readSection(request: SectionRequest): Promise<Section | null> {
    const section = takeHeld(request) ?? (await full.readSection(request));
    if (!section) return null;
    const agreed = await countAgreed(section.blocks);
    const rest = section.blocks.slice(agreed.count);
    const [next] = rest;
    const { blocks, error } = await listConfirmed(section.blocks.slice(0, agreed.count));
    const last = blocks.at(-1);
    if (!last && error !== null) throw error;
    if (next && agreed.isLagging && error === null && !request.isFinal) {
      const after = last?.number ?? request.after;
      held = { after, section: { parentHash: next.parentHash, blocks: rest } };
    }
    if (last) return { parentHash: section.parentHash, blocks };
    if (agreed.error && !agreed.isLagging) throw agreed.error;
    return null;
  }

  function unconfirmed(
    reason: string,
    block: BlockId,
    { cause, transfers = [] }: { cause?: unknown; transfers?: readonly Transfer[] },
  ): OperatingError {
    const hashes = [...new Set(transfers.map(({ txHash }) => txHash))].slice(0, NAMED_MAX);
    return new OperatingError(
      "RPC_UNAVAILABLE",
      "Too few nodes confirm a block that the full node shows.",
      {
        details: {
          chainId: full.chainId,
          reason,
          block: block.number.toString(),
          ...(hashes.length > 0 ? { transactions: hashes.join(" ") } : {}),
        },
        cause,
      },
    );
  }

  return {
    ...full,
    checkIdentity: together.checkIdentity,
    getHead: together.getHead,
    getFinalNumber: together.getFinalNumber,
    getFinalBlock: together.getFinalBlock,
    getSafeBlock: together.getSafeBlock,
    getBlock: together.getBlock,
    readSection,
    balances: {
      ...full.balances,
      confirmNativeBalances: together.balances.listNativeBalances,
    },
  };
}
