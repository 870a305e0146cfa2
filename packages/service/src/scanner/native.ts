/**
 * Deposits of native coin, which emits no logs. Values of transactions are read from their blocks. Every other payment (by a
 * contract call, a constructor, a destroyed contract, a block reward) is found by comparing the wallet's balance at a final
 * block with its deposits and outflows; with traces, already at the block itself.
 *
 * One poll compares wallets with recent deposits, the newest wallets, and the next wallets of a round over all of them, so
 * its cost is bounded and no wallet is left out.
 */
import { listByWallets, listNewestWallets, listWalletsAfter } from "../addresses/index.ts";
import type { BalancesAtBlock, BlockRef } from "../chains/port/index.ts";
import { type Address, isNative, NATIVE_TOKEN } from "../core/hex.ts";
import { listExplained, listRecentWallets } from "../deposits/index.ts";
import { acceptBalance } from "../settlements/index.ts";
import type { ScannerDeps } from "./deps.ts";
import { assertScanned, getRound, getTip, getWindowHash, putRound } from "./store.ts";

/** Wallets per poll, of each of the three kinds. */
const WALLETS_AT_ONCE = 500;
/** Blocks in which a deposit counts as recent. */
const RECENT_BLOCKS = 5_000n;

/**
 * Compares the balances of wallets that the traces of the newest scanned block name. Errors are only logged: the same
 * deposits are found at the final block, so traces never block the scanner.
 */
export async function followTraces(deps: ScannerDeps, block: BlockRef): Promise<void> {
  const { balances } = deps.chain;
  if (!deps.traces || !isListed(deps) || balances.kind === "final") return;
  try {
    const payees = await balances.listTracedPayees(block);
    if (payees) await compareAt(deps, { block, balances }, payees);
  } catch (error) {
    deps.log.warn({ err: error, block: block.number }, "block traces failed, waiting for finality");
  }
}

/** Compares balances at the newest scanned block that is final. Returns false: the next poll waits for its interval. */
export async function pollBalances(deps: ScannerDeps): Promise<boolean> {
  const { db, chain } = deps;
  const tip = await getTip(db, chain.chainId);
  const { balances } = chain;
  if (!isListed(deps) || !tip || balances.kind === "final") return false;
  const finalNumber = await chain.getFinalNumber();
  const block = await chain.getBlock(finalNumber < tip.number ? finalNumber : tip.number);
  if (!block || block.number < deps.startBlock) return false;
  const scanned = await getWindowHash(db, chain.chainId, block.number);
  // Below the window every block is final, so it is the scanned one.
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

/** Records balances above the known deposits as deposits, if every block up to this one is scanned. */
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
  const knownOf = (wallet: Address) => explained.get(wallet) ?? 0n;
  const risen = wallets.filter((wallet, index) => (held[index] ?? 0n) > knownOf(wallet));
  const confirmed = await confirmBalances(balances, block, risen);
  for (const [index, wallet] of wallets.entries()) {
    const balance = confirmed.get(wallet) ?? held[index] ?? 0n;
    const known = knownOf(wallet);
    const address = ours.get(wallet);
    if (balance > known && address) {
      try {
        const found = { ...at, wallet, block, balance };
        await acceptBalance(settlements, found, address, (tx) =>
          assertScanned(tx, chain.chainId, block),
        );
      } catch (error) {
        // Does not block the other wallets; the next round retries this one.
        deps.log.warn({ err: error, wallet }, "balance not recorded, retrying in the next round");
      }
    } else if (balance < known) {
      deps.log.error(
        { wallet, block: block.number, balance, known },
        "native balance below recorded deposits minus outflows",
      );
    }
  }
}

/** Returns balances from more nodes where the listed ones are one node's word, which could invent a deposit. */
async function confirmBalances(
  { confirmNativeBalances }: BalancesAtBlock,
  block: BlockRef,
  wallets: readonly Address[],
): Promise<ReadonlyMap<Address, bigint>> {
  if (!confirmNativeBalances || wallets.length === 0) return new Map();
  const balances = await confirmNativeBalances(block, wallets);
  return new Map(wallets.map((wallet, index) => [wallet, balances[index] ?? 0n]));
}

function isListed({ tokens }: ScannerDeps): boolean {
  return tokens.some(isNative);
}
