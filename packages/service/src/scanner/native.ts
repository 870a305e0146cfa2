/**
 * Deposits of native coin, which emits no logs. Values of transactions are read from their blocks. Every other payment (by a
 * contract call, a constructor, a destroyed contract, a block reward) is found by comparing the wallet's balance at a final
 * block with its deposits and outflows; with traces, already at the block itself.
 *
 * Each poll compares all fresh wallets (addresses/fresh.ts) and some of all wallets, in rounds (rounds.ts): at the default
 * interval, a payment is found within a minute in a fresh wallet and within an hour in any of a million. One request reads
 * many balances, so the costs of a poll are bounded (docs/nodes.md).
 */
import { expireFresh, keepFresh, listByWallets } from "../addresses/index.ts";
import type { BalancesAtBlock, BlockRef } from "../chains/port/index.ts";
import { type Address, isNative, NATIVE_TOKEN } from "../core/hex.ts";
import { listExplained } from "../deposits/index.ts";
import { acceptBalance } from "../settlements/index.ts";
import type { ScannerDeps } from "./deps.ts";
import { type Round, takeTurn, type Turn } from "./rounds.ts";
import { assertScanned, getScannedAt, getTip, putPositions } from "./store.ts";

/** Wallets compared together: as many as the nodes read in one request. */
const WALLETS_AT_ONCE = 2_000;
/** Most fresh wallets per poll: ten requests. */
const FRESH_MAX = 20_000;
/** Most other wallets per poll: a million in less than an hour at the default interval. */
const ROUND_MAX = 14_000;
/** Less than an hour by more than the interval between two polls and the time of a poll. */
const ROUND_MS = 57 * 60_000;

/**
 * Compares the balances of wallets that the traces of the newest scanned block name. Errors are only logged: the same
 * deposits are found at the final block, so traces never block the scanner.
 */
export async function followTraces(deps: ScannerDeps, block: BlockRef): Promise<void> {
  const { balances } = deps.chain;
  if (!deps.traces || !isListed(deps) || balances.kind === "final") return;
  try {
    const payees = await balances.listTracedPayees(block);
    if (!payees) return;
    const wallets = [...(await listByWallets(deps.db, payees)).keys()];
    await compareAt(deps, { block, balances }, wallets);
  } catch (error) {
    deps.log.warn({ err: error, block: block.number }, "block traces failed, waiting for finality");
  }
}

/** Compares balances at the newest scanned block that is final. Returns false: the next poll waits for its interval. */
export async function pollBalances(deps: ScannerDeps): Promise<boolean> {
  const { db, chain, clock } = deps;
  const { balances, chainId } = chain;
  if (balances.kind === "final") return false;
  await expireFresh(db, chainId);
  if (!isListed(deps)) return false;
  const nowMs = clock.now();
  const rounds = listRounds(deps);
  const turns: Turn[] = [];
  for (const round of rounds) turns.push(await takeTurn(db, { chainId, round, nowMs }));
  const wallets = [...new Set(turns.flatMap((turn) => turn.wallets))];
  // Without wallets nothing is requested.
  const block = wallets.length === 0 ? null : await getFinalScanned(deps);
  if (!block) return false;
  for (let from = 0; from < wallets.length; from += WALLETS_AT_ONCE) {
    await compareAt(deps, { block, balances }, wallets.slice(from, from + WALLETS_AT_ONCE));
  }
  for (const [index, { list }] of rounds.entries()) {
    const { positions = [], late = [] } = turns[index] ?? {};
    await putPositions(db, chainId, list.name, positions);
    if (late.length > 0) {
      deps.log.warn({ list: list.name, integrators: late }, "balance comparison is late");
    }
  }
  return false;
}

function listRounds({ chain: { chainId, kind } }: ScannerDeps): Round[] {
  return [
    { list: { name: "fresh", chainId }, periodMs: 0, walletsMax: FRESH_MAX },
    { list: { name: "all", family: kind }, periodMs: ROUND_MS, walletsMax: ROUND_MAX },
  ];
}

/**
 * Returns the newest scanned block that is final, or null. Its balances are read by hash, so if it is orphaned nevertheless,
 * and the scanner has not noticed yet, the nodes refuse the request.
 */
async function getFinalScanned({ db, chain }: ScannerDeps): Promise<BlockRef | null> {
  if (!(await getTip(db, chain.chainId))) return null;
  const final = await chain.getFinalBlock();
  const scanned = await getScannedAt(db, chain.chainId, final.number);
  const isOther = scanned?.number === final.number && (final.hash ?? scanned.hash) !== scanned.hash;
  return isOther ? null : scanned;
}

/** Records balances above the known deposits as deposits, if every block up to this one is scanned. */
async function compareAt(
  deps: ScannerDeps,
  { block, balances }: { readonly block: BlockRef; readonly balances: BalancesAtBlock },
  wallets: readonly Address[],
): Promise<void> {
  if (wallets.length === 0) return;
  const { db, chain } = deps;
  const amounts = await balances.listNativeBalances(block, wallets);
  const held = wallets.map((wallet, index) => ({ wallet, balance: amounts[index] ?? 0n }));
  const at = { chainId: chain.chainId, token: NATIVE_TOKEN };
  // Of empty wallets too: a sweep may have taken a payment before it was found, and then left less than nothing explained.
  const explained = await listExplained(db, { ...at, block: block.number, wallets });
  const knownOf = (wallet: Address) => explained.get(wallet) ?? 0n;
  const risen = held.filter(({ wallet, balance }) => balance > knownOf(wallet));
  const confirmed = await confirmBalances(
    balances,
    block,
    risen.map(({ wallet }) => wallet),
  );
  const believed = held.map(({ wallet, balance }) => ({
    wallet,
    balance: confirmed.get(wallet) ?? balance,
  }));
  for (const { wallet, balance } of believed) {
    const known = knownOf(wallet);
    if (balance >= known) continue;
    deps.log.error(
      { wallet, block: block.number, balance, known },
      "native balance below recorded deposits minus outflows",
    );
  }
  const paid = believed.filter(({ wallet, balance }) => balance > knownOf(wallet));
  await recordPaid(deps, block, paid);
}

async function recordPaid(
  deps: ScannerDeps,
  block: BlockRef,
  paid: readonly { readonly wallet: Address; readonly balance: bigint }[],
): Promise<void> {
  const { db, settlements } = deps;
  const { chainId } = deps.chain;
  const addresses = await listByWallets(
    db,
    paid.map(({ wallet }) => wallet),
  );
  for (const { wallet, balance } of paid) {
    const address = addresses.get(wallet);
    if (!address) continue;
    try {
      const found = { chainId, token: NATIVE_TOKEN, wallet, block, balance };
      await acceptBalance(settlements, found, address, (tx) => assertScanned(tx, chainId, block));
    } catch (error) {
      // Does not block the other wallets. A fresh wallet is compared again in the next poll.
      deps.log.warn({ err: error, wallet }, "balance not recorded, retrying in the next poll");
      await keepFresh(db, chainId, address, "quoted");
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
