/**
 * The chain: slots, pending transactions, blocks made of them, and simulated faults.
 *
 * A slot ends with `produceBlock` or `skipSlots`. Each pending transaction is executed once, in the order of arrival.
 * One with a valid lifetime that pays its fee is included in the block; any other is dropped without a trace.
 */
import { randomBytes } from "node:crypto";
import { type Address, getBase58Decoder } from "@solana/kit";
import { type Bank, createBank, type SavedBank } from "./svm/bank.ts";
import { BEFORE_ALL, type StoredAccount } from "./svm/account-history.ts";
import { findNonceAccount } from "./svm/durable-nonce.ts";
import { GENESIS_HASH } from "./genesis.ts";
import { FIRST_SLOT } from "./spec.ts";
import {
  type Block,
  type CommitmentLevel,
  type CommitmentLevelLags,
  createLedger,
  type Ledger,
} from "./ledger.ts";
import type { DecodedTransaction } from "./svm/transaction.ts";

/** Height of the first block. It is lower than the first slot, so that slots and heights differ. */
const FIRST_HEIGHT = 90n;
/** Number of slots in the SlotHashes sysvar. */
const SLOT_HASHES = 512;
const LAGS_DEFAULT: CommitmentLevelLags = { confirmed: 1, finalized: 32 };
/** Number of blocks kept; older ones are removed, as on a pruned node. */
const BLOCKS_MAX_DEFAULT = 20_000;

/** Faults to be simulated. */
export interface Faults {
  /** Number of next sends that are accepted and dropped. */
  dropSends: number;
  /** Number of next requests that get HTTP 429. */
  rateLimits: number;
  /** Errors for the next `count` requests of a method, or of any method if undefined. */
  failures: { method: string | undefined; code: number; message: string; count: number }[];
}

/** A change of the chain, reported in order so that it can be stored. */
export type ChainEvent =
  | { readonly kind: "block"; readonly block: Block }
  | { readonly kind: "skip"; readonly slot: bigint }
  | { readonly kind: "fork"; readonly blocks: number }
  | {
      readonly kind: "write";
      readonly address: Address;
      readonly account: StoredAccount | undefined;
      readonly since: "now" | "always";
    }
  | { readonly kind: "rent"; readonly lamportsPerByte: bigint };

/** The saved state of a chain. */
export interface SavedChain {
  readonly blocks: readonly Block[];
  readonly root: bigint;
  readonly slot: bigint;
  readonly bank: SavedBank;
}

/** Settings of a chain. */
export interface ChainSettings {
  /** State to resume; without it the chain is new. */
  readonly saved?: SavedChain;
  /** Blocks on top of a confirmed and of a final block. Default 1 and 32. */
  readonly lags?: CommitmentLevelLags;
  /** Unix time in milliseconds. Default: the system clock. */
  readonly now?: () => number;
  /** Number of blocks kept. Default 20000. */
  readonly blocksMax?: number;
}

/** A simulated Solana chain. */
export interface Chain {
  readonly bank: Bank;
  readonly ledger: Ledger;
  readonly faults: Faults;
  /** Returns the current slot. */
  openSlot(): bigint;
  /** Returns the number of pending transactions. */
  pendingCount(): number;
  /** Accepts a transaction for the next block. */
  submit(decoded: DecodedTransaction): void;
  /** Ends the current slot with a block. */
  produceBlock(): Block;
  /** Ends slots without a block. */
  skipSlots(count: number): void;
  /** Removes the newest blocks, as when their fork is abandoned. Returns them, newest first. */
  fork(blocks: number, options?: { readonly replay?: boolean }): readonly Block[];
  /** Returns why a transaction cannot be in the block after the newest one of a commitment level; undefined if it can. */
  deadReason(decoded: DecodedTransaction, commitment?: CommitmentLevel): DeadReason | undefined;
  /** Writes an account without a transaction, as of the newest block or as of genesis. */
  write(address: Address, account: StoredAccount | undefined, since?: "now" | "always"): void;
  /** Sets the rent, in lamports per byte. */
  setRent(lamportsPerByte: bigint): void;
  /** Resolves with the next block. */
  nextBlock(): Promise<Block>;
  /** Restores a block from before a restart, with the accounts that it changed. */
  adopt(block: Block, changes: readonly (readonly [Address, StoredAccount | undefined])[]): void;
  /** Sets the listener of changes. It is called before the change is visible to readers. */
  onEvent(listener: (event: ChainEvent) => void): void;
  save(): SavedChain;
}

/** Why a transaction cannot be executed. */
type DeadReason = "BlockhashNotFound" | "AlreadyProcessed";

