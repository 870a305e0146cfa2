/**
 * The scanner of one chain: reads its blocks in sections and records transfers to our wallets as deposits, in order.
 *
 * The cursor is a window of linked blocks, and a section must name its newest one, the tip, as parent. If it names another,
 * the tip is orphaned: it is removed, its deposits are marked as orphaned, and so on down to a block that is still on the
 * chain. The contents of blocks are read by hash, or below finality by height, so they never come from another fork. A
 * height becomes final only when the recorded block has the hash of the chain's final block: the server that answered for a
 * section may be behind the one that named the final block, and on another fork.
 * Deposits are recorded before the cursor moves over their block: after a crash in between, the same block is scanned again,
 * which is idempotent.
 *
 * Behind the head, the next section is read while the last one is recorded. At the head, one poll asks for as many blocks as
 * the chain's pace promises.
 */
import { listByWallets } from "../addresses/index.ts";
import type { BlockRef, FinalBlock, ScannedBlock, Section } from "../chains/port/index.ts";
import { assert } from "../core/assert.ts";
import { OperatingError } from "../core/errors.ts";
import { type Hex32, isNative } from "../core/hex.ts";
import { type ArrivedValue, splitRecorded } from "../deposits/index.ts";
import { auditFinal, mayRemoveFinal, recordFindings } from "../ledger/index.ts";
import { acceptArrivals } from "../settlements/index.ts";
import { listStated, verifyArrivals, withAddresses } from "./arrivals.ts";
import type { ScannerDeps } from "./deps.ts";
import { followTraces } from "./native.ts";
import { findSkip } from "./orders.ts";
import { createSectionSize, type SectionSize, type SizeLimits } from "./section-size.ts";
import {
  assertTip,
  CursorMoved,
  getNumberBelow,
  getScannedFinal,
  getTip,
  getWindowHash,
  popBlock,
  pushBlocks,
  putLookedAgain,
} from "./store.ts";

/** Minimum number of blocks in the window, for walking back after a reorg; blocks that are not final are always kept. */
const WINDOW_BLOCKS = 512;
/** Sections per poll; the next poll follows at once. */
const SECTIONS_MAX = 16;

/** The limits of the scanner's reads. The defaults hold on every chain; the simulation uses smaller ones. */
export interface Pace extends SizeLimits {
  /** Most heights of a section of final blocks without the native coin. */
  readonly finalBlocksMax: number;
  /**
   * Blocks below the newest final one that are read by hash like new ones. The server that answers may be behind the one that
   * named the final block.
   */
  readonly finalMargin: bigint;
  /** New blocks between two reads of the final height. */
  readonly finalityBlocks: number;
  /** Polls without a new block between two checks that the tip is still on the chain. */
  readonly idlePolls: number;
  /** Age of a block from which the scanner reads on at once, instead of waiting for its next poll. */
  readonly behindMs: number;
}

export const PACE: Pace = {
  blocksMin: 1,
  blocksMax: 64,
  finalBlocksMax: 2_000,
  finalMargin: 64n,
  finalityBlocks: 32,
  idlePolls: 10,
  behindMs: 15_000,
};

/** Changes of the pace for a chain of short slots, of which some have no block. */
export const PACE_OF_SLOTS: Partial<Pace> = { blocksMin: 16, finalityBlocks: 64 };

/** Timestamps have whole seconds, and polls an interval: a block that is older than usual by less is not late. */
const LATE_MS = 1_200;
/** Growth of the least age per section, so that it follows a chain that becomes slower. */
const AGE_DRIFT_MS = 50;

/** A section, and how it was asked for. */
interface Reading {
  readonly section: Section | null;
  readonly isFull: boolean;
  readonly isFinal: boolean;
  readonly finality: Finality;
}

/** The chain's final block, as last read. */
interface Finality {
  readonly block: FinalBlock;
  /** New blocks since then. */
  blocks: number;
  /** Whether its hash was compared with the scanned block of its height. */
  isCompared: boolean;
}

/** The scanner's memory between polls. It can be lost at any time. */
interface Memory {
  readonly size: SectionSize;
  /** The least age of the newest block of a section lately: the clocks of the chain and of this machine differ. */
  leastAgeMs: number;
  finality: Finality | null;
  /** The newest block with a deposit or an outflow, which somebody may wait to be final. */
  newestFound: bigint;
  idlePolls: number;
  /** The section after the block with this hash, under way. */
  ahead: { readonly after: string; readonly reading: Promise<Reading> } | null;
}

