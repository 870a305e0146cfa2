/**
 * The scanner of one chain: walks its blocks in order and turns transfers to our wallets into deposits.
 *
 * The cursor is a window of linked blocks. Before anything is read, the newest of them must still be on the chain; if
 * not, it is taken off, its deposits are marked, and the look begins again. The next block must name it as its parent.
 * Transfers are listed by block hash, so they can never be another fork's, and they are recorded before the cursor
 * moves: a crash in between scans the block again, which changes nothing.
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

/** Blocks kept at least, to find the way back after a reorganisation; all are kept that are not final. */
const WINDOW_BLOCKS = 512;
/** Blocks of one look; the next look goes on at once. */
const BLOCKS_MAX = 50;

/** Scans what is new. Returns true when there is more at once. */
export async function pollChain(deps: ScannerDeps): Promise<boolean> {
  try {
    for (let blocks = 0; blocks < BLOCKS_MAX; blocks++) {
      if (!(await scanNext(deps))) return false;
    }
  } catch (error) {
    if (!(error instanceof CursorMoved)) throw error;
    deps.log.warn({ err: error }, "looks again from where the cursor is");
  }
  return true;
}

/** Scans one block, or takes one off; false when there is nothing to do. */
async function scanNext(deps: ScannerDeps): Promise<boolean> {
  const { db, chain } = deps;
  const tip = await getTip(db, chain.chainId);
  if (tip) {
    const onChain = await chain.getBlock(tip.number);
    if (onChain === null && (await isBehind(deps, tip))) return false;
    if (onChain?.hash !== tip.hash) return stepBack(deps, tip);
  }
  const next = await chain.getBlockAfter(tip ? tip.number : deps.startBlock - 1n);
  if (!next) return false;
  // What is final is asked before the block is read: a block that is read at a height that was final is the final one.
  const finalNumber = await chain.getFinalNumber();
  const block = await chain.getBlock(next.number);
  if (!block) return false;
  // Where slots are skipped, nothing shows later that there was no block below the first one: then it is a final one.
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

/** What left wallets of ours. Anybody may make wallets at the factory, and refund them to themselves. */
async function listOutflows({ db, chain }: ScannerDeps, block: BlockRef): Promise<Outflow[]> {
  const outflows = await chain.listOutflows(block);
  if (outflows.length === 0) return [];
  const ours = await listByWallets(
    db,
    outflows.map(({ wallet }) => wallet),
  );
  return outflows.filter(({ wallet }) => ours.has(wallet));
}

/** Whether the node merely has not come as far as we have: its newest block is one of ours. */
async function isBehind(deps: ScannerDeps, tip: BlockRef): Promise<boolean> {
  const { db, chain } = deps;
  const head = await chain.getHead();
  if (head.number >= tip.number) return false;
  const known = await getWindowHash(db, chain.chainId, head.number);
  // Below the window: the node is far behind, as one that is still syncing.
  return known === null || known === head.hash;
}

async function stepBack(deps: ScannerDeps, tip: BlockRef): Promise<boolean> {
  const { db, chain, clock, log } = deps;
  // As it was when we looked: what was replaced while we were down may be below the final height of now.
  const finalNumber = await getScannedFinal(db, chain.chainId);
  if (finalNumber !== null && tip.number <= finalNumber) {
    throw new OperatingError("REORG", "A final block left the chain: the scanner stands still.", {
      details: { chainId: chain.chainId, block: tip.number.toString() },
    });
  }
  const isLast = (await getNumberBelow(db, chain.chainId, tip.number)) === null;
  if (isLast && tip.number > deps.startBlock) {
    throw new OperatingError(
      "REORG",
      "All that is remembered left the chain: the scanner stands still.",
      {
        details: { chainId: chain.chainId, block: tip.number.toString() },
      },
    );
  }
  const orphaned = await db
    .transaction()
    .execute((tx) => popBlock(tx, chain.chainId, tip, clock.now()));
  log.warn({ block: tip.number, orphaned }, "a block left the chain");
  return true;
}

/** Records what arrived in a block, and returns it. */
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
  // What the escrow gives back belongs to the settlement that locked it: no new deposit.
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
