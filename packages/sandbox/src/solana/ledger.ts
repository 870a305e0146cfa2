/**
 * The blocks of the chain, with indexes. Consensus is simulated: a block is confirmed or final when enough blocks are on
 * top of it, and a fork removes the newest blocks.
 */
import type { Address } from "@solana/kit";
import type { Execution } from "./svm/bank.ts";
import type { DecodedTransaction } from "./svm/transaction.ts";

/** A commitment level of Solana. */
export type CommitmentLevel = "processed" | "confirmed" | "finalized";

/** Minimum number of blocks on top of a block of each commitment level. */
export interface CommitmentLevelLags {
  readonly confirmed: number;
  readonly finalized: number;
}

/** A transaction in a block. */
export interface LandedTransaction extends Execution {
  readonly slot: bigint;
  readonly decoded: DecodedTransaction;
}

/** A block. A slot without one was skipped. */
export interface Block {
  readonly slot: bigint;
  /** Number of blocks below it; less than the slot by the number of skipped slots. */
  readonly height: bigint;
  readonly parentSlot: bigint;
  readonly blockhash: string;
  readonly previousBlockhash: string;
  /** Unix time in seconds. */
  readonly time: bigint;
  readonly transactions: readonly LandedTransaction[];
}

/** Number of blocks after the block of its blockhash in which a transaction can be included. */
export const BLOCKHASH_AGE_MAX = 150n;

/** Initial state of a ledger. */
interface LedgerOptions {
  /** In ascending order, at least one. */
  readonly blocks: readonly Block[];
  /** Slot of the newest final block. */
  readonly root?: bigint;
  /** Number of blocks kept; older ones are removed. */
  readonly blocksMax: number;
  readonly lags: CommitmentLevelLags;
}

/** The blocks. */
export type Ledger = ReturnType<typeof createLedger>;

/** Creates a ledger. */
export function createLedger({
  blocks: initial,
  root: savedRoot,
  blocksMax,
  lags: chosenLags,
}: LedgerOptions) {
  const blocks: Block[] = [];
  const bySlot = new Map<bigint, Block>();
  const byHash = new Map<string, Block>();
  const bySignature = new Map<string, LandedTransaction>();
  const byAddress = new Map<Address, LandedTransaction[]>();
  let lags = chosenLags;
  let transactionCount = 0;
  /** Slot of the newest final block. A fork above it does not lower it. */
  let root = savedRoot;

  const append = (block: Block): void => {
    blocks.push(block);
    bySlot.set(block.slot, block);
    byHash.set(block.blockhash, block);
    for (const landed of block.transactions) {
      transactionCount += 1;
      bySignature.set(landed.decoded.signature, landed);
      for (const address of addressesOf(landed)) {
        const list = byAddress.get(address);
        if (list) list.push(landed);
        else byAddress.set(address, [landed]);
      }
    }
  };

  const unindex = (block: Block, end: "newest" | "oldest"): void => {
    bySlot.delete(block.slot);
    byHash.delete(block.blockhash);
    for (const landed of block.transactions) {
      bySignature.delete(landed.decoded.signature);
      for (const address of addressesOf(landed)) {
        const list = byAddress.get(address) ?? [];
        // Blocks are removed in order, so the transaction is always at one end of the list.
        if (end === "newest") list.splice(list.indexOf(landed), 1);
        else list.shift();
        if (list.length === 0) byAddress.delete(address);
      }
    }
  };

  /** Returns the newest block with at least `count` blocks on top; the oldest block if there are too few. */
  const buriedUnder = (count: number): Block => {
    const block = blocks[Math.max(0, blocks.length - 1 - count)];
    if (!block) throw new Error("a ledger has at least one block");
    return block;
  };
  const moveRoot = (): void => {
    const { slot } = buriedUnder(lags.finalized);
    if (root === undefined || slot > root) root = slot;
  };
  /** Returns the newest block of a commitment level. */
  const tip = (commitment: CommitmentLevel = "processed"): Block => {
    if (commitment === "processed") return buriedUnder(0);
    const final =
      (root === undefined ? undefined : bySlot.get(root)) ?? buriedUnder(lags.finalized);
    if (commitment === "finalized") return final;
    const confirmed = buriedUnder(lags.confirmed);
    return confirmed.slot > final.slot ? confirmed : final;
  };

  for (const block of initial) append(block);
  moveRoot();

  return {
    append: (block: Block): void => {
      append(block);
      moveRoot();
      if (blocks.length <= blocksMax) return;
      const oldest = blocks.shift();
      if (oldest) unindex(oldest, "oldest");
    },
    /** Removes the newest blocks and returns them, newest first. At least one block stays. */
    abandon: (count: number): readonly Block[] => {
      const removed: Block[] = [];
      while (removed.length < count && blocks.length > 1) {
        const block = blocks.pop();
        if (!block) break;
        transactionCount -= block.transactions.length;
        unindex(block, "newest");
        removed.push(block);
      }
      // A fork deeper than finality, which no real cluster has: the newest remaining block is final.
      if (root !== undefined && root > buriedUnder(0).slot) root = buriedUnder(0).slot;
      return removed;
    },
    tip,
    first: (): Block => {
      const [block] = blocks;
      if (!block) throw new Error("a ledger has at least one block");
      return block;
    },
    blockAt: (slot: bigint): Block | undefined => bySlot.get(slot),
    blockOf: (blockhash: string): Block | undefined => byHash.get(blockhash),
    /** Returns at most `limit` slots with a block between two slots, both included. */
    slotsBetween: (from: bigint, to: bigint, limit = Number.POSITIVE_INFINITY): bigint[] => {
      const start = lowerBound(blocks, from);
      const slots: bigint[] = [];
      for (let index = start; index < blocks.length && slots.length < limit; index += 1) {
        const slot = blocks[index]?.slot;
        if (slot === undefined || slot > to) break;
        slots.push(slot);
      }
      return slots;
    },
    /** Returns the newest blocks, oldest first. */
    newest: (count: number): readonly Block[] => blocks.slice(-count),
    transaction: (signature: string): LandedTransaction | undefined => bySignature.get(signature),
    /** Returns the transactions that include an address, oldest first. */
    transactionsOf: (address: Address): readonly LandedTransaction[] =>
      byAddress.get(address) ?? [],
    /** Returns the commitment level of a slot's block. */
    commitmentOf: (slot: bigint): CommitmentLevel => {
      if (slot <= tip("finalized").slot) return "finalized";
      return slot <= tip("confirmed").slot ? "confirmed" : "processed";
    },
    /** Reports whether a transaction with this blockhash can be included in the block after `at`. */
    isAlive: (blockhash: string, at: Block): boolean => {
      const block = byHash.get(blockhash);
      return (
        block !== undefined &&
        block.slot <= at.slot &&
        at.height + 1n - block.height <= BLOCKHASH_AGE_MAX
      );
    },
    transactionCount: (): number => transactionCount,
    lags: (): CommitmentLevelLags => lags,
    setLags: (changed: CommitmentLevelLags): void => {
      lags = changed;
      moveRoot();
    },
    all: (): readonly Block[] => blocks,
  };
}

/** Returns every address once, although a transaction can include it twice. */
export function addressesOf({ keys }: Execution): ReadonlySet<Address> {
  return new Set(keys.map(({ pubkey }) => pubkey));
}

/** Returns the index of the first block at or after a slot. */
function lowerBound(blocks: readonly Block[], slot: bigint): number {
  let low = 0;
  let high = blocks.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    const block = blocks[middle];
    if (block !== undefined && block.slot < slot) low = middle + 1;
    else high = middle;
  }
  return low;
}