/**
 * Returns the poll of one chain. The poll scans new blocks and returns true if the next one should follow at once.
 * @throws OperatingError REORG if a final block, or the whole window, is orphaned: an operator must investigate.
 */
export function createScan(deps: ScannerDeps, pace: Pace = PACE): () => Promise<boolean> {
  const memory: Memory = {
    size: createSectionSize(pace),
    leastAgeMs: Infinity,
    finality: null,
    newestFound: 0n,
    idlePolls: 0,
    ahead: null,
  };
  return async () => {
    try {
      for (let sections = 0; sections < SECTIONS_MAX; sections++) {
        if (!(await scanNext(deps, pace, memory))) return false;
      }
    } catch (error) {
      memory.ahead = null;
      if (!(error instanceof CursorMoved)) {
        memory.size.failed();
        throw error;
      }
      deps.log.warn({ err: error }, "cursor moved, scanning from the new position");
    }
    return true;
  };
}

/** Scans the next section, or removes the newest blocks if they are orphaned. Returns false if the next poll can wait. */
async function scanNext(deps: ScannerDeps, pace: Pace, memory: Memory): Promise<boolean> {
  const tip = await getTip(deps.db, deps.chain.chainId);
  const ahead = memory.ahead;
  memory.ahead = null;
  const reading = await (ahead && ahead.after === tip?.hash
    ? ahead.reading
    : readAfter(deps, pace, memory, {
        after: tip?.number ?? deps.startBlock - 1n,
        tip: tip?.hash ?? null,
        isOld: false,
      }));
  const { section, isFull, isFinal, finality } = reading;
  if (!section) {
    memory.idlePolls += 1;
    const newest = tip?.number ?? deps.startBlock - 1n;
    memory.size.found({ found: 0, isFull, isBehind: false, isOld: false, newest });
    if (tip && memory.idlePolls >= pace.idlePolls) {
      memory.idlePolls = 0;
      if (await removeOrphans(deps, tip)) return true;
    }
    deps.onCaughtUp();
    return false;
  }
  memory.idlePolls = 0;
  if (tip && section.parentHash !== tip.hash) return removeOrphans(deps, tip);
  const [first] = section.blocks;
  const last = section.blocks.at(-1);
  if (!first || !last) return false;
  // With skipped slots nothing later proves that no block lies below the first one, so the first must be final.
  if (!tip && first.number > deps.startBlock && first.number > finality.block.number) return false;
  const final = isFinal ? last.number : await compareFinal(deps, finality, { tip, section });
  if (final === "differs") {
    // The answer that named the final block may be the wrong one.
    memory.finality = null;
    return tip ? removeOrphans(deps, tip) : false;
  }
  const isBehind = isFinal || isLate(memory, pace, { isFull, ageMs: ageOf(deps, last) });
  const isOld = isFinal || ageOf(deps, last) > pace.behindMs;
  const found = section.blocks.length;
  memory.size.found({ found, isFull, isBehind, isOld, newest: last.number });
  if (isBehind && isFull) {
    const next = readAfter(deps, pace, memory, { after: last.number, tip: last.hash, isOld });
    // Handled where it is awaited, or not needed any more.
    next.catch(() => undefined);
    memory.ahead = { after: last.hash, reading: next };
  }
  await record(deps, { tip, blocks: section.blocks, final });
  if (isFinal && tip) {
    // Read when they were final already, so no second look is due.
    const { chainId } = deps.chain;
    await putLookedAgain(deps.db, chainId, { from: tip.number, through: last.number });
  }
  if (!isFinal) for (const block of section.blocks) await followTraces(deps, block);
  if (!isBehind) deps.onCaughtUp();
  return isBehind;
}

/**
 * Returns the height up to which the scanned blocks are certainly final; null if nothing new is known, and "differs" if the
 * scanned block of the final height is another, which a server on an orphaned fork gave.
 */
async function compareFinal(
  { db, chain, log }: ScannerDeps,
  finality: Finality,
  { tip, section }: { readonly tip: BlockRef | null; readonly section: Section },
): Promise<bigint | "differs" | null> {
  const { number, hash } = finality.block;
  if (hash === null) return number;
  const last = section.blocks.at(-1);
  if (finality.isCompared || !last || number > last.number) return null;
  const scanned =
    tip && number <= tip.number
      ? await getWindowHash(db, chain.chainId, number)
      : (section.blocks.find((block) => block.number === number)?.hash ?? null);
  if (scanned !== null && scanned !== hash) {
    log.warn({ block: number, scanned, final: hash }, "another block is final, reading again");
    return "differs";
  }
  finality.isCompared = true;
  // Null below the first scanned block.
  return scanned === null ? null : number;
}

