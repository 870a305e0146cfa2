/**
 * The blocks of the chain and what can be found in them. Consensus is played: a block is confirmed and final when
 * enough blocks stand on it, and a fork is the newest blocks taken away.
 */
import type { Address } from "@solana/kit";
import type { Execution } from "./svm/bank.ts";
import type { DecodedTransaction } from "./svm/transaction.ts";

/** How sure a block is. */
export type Commitment = "processed" | "confirmed" | "finalized";

/** How many blocks stand on a block of each commitment, at least. */
export interface CommitmentLags {
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
  /** Blocks below it; smaller than the slot by what was skipped. */
  readonly height: bigint;
  readonly parentSlot: bigint;
  readonly blockhash: string;
  readonly previousBlockhash: string;
  /** Seconds since 1970. */
  readonly time: bigint;
  readonly transactions: readonly LandedTransaction[];
}

/** Blocks in which a transaction may still be included after the one whose hash it carries. */
export const BLOCKHASH_AGE_MAX = 150n;

/** What a ledger begins with. */
export interface LedgerOptions {
  /** In ascending order, at least one. */
  readonly blocks: readonly Block[];
  /** Slot of the newest block that was final already. */
  readonly root?: bigint;
  /** Blocks kept; older ones are forgotten. */
  readonly blocksMax: number;
  readonly lags: CommitmentLags;
}

/** The blocks. */
export type Ledger = ReturnType<typeof createLedger>;

/** Makes a ledger. */
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
  /** Slot of the newest final block, which a fork above it does not lower. */
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

  const forget = (block: Block, end: "newest" | "oldest"): void => {
    bySlot.delete(block.slot);
    byHash.delete(block.blockhash);
    for (const landed of block.transactions) {
      bySignature.delete(landed.decoded.signature);
      for (const address of addressesOf(landed)) {
        const list = byAddress.get(address) ?? [];
        // Blocks leave in order, so that what goes is always at an end.
        if (end === "newest") list.splice(list.indexOf(landed), 1);
        else list.shift();
        if (list.length === 0) byAddress.delete(address);
      }
    }
  };

  /** The block on which that many others stand; the oldest where the chain is too short. */
  const buriedUnder = (count: number): Block => {
    const block = blocks[Math.max(0, blocks.length - 1 - count)];
    if (!block) throw new Error("a ledger has at least one block");
    return block;
  };
  const moveRoot = (): void => {
    const { slot } = buriedUnder(lags.finalized);
    if (root === undefined || slot > root) root = slot;
  };
  /** The newest block of a commitment. */
  const tip = (commitment: Commitment = "processed"): Block => {
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
      if (oldest) forget(oldest, "oldest");
    },
    /** Takes the newest blocks away and returns them, newest first. One always stays. */
    abandon: (count: number): readonly Block[] => {
      const gone: Block[] = [];
      while (gone.length < count && blocks.length > 1) {
        const block = blocks.pop();
        if (!block) break;
        transactionCount -= block.transactions.length;
        forget(block, "newest");
        gone.push(block);
      }
      // Deeper than finality, which no cluster does: then what stands is as final as it can be.
      if (root !== undefined && root > buriedUnder(0).slot) root = buriedUnder(0).slot;
      return gone;
    },
    tip,
    first: (): Block => {
      const [block] = blocks;
      if (!block) throw new Error("a ledger has at least one block");
      return block;
    },
    blockAt: (slot: bigint): Block | undefined => bySlot.get(slot),
    blockOf: (blockhash: string): Block | undefined => byHash.get(blockhash),
    /** Slots with a block between two slots, both included, at most `limit` of them. */
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
    /** The newest blocks, oldest first. */
    newest: (count: number): readonly Block[] => blocks.slice(-count),
    transaction: (signature: string): LandedTransaction | undefined => bySignature.get(signature),
    /** Transactions that name an address, oldest first. */
    transactionsOf: (address: Address): readonly LandedTransaction[] =>
      byAddress.get(address) ?? [],
    /** How sure a slot's block is. */
    commitmentOf: (slot: bigint): Commitment => {
      if (slot <= tip("finalized").slot) return "finalized";
      return slot <= tip("confirmed").slot ? "confirmed" : "processed";
    },
    /** True while a transaction with this blockhash may be included in the block after `at`. */
    isAlive: (blockhash: string, at: Block): boolean => {
      const block = byHash.get(blockhash);
      return (
        block !== undefined &&
        block.slot <= at.slot &&
        at.height + 1n - block.height <= BLOCKHASH_AGE_MAX
      );
    },
    transactionCount: (): number => transactionCount,
    lags: (): CommitmentLags => lags,
    setLags: (changed: CommitmentLags): void => {
      lags = changed;
      moveRoot();
    },
    all: (): readonly Block[] => blocks,
  };
}

/** Every address once, although a transaction may name it twice. */
function addressesOf({ keys }: Execution): ReadonlySet<Address> {
  return new Set(keys.map(({ pubkey }) => pubkey));
}

/** Place of the first block at or after a slot. */
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
