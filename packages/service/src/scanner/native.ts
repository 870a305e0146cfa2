/**
 * The native coin, which leaves no logs. What transactions pay themselves is in their blocks. Whatever else reaches a
 * wallet (a contract's payment, an endowment, a destroyed contract's rest, a block's reward) is found by comparing its
 * balance at a final block with what is known of it; where the node has traces, already at the block itself.
 *
 * One look compares the wallets in which something happened lately, the newest, and the next of a round over all, so
 * its cost has a bound and no wallet is left out.
 */
import { listByWallets, listNewestWallets, listWalletsAfter } from "../addresses/index.ts";
import type { BalancesAtBlock, BlockRef, Transfer } from "../chains/port/index.ts";
import { type Address, isNative, NATIVE_TOKEN } from "../core/hex.ts";
import { listExplained, listRecentWallets } from "../deposits/index.ts";
import { acceptBalance } from "../settlements/index.ts";
import type { ScannerDeps } from "./deps.ts";
import { assertScanned, getRound, getTip, getWindowHash, putRound } from "./store.ts";

/** Wallets of one look, of each of the three kinds. */
const WALLETS_AT_ONCE = 500;
/** How far back "lately" goes. */
const RECENT_BLOCKS = 5_000n;

/** What the block's transactions paid to wallets of ours, where the native coin is listed. */
export async function listNativeTransfers(deps: ScannerDeps, block: BlockRef): Promise<Transfer[]> {
  if (!isListed(deps)) return [];
  return deps.chain.listNativeTransfers(
    block,
    async (payees) => new Set((await listByWallets(deps.db, payees)).keys()),
  );
}

/**
 * Compares the balances of wallets that contracts may have paid in the newest scanned block. What fails here is found
 * at the final block, so it does not hold up the scanner.
 */
export async function followTraces(deps: ScannerDeps, block: BlockRef): Promise<void> {
  const { balances } = deps.chain;
  if (!deps.traces || !isListed(deps) || balances.kind === "final") return;
  try {
    const payees = await balances.listTracedPayees(block);
    if (payees) await compareAt(deps, { block, balances }, payees);
  } catch (error) {
    deps.log.warn({ err: error, block: block.number }, "the traces of a block could not be used");
  }
}

/** Compares balances at the newest final block that is scanned. Returns false: the next look comes with its time. */
export async function pollBalances(deps: ScannerDeps): Promise<boolean> {
  const { db, chain } = deps;
  const tip = await getTip(db, chain.chainId);
  const { balances } = chain;
  if (!isListed(deps) || !tip || balances.kind === "final") return false;
  const finalNumber = await chain.getFinalNumber();
  const block = await chain.getBlock(finalNumber < tip.number ? finalNumber : tip.number);
  if (!block || block.number < deps.startBlock) return false;
  const scanned = await getWindowHash(db, chain.chainId, block.number);
  // Older than the window: it is final, so it is the one that was scanned.
  if (scanned !== null && scanned !== block.hash) return false;

  const [newest, recent, round] = [
    await listNewestWallets(db, { family: chain.kind, limit: WALLETS_AT_ONCE }),
    await listRecentWallets(db, {
      chainId: chain.chainId,
      fromBlock: block.number - RECENT_BLOCKS,
      limit: WALLETS_AT_ONCE,
    }),
    await listWalletsAfter(db, {
      family: chain.kind,
      after: await getRound(db, chain.chainId),
      limit: WALLETS_AT_ONCE,
    }),
  ];
  await compareAt(deps, { block, balances }, [...newest, ...recent, ...round]);
  const isLast = round.length < WALLETS_AT_ONCE;
  await putRound(db, chain.chainId, isLast ? null : (round.at(-1) ?? null));
  return false;
}

/** Records what wallets of ours hold beyond what is known, provided that everything up to the block is recorded. */
async function compareAt(
  deps: ScannerDeps,
  { block, balances }: { readonly block: BlockRef; readonly balances: BalancesAtBlock },
  accounts: readonly Address[],
): Promise<void> {
  const { db, chain, settlements } = deps;
  const ours = await listByWallets(db, accounts);
  const wallets = [...ours.keys()];
  if (wallets.length === 0) return;
  const held = await balances.listNativeBalances(block, wallets);
  const at = { chainId: chain.chainId, token: NATIVE_TOKEN };
  const explained = await listExplained(db, { ...at, block: block.number, wallets });
  for (const [index, wallet] of wallets.entries()) {
    const balance = held[index] ?? 0n;
    const known = explained.get(wallet) ?? 0n;
    const address = ours.get(wallet);
    if (balance > known && address) {
      try {
        const found = { ...at, wallet, block, balance };
        await acceptBalance(settlements, found, address, (tx) =>
          assertScanned(tx, chain.chainId, block),
        );
      } catch (error) {
        // The others are not held up: this one's turn comes again.
        deps.log.warn({ err: error, wallet }, "what a wallet holds could not be recorded");
      }
    } else if (balance < known) {
      deps.log.error(
        { wallet, block: block.number, balance, known },
        "a wallet holds less native coin than its deposits and sweeps explain",
      );
    }
  }
}

function isListed({ tokens }: ScannerDeps): boolean {
  return tokens.some(isNative);
}