function ageOf({ clock }: ScannerDeps, { time }: ScannedBlock): number {
  return clock.now() - Number(time) * 1_000;
}

/** Reports whether there are more blocks already, judged by the age of the newest one that was read. */
function isLate(
  memory: Memory,
  { behindMs }: Pace,
  { isFull, ageMs }: { isFull: boolean; ageMs: number },
): boolean {
  memory.leastAgeMs = Math.min(ageMs, memory.leastAgeMs + AGE_DRIFT_MS);
  return ageMs > behindMs || (isFull && ageMs > memory.leastAgeMs + LATE_MS);
}

/** The newest scanned block, and its hash if there is one. */
interface After {
  readonly after: bigint;
  readonly tip: Hex32 | null;
}

async function readAfter(
  deps: ScannerDeps,
  pace: Pace,
  memory: Memory,
  { after, tip, isOld }: After & { readonly isOld: boolean },
): Promise<Reading> {
  const { db, chain, tokens, clock } = deps;
  if (isFinalityDue(memory, pace, after)) {
    memory.finality = { block: await chain.getFinalBlock(), blocks: 0, isCompared: false };
  }
  const { finality } = memory;
  assert(finality !== null, "the final block was read");
  const final = Number(finality.block.number - pace.finalMargin - after);
  const isFinal = final > pace.blocksMax;
  const most = tokens.some(isNative) ? memory.size.most() : pace.finalBlocksMax;
  const asked = memory.size.next(after, clock.now());
  const wanted = isFinal ? Math.min(final, most) : asked;
  const skip = await findSkip(db, chain.chainId, { after, through: after + BigInt(wanted) });
  const skipped = skip === null ? null : await chain.getBlock(skip);
  // Slots between two blocks may have none, also the one that an operator named.
  if (skipped && (skipped.number === after + 1n || skipped.parentHash === tip)) {
    return { section: await skipOver(deps, skipped), isFull: true, isFinal: false, finality };
  }
  const max = skipped ? Number(skipped.number - after) - 1 : wanted;
  const section = await chain.readSection({
    after,
    max,
    isFinal,
    isOld: isFinal || isOld,
    tokens,
    choose: async (accounts) => new Set((await listByWallets(db, accounts)).keys()),
  });
  const count = section?.blocks.length ?? 0;
  const found = section?.blocks.findLast(
    ({ transfers, outflows }) => transfers.length > 0 || outflows.length > 0,
  );
  if (found) memory.newestFound = found.number;
  finality.blocks += isFinal ? max : count;
  const isFull = isFinal || count === max;
  return { section, isFull, isFinal, finality };
}

/**
 * Returns whether the final block is to be read again. While something that was found is not final, it is read as often as a
 * block of this chain takes to become final: what happened in a block is final soon after the chain says so.
 */
function isFinalityDue(
  { finality, newestFound }: Memory,
  { finalityBlocks }: Pace,
  after: bigint,
): boolean {
  if (!finality || finality.blocks >= finalityBlocks) return true;
  const { block, blocks } = finality;
  return newestFound > block.number && blocks > 0 && 2n * BigInt(blocks) >= after - block.number;
}

/** Returns a block that an operator skips as one in which nothing happened. Reads no more than its head. */
async function skipOver({ chain, log }: ScannerDeps, block: BlockRef): Promise<Section> {
  const time = await chain.getTime(block);
  log.error({ block: block.number }, "block skipped by an operator");
  return {
    parentHash: block.parentHash,
    blocks: [{ ...block, time, transfers: [], outflows: [] }],
  };
}

/**
 * Removes blocks from the tip down that are not on the chain any more. Returns true if it removed one, false if the tip is
 * there, or the node is only behind it.
 */
async function removeOrphans(deps: ScannerDeps, newest: BlockRef): Promise<boolean> {
  const { db, chain } = deps;
  let tip: BlockRef | null = newest;
  while (tip) {
    const onChain = await chain.getBlock(tip.number);
    if (onChain?.hash === tip.hash) break;
    if (onChain === null && (await isBehind(deps, tip))) break;
    await orphanTip(deps, tip);
    tip = await getTip(db, chain.chainId);
  }
  return tip?.hash !== newest.hash;
}

/** Reports whether the node is only behind the cursor: its head is a block of the window, or below it. */
async function isBehind(deps: ScannerDeps, tip: BlockRef): Promise<boolean> {
  const { db, chain } = deps;
  const head = await chain.getHead();
  if (head.number >= tip.number) return false;
  const known = await getWindowHash(db, chain.chainId, head.number);
  // Null below the window: the node is far behind, such as one that is still syncing.
  return known === null || known === head.hash;
}

