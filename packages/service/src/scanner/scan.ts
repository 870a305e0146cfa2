/**
 * The scanner of one chain: reads its blocks in order and records transfers to our wallets as deposits.
 *
 * The cursor is a window of linked blocks. Before each block the newest one in the window must still be on the chain; if it
 * is orphaned, it is removed, its deposits are marked as orphaned, and the poll starts again. The next block must name it as
 * its parent. Transfers are read by block hash, so they never come from another fork, and are recorded before the cursor
 * moves: after a crash in between, the same block is scanned again, which is idempotent.
 */
import { listByWallets } from "../addresses/index.ts";
import type { BlockRef, Outflow } from "../chains/port/index.ts";
import { OperatingError } from "../core/errors.ts";
import type { ArrivedValue } from "../deposits/index.ts";
import { acceptValue } from "../settlements/index.ts";
import { groupByHolding, verifyArrivals } from "./arrivals.ts";
import type { ScannerDeps } from "./deps.ts";
import { followTraces, listNativeTransfers } from "./native.ts";
import {
  assertNext,
  CursorMoved,
  getNumberBelow,
  getScannedFinal,
  getTip,
  getWindowHash,
  popBlock,
  pushBlock,
} from "./store.ts";

/** Minimum number of blocks in the window, for walking back after a reorg; blocks that are not final are always kept. */
const WINDOW_BLOCKS = 512;
/** Blocks per poll; the next poll follows at once. */
const BLOCKS_MAX = 50;

/**
 * Scans new blocks. Returns true if the next poll should follow at once.
 * @throws OperatingError REORG if a final block, or the whole window, is orphaned: an operator must investigate.
 */
export async function pollChain(deps: ScannerDeps): Promise<boolean> {
  try {
    for (let blocks = 0; blocks < BLOCKS_MAX; blocks++) {
      if (!(await scanNext(deps))) return false;
    }
  } catch (error) {
    if (!(error instanceof CursorMoved)) throw error;
    deps.log.warn({ err: error }, "cursor moved, scanning from the new position");
  }
  return true;
}

/** Scans the next block, or removes the newest one if it is orphaned. Returns false if there is nothing to do. */
async function scanNext(deps: ScannerDeps): Promise<boolean> {
  const { db, chain } = deps;
  const tip = await getTip(db, chain.chainId);
  if (tip) {
    const onChain = await chain.getBlock(tip.number);
    if (onChain === null && (await isBehind(deps, tip))) return false;
    if (onChain?.hash !== tip.hash) return orphanTip(deps, tip);
  }
  const next = await chain.getBlockAfter(tip ? tip.number : deps.startBlock - 1n);
  if (!next) return false;
  // Reads the final height before the block, so that a block at or below it is the final one.
  const finalNumber = await chain.getFinalNumber();
  const block = await chain.getBlock(next.number);
  if (!block) return false;
  // With skipped slots nothing later proves that no block lies below the first one, so the first must be final.
  if (!tip && block.number > deps.startBlock && block.number > finalNumber) return false;
  const outflows = await listOutflows(deps, block);
  const arrivals = await recordArrivals(deps, block, outflows);
  if (arrivals.length > 0) deps.crashPoint("scan.arrived");
  const nowMs = deps.clock.now();
  const args = { arrivals, outflows, finalNumber, windowBlocks: WINDOW_BLOCKS, nowMs };
  await db.transaction().execute((tx) => pushBlock(tx, chain.chainId, block, args));
  if (arrivals.length > 0) deps.crashPoint("scan.pushed");
  deps.onScanned();
  await followTraces(deps, block);
  return true;
}

/** Returns the outflows of our wallets. Anybody can create other wallets at the factory and refund them. */
async function listOutflows({ db, chain }: ScannerDeps, block: BlockRef): Promise<Outflow[]> {
  const outflows = await chain.listOutflows(block);
  if (outflows.length === 0) return [];
  const ours = await listByWallets(
    db,
    outflows.map(({ wallet }) => wallet),
  );
  return outflows.filter(({ wallet }) => ours.has(wallet));
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

/** Removes an orphaned block from the window and marks its deposits. */
async function orphanTip(deps: ScannerDeps, tip: BlockRef): Promise<boolean> {
  const { db, chain, clock, log } = deps;
  // The final height when it was scanned: blocks replaced during an outage may lie below today's.
  const finalNumber = await getScannedFinal(db, chain.chainId);
  if (finalNumber !== null && tip.number <= finalNumber) {
    throw new OperatingError("REORG", "A final block was orphaned: the scanner has stopped.", {
      details: { chainId: chain.chainId, block: tip.number.toString() },
    });
  }
  const isLast = (await getNumberBelow(db, chain.chainId, tip.number)) === null;
  if (isLast && tip.number > deps.startBlock) {
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
  return true;
}

/** Records the deposits of a block and returns them. Throws `CursorMoved` if the block is not the next one any more. */
async function recordArrivals(
  deps: ScannerDeps,
  block: BlockRef,
  outflows: readonly Outflow[],
): Promise<ArrivedValue[]> {
  const { db, chain, tokens, settlements } = deps;
  const listed = [
    ...(await chain.listTransfers(block, tokens)),
    ...(await listNativeTransfers(deps, block)),
  ];
  // A lock that the escrow returns belongs to its settlement and is no new deposit.
  const transfers = listed.filter((transfer) => !chain.isGivenBack(transfer, outflows));
  const ours = await listByWallets(
    db,
    transfers.map((transfer) => transfer.to),
  );
  const arrivals = groupByHolding(
    chain.chainId,
    block,
    transfers.filter(({ to }) => ours.has(to)),
  );
  const verified = await verifyArrivals(deps, block, arrivals);
  for (const arrived of verified) {
    const address = ours.get(arrived.wallet);
    if (!address) continue;
    await acceptValue(settlements, arrived, address, (tx) => assertNext(tx, chain.chainId, block));
  }
  return verified;
}
