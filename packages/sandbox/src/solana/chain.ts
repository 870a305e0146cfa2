/**
 * The chain: slots that pass, transactions that wait, blocks that are made of them, and the faults that are asked for.
 *
 * A slot ends with `produceBlock` or `skipSlots`. What waits is tried once, in the order of arrival: what is alive and
 * pays is in the block, everything else is gone without a trace.
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
  type Commitment,
  type CommitmentLags,
  createLedger,
  type Ledger,
} from "./ledger.ts";
import type { DecodedTransaction } from "./svm/transaction.ts";

/** Height of the first block. The chain is as if it had run before, so that slots and heights differ. */
const FIRST_HEIGHT = 90n;
/** Slots whose hashes programs may know. */
const SLOT_HASHES = 512;
const LAGS_DEFAULT: CommitmentLags = { confirmed: 1, finalized: 32 };
/** Blocks kept; older ones are gone as they are from a node that does not keep everything. */
const BLOCKS_MAX_DEFAULT = 20_000;

/** Faults that wait to happen. */
export interface Faults {
  /** Sends that are answered and then forgotten. */
  dropSends: number;
  /** Requests that are answered with HTTP 429. */
  rateLimits: number;
  /** Requests of a method (of any, where none is named) that are answered with an error. */
  failures: { method: string | undefined; code: number; message: string; count: number }[];
}

/** What happens to a chain, in the order in which it happens; told so that it can be kept. */
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

/** What a chain was when it was saved. */
export interface SavedChain {
  readonly blocks: readonly Block[];
  readonly root: bigint;
  readonly slot: bigint;
  readonly bank: SavedBank;
}

/** Settings of a chain. */
export interface ChainSettings {
  /** Goes on from here; without it the chain is a new one. */
  readonly saved?: SavedChain;
  /** How many blocks must stand on one until it is confirmed and final. Default 1 and 32. */
  readonly lags?: CommitmentLags;
  /** Milliseconds since 1970. Default: the clock of the machine. */
  readonly now?: () => number;
  /** Blocks kept. Default 20000. */
  readonly blocksMax?: number;
}

/** The chain. */
export interface Chain {
  readonly bank: Bank;
  readonly ledger: Ledger;
  readonly faults: Faults;
  /** The slot that is open now. */
  openSlot(): bigint;
  /** Transactions that wait for a block. */
  pendingCount(): number;
  /** Takes a transaction; it is tried in the next block. */
  submit(decoded: DecodedTransaction): void;
  /** Ends the open slot with a block. */
  produceBlock(): Block;
  /** Ends slots without a block. */
  skipSlots(count: number): void;
  /** Takes the newest blocks away, as when their fork died. Returns them, newest first. */
  fork(blocks: number, options?: { readonly replay?: boolean }): readonly Block[];
  /** Why a transaction cannot be in the block after the newest one of a commitment; undefined when it can. */
  deadReason(decoded: DecodedTransaction, commitment?: Commitment): DeadReason | undefined;
  /** Writes an account without a transaction, as of the newest block or as if it had always been so. */
  write(address: Address, account: StoredAccount | undefined, since?: "now" | "always"): void;
  /** What the cluster asks as rent, in lamports per byte. */
  setRent(lamportsPerByte: bigint): void;
  /** Resolves with the next block. */
  nextBlock(): Promise<Block>;
  /** Takes over a block that was made before a restart, with the accounts that it changed. */
  adopt(block: Block, changes: readonly (readonly [Address, StoredAccount | undefined])[]): void;
  /** Tells of everything from now on, before anybody else can see it. */
  onEvent(listener: (event: ChainEvent) => void): void;
  save(): SavedChain;
}

/** Why a transaction is not even tried. */
export type DeadReason = "BlockhashNotFound" | "AlreadyProcessed";

/** Makes a chain with its first block. */
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
  let tell = (_event: ChainEvent): void => undefined;
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

  /** Opens the slot for programs: what they see as now, and as the past. */
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
      const tried = [...pending.values()];
      pending = new Map();
      const transactions = tried.flatMap((decoded) => {
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
      tell({ kind: "block", block });
      const told = waiting;
      waiting = [];
      for (const resolve of told) resolve(block);
      return block;
    },
    skipSlots: (count) => {
      slot += BigInt(count);
      openSlot(timeOfNext());
      tell({ kind: "skip", slot });
    },
    fork: (blocks, { replay = false } = {}) => {
      const gone = ledger.abandon(blocks);
      bank.rollBack(ledger.tip().slot);
      const lost = gone.toReversed().flatMap(({ transactions }) => transactions);
      if (replay) {
        const again = lost.map(({ decoded }) => [decoded.signature, decoded] as const);
        pending = new Map([...again, ...pending]);
      }
      openSlot(timeOfNext());
      tell({ kind: "fork", blocks });
      return gone;
    },
    deadReason,
    write: (address, account, since = "now") => {
      bank.write(since === "always" ? BEFORE_ALL : ledger.tip().slot, address, account);
      tell({ kind: "write", address, account, since });
    },
    setRent: (lamportsPerByte) => {
      bank.setRentPerByte(lamportsPerByte);
      tell({ kind: "rent", lamportsPerByte });
    },
    nextBlock: () => new Promise((resolve) => waiting.push(resolve)),
    adopt: (block, changes) => {
      for (const [address, account] of changes) bank.write(block.slot, address, account);
      ledger.append(block);
      bank.history.prune(ledger.tip("finalized").slot);
      slot = block.slot + 1n;
    },
    onEvent: (listener) => {
      tell = listener;
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