/** Removes the newest block, which is orphaned, from the window and marks its deposits. */
async function orphanTip(deps: ScannerDeps, tip: BlockRef): Promise<void> {
  const { db, chain, clock, log } = deps;
  // The final height when it was scanned: blocks replaced during an outage may lie below today's.
  const finalNumber = await getScannedFinal(db, chain.chainId);
  const isFinal = finalNumber !== null && tip.number <= finalNumber;
  if (isFinal) await assertRewindAllowed(deps, tip);
  const isLast = (await getNumberBelow(db, chain.chainId, tip.number)) === null;
  if (isLast && !isFinal && tip.number > deps.startBlock) {
    throw new OperatingError(
      "REORG",
      "Every block of the window was orphaned: the scanner has stopped.",
      {
        details: { chainId: chain.chainId, block: tip.number.toString() },
      },
    );
  }
  const orphaned = await db
    .transaction()
    .execute((tx) => popBlock(tx, chain.chainId, tip, clock.now()));
  log.warn({ block: tip.number, orphaned }, "reorg: block orphaned");
}

/**
 * Opens a breach for a final block that left the chain, and throws REORG until an operator has ended the breach: money was
 * moved in the belief that nothing could undo this block.
 */
async function assertRewindAllowed(deps: ScannerDeps, tip: BlockRef): Promise<void> {
  const { db, chain } = deps;
  const final = await auditFinal(deps);
  if (final.kind === "replaced") {
    if (await mayRemoveFinal(db, chain.chainId, final.lowest)) return;
    const opened = await recordFindings(db, [final.finding]);
    if (opened.length > 0) deps.log.error({ findings: opened }, "reorg: final block orphaned");
  }
  throw new OperatingError("REORG", "A final block was orphaned: the scanner has stopped.", {
    details: { chainId: chain.chainId, block: tip.number.toString() },
  });
}

/** Records the blocks of a section in order; those in which nothing happened together, in one database transaction. */
async function record(
  deps: ScannerDeps,
  section: {
    readonly tip: BlockRef | null;
    readonly blocks: readonly ScannedBlock[];
    readonly final: bigint | null;
  },
): Promise<void> {
  const { db, chain, clock } = deps;
  let { tip } = section;
  let quiet: BlockRef[] = [];

  async function push(
    blocks: readonly BlockRef[],
    { arrivals, outflows }: Pick<Parameters<typeof pushBlocks>[3], "arrivals" | "outflows">,
  ): Promise<void> {
    const [first, ...others] = blocks;
    if (!first) return;
    const args = { arrivals, outflows, final: section.final, windowBlocks: WINDOW_BLOCKS };
    const moved = { tip, blocks: [first, ...others] as const };
    await db.transaction().execute((tx) =>
      pushBlocks(tx, chain.chainId, moved, {
        ...args,
        nowMs: clock.now(),
        settlements: deps.settlements,
      }),
    );
    const last = others.at(-1) ?? first;
    deps.onScanned(Number(last.number - (tip?.number ?? first.number - 1n)), last.number);
    tip = last;
  }

  for (const block of section.blocks) {
    const { transfers, outflows } = block;
    if (transfers.length === 0 && outflows.length === 0) {
      quiet.push(block);
      continue;
    }
    await push(quiet, { arrivals: [], outflows: [] });
    quiet = [];
    const arrivals = await recordArrivals(deps, tip, block);
    if (arrivals.length > 0) deps.crashPoint("scan.arrived");
    await push([block], { arrivals, outflows });
    if (arrivals.length > 0) deps.crashPoint("scan.pushed");
  }
  await push(quiet, { arrivals: [], outflows: [] });
}

/**
 * Records the deposits of a block and returns them. Those that were recorded before an error are not read again. Throws
 * `CursorMoved` if the cursor is not at `tip` any more.
 */
async function recordArrivals(
  deps: ScannerDeps,
  tip: BlockRef | null,
  block: ScannedBlock,
): Promise<ArrivedValue[]> {
  const { chain, db, settlements } = deps;
  const { ours, arrivals } = await listStated(deps, block);
  const { recorded, open } = await splitRecorded(db, block, arrivals);
  const verified = await verifyArrivals(deps, block, { arrivals: open, outflows: block.outflows });
  await acceptArrivals(settlements, withAddresses(verified, ours), (tx) =>
    assertTip(tx, chain.chainId, tip),
  );
  return [...recorded, ...verified];
}
