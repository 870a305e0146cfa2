/**
 * Reads the logs of blocks a second time once the blocks are final, by ranges of heights. A new block is read when a server
 * behind a node's URL may still lack its logs, and answers with none; the bloom filter of the header cannot prove that,
 * because strangers can fill it. Missed logs are recorded late. Blocks that were final when they were scanned are not
 * read again, unless an operator orders it.
 */
import { listByWallets } from "../addresses/index.ts";
import type { BlockRef, Outflow, ScannedBlock } from "../chains/port/index.ts";
import { isNative } from "../core/hex.ts";
import {
  type ArrivedValue,
  insertOutflows,
  type OpenValue,
  splitRecorded,
} from "../deposits/index.ts";
import {
  acceptArrivals,
  announceRefunds,
  correctFound,
  reopenParts,
  restateDeposits,
} from "../settlements/index.ts";
import {
  fitTransfers,
  isOf,
  listStated,
  sumOf,
  verifyArrivals,
  withAddresses,
} from "./arrivals.ts";
import type { ScannerDeps } from "./deps.ts";
import { findReread, findSkip, putReread } from "./orders.ts";
import { assertScanned, getFinality, putLookedAgain } from "./store.ts";

/** Most heights of one reading. */
const BLOCKS_MAX = 2_000n;

/** Reads the next range of final blocks again: of an operator's order first. Returns true if there are more. */
export async function lookAgain(deps: ScannerDeps): Promise<boolean> {
  const { db, chain } = deps;
  const { chainId } = chain;
  // On Solana a block is read whole, or not at all.
  if (chain.balances.kind === "final") return false;
  const finality = await getFinality(db, chainId);
  if (!finality) return false;
  const { final, lookedAgain } = finality;
  const order = await findReread(db, chainId);
  if (order && order.next <= final) {
    const last = order.through < final ? order.through : final;
    const through = await readAgain(deps, { from: order.next, through: last });
    if (through !== null) await putReread(db, order, through);
    return through !== null;
  }
  const after = lookedAgain ?? finality.window - 1n;
  if (after >= final) return false;
  const skip = await findSkip(db, chainId, { after, through: final });
  // Its deposits are left to an order to read it again.
  const through =
    skip === after + 1n
      ? skip
      : await readAgain(deps, { from: after + 1n, through: skip === null ? final : skip - 1n });
  if (through === null) return false;
  await putLookedAgain(db, chainId, { from: lookedAgain, through });
  return through < final;
}

/** Reads the first blocks of a range again, records missed logs, and returns the last block that was read. */
async function readAgain(
  deps: ScannerDeps,
  range: { readonly from: bigint; readonly through: bigint },
): Promise<bigint | null> {
  const { db, chain, tokens } = deps;
  const most = range.through - range.from + 1n;
  const max = most < BLOCKS_MAX ? most : BLOCKS_MAX;
  const section = await chain.readSection({
    after: range.from - 1n,
    max: Number(max),
    isFinal: true,
    isOld: true,
    // Payments of native coin that were left out are found by the balances.
    tokens: tokens.filter((token) => !isNative(token)),
    choose: async (accounts) => new Set((await listByWallets(db, accounts)).keys()),
  });
  const last = section?.blocks.at(-1);
  if (!section || !last) return null;
  for (const block of section.blocks) await recordLeftOut(deps, block);
  // Not the last height that was asked for: beyond the last block nothing is known.
  return last.number;
}

async function recordLeftOut(deps: ScannerDeps, block: ScannedBlock): Promise<void> {
  const { db, chain, clock, settlements, log } = deps;
  const { chainId } = chain;
  const { outflows } = block;
  const ref: BlockRef = { number: block.number, hash: block.hash, parentHash: block.parentHash };
  const { ours, arrivals } = await listStated(deps, block);
  await db.transaction().execute(async (tx) => {
    await assertScanned(tx, chainId, ref);
    const added = await insertOutflows(tx, chainId, ref, outflows);
    if (added.length > 0) {
      const { recorded } = await splitRecorded(tx, block, arrivals);
      await restateDeposits(tx, listRestated(recorded, added));
    }
    for (const { wallet, token } of added) {
      const since = { block: block.number, nowMs: clock.now() };
      await reopenParts(tx, { chainId, wallet, token }, since);
    }
    await correctFound(tx, deps, { chainId, ...ref }, added);
    await announceRefunds(tx, settlements, chainId, { ...ref, isFinal: true }, added);
  });
  const { open } = await splitRecorded(db, block, arrivals);
  if (open.length === 0) return;
  const leftOut = await verifyArrivals(deps, block, {
    arrivals: open,
    outflows,
    // Such a transfer may as well be one that the first look refused, because no balance rose.
    withoutState: "refuse",
  });
  for (const { wallet, token } of leftOut) {
    log.error({ block: block.number, wallet, token }, "a node left out a deposit, recording it");
  }
  await acceptArrivals(settlements, withAddresses(leftOut, ours), (tx) =>
    assertScanned(tx, chainId, ref),
  );
}

/**
 * Lists the deposits of a block that were credited with less than their logs state, with the amounts that the outflows which are
 * recorded only now explain. What was credited was the rise of the balance, without these.
 */
function listRestated(
  recorded: readonly OpenValue[],
  added: readonly Outflow[],
): readonly ArrivedValue[] {
  return recorded.flatMap(({ recordedAmount, ...arrived }) => {
    const left = sumOf(added.filter((outflow) => isOf(outflow, arrived)));
    if (left <= 0n || recordedAmount >= sumOf(arrived.transfers)) return [];
    return [{ ...arrived, transfers: fitTransfers(arrived.transfers, recordedAmount + left) }];
  });
}