/** Creates a chain with its first block, or resumes a saved one. */
export function createChain(settings: ChainSettings = {}): Chain {
  const { now = Date.now, blocksMax = BLOCKS_MAX_DEFAULT, saved, lags = LAGS_DEFAULT } = settings;
  const bank = createBank(saved?.bank);
  const ledger = createLedger({
    blocks: saved?.blocks ?? [firstBlock(secondsOf(now()))],
    ...(saved && { root: saved.root }),
    blocksMax,
    lags,
  });
  const faults: Faults = { dropSends: 0, rateLimits: 0, failures: [] };
  let slot = saved?.slot ?? FIRST_SLOT + 1n;
  let notify = (_event: ChainEvent): void => undefined;
  /** By signature, in the order of arrival. */
  let pending = new Map<string, DecodedTransaction>();
  let waiting: ((block: Block) => void)[] = [];

  const deadReason: Chain["deadReason"] = (decoded, commitment = "processed") => {
    if (ledger.transaction(decoded.signature)) return "AlreadyProcessed";
    const isAlive =
      ledger.isAlive(decoded.lifetimeToken, ledger.tip(commitment)) ||
      findNonceAccount(decoded, bank.read) !== undefined;
    return isAlive ? undefined : "BlockhashNotFound";
  };

  /** Sets the sysvars of the slot: the clock and the hashes of earlier slots. */
  const openSlot = (time: bigint): void => {
    const recent = ledger.newest(SLOT_HASHES).toReversed();
    bank.beginSlot(
      slot,
      time,
      recent.map((block) => ({ slot: block.slot, hash: block.blockhash })),
    );
  };
  const timeOfNext = (): bigint => {
    const wall = secondsOf(now());
    const { time } = ledger.tip();
    return wall > time ? wall : time;
  };

  openSlot(ledger.tip().time);
  return {
    bank,
    ledger,
    faults,
    openSlot: () => slot,
    pendingCount: () => pending.size,
    submit: (decoded) => {
      if (ledger.transaction(decoded.signature)) return;
      if (!pending.has(decoded.signature)) pending.set(decoded.signature, decoded);
    },
    produceBlock: () => {
      const parent = ledger.tip();
      const time = timeOfNext();
      openSlot(time);
      const candidates = [...pending.values()];
      pending = new Map();
      const transactions = candidates.flatMap((decoded) => {
        const execution = deadReason(decoded) ? undefined : bank.execute(slot, decoded);
        return execution ? [{ ...execution, slot, decoded }] : [];
      });
      const block: Block = {
        slot,
        height: parent.height + 1n,
        parentSlot: parent.slot,
        blockhash: getBase58Decoder().decode(randomBytes(32)),
        previousBlockhash: parent.blockhash,
        time,
        transactions,
      };
      ledger.append(block);
      bank.history.prune(ledger.tip("finalized").slot);
      slot += 1n;
      openSlot(time);
      notify({ kind: "block", block });
      const resolvers = waiting;
      waiting = [];
      for (const resolve of resolvers) resolve(block);
      return block;
    },
    skipSlots: (count) => {
      slot += BigInt(count);
      openSlot(timeOfNext());
      notify({ kind: "skip", slot });
    },
    fork: (blocks, { replay = false } = {}) => {
      const removed = ledger.abandon(blocks);
      bank.rollBack(ledger.tip().slot);
      const lost = removed.toReversed().flatMap(({ transactions }) => transactions);
      if (replay) {
        const replayed = lost.map(({ decoded }) => [decoded.signature, decoded] as const);
        pending = new Map([...replayed, ...pending]);
      }
      openSlot(timeOfNext());
      notify({ kind: "fork", blocks });
      return removed;
    },
    deadReason,
    write: (address, account, since = "now") => {
      bank.write(since === "always" ? BEFORE_ALL : ledger.tip().slot, address, account);
      notify({ kind: "write", address, account, since });
    },
    setRent: (lamportsPerByte) => {
      bank.setRentPerByte(lamportsPerByte);
      notify({ kind: "rent", lamportsPerByte });
    },
    nextBlock: () => new Promise((resolve) => waiting.push(resolve)),
    adopt: (block, changes) => {
      for (const [address, account] of changes) bank.write(block.slot, address, account);
      ledger.append(block);
      bank.history.prune(ledger.tip("finalized").slot);
      slot = block.slot + 1n;
    },
    onEvent: (listener) => {
      notify = listener;
    },
    save: () => ({
      blocks: ledger.all(),
      root: ledger.tip("finalized").slot,
      slot,
      bank: bank.save(),
    }),
  };
}

function firstBlock(time: bigint): Block {
  return {
    slot: FIRST_SLOT,
    height: FIRST_HEIGHT,
    parentSlot: FIRST_SLOT - 1n,
    blockhash: getBase58Decoder().decode(randomBytes(32)),
    previousBlockhash: GENESIS_HASH,
    time,
    transactions: [],
  };
}

function secondsOf(ms: number): bigint {
  return BigInt(Math.floor(ms / 1_000));
}
