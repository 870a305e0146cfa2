/**
 * What arrived in one block. The log of a token is a hint: a contract may state any transfer, keep a part of it, or move
 * nothing at all. What counts is by how much the balance of the wallet rose in the block, read at the hashes of the block
 * and of its parent, for all wallets of ours that a transfer names together.
 *
 * Invariant: the deposits of a wallet and token in a block are never more than that balance rose by, with what was swept
 * or refunded in the same block added to it and what the escrow gave back taken from it.
 *
 * A wallet that is swept may receive in the same transaction what a pool gives for its token, and burn it for a bridge:
 * that only passes through. It is believed last, and not at all where balances cannot be read.
 */
import type { BalancesAtBlock, BlockRef, Outflow, Transfer } from "../chains/port/index.ts";
import { isNative, type TxHash } from "../core/hex.ts";
import type { ArrivedTransfer, ArrivedValue } from "../deposits/index.ts";
import type { ScannerDeps } from "./deps.ts";

/** The transfers of a block by wallet and token, each group in order. */
export function groupByHolding(
  chainId: number,
  block: BlockRef,
  transfers: readonly Transfer[],
): ArrivedValue[] {
  const groups = Map.groupBy(transfers, ({ to, token }) => `${to}:${token}`);
  return [...groups.values()].flatMap((group) => {
    const [first] = group;
    if (!first) return [];
    return [
      {
        chainId,
        wallet: first.to,
        token: first.token,
        blockNumber: block.number,
        blockHash: block.hash,
        transfers: group,
      },
    ];
  });
}

/** What of the arrivals is true. A transaction's own value in the native coin is no statement of anybody's. */
export async function verifyArrivals(
  deps: ScannerDeps,
  block: BlockRef,
  arrivals: readonly ArrivedValue[],
): Promise<ArrivedValue[]> {
  const stated = arrivals.filter(({ token }) => !isNative(token));
  const { balances } = deps.chain;
  // Without balances at a block, its transactions state balances before and after, which are the truth themselves.
  if (stated.length === 0 || balances.kind === "final") return [...arrivals];
  const { rises, outflows } = await readRises(deps, balances, block, stated);
  const verified = stated.flatMap((arrived, index) => {
    const { wallet, token } = arrived;
    const isPassing = ({ txHash }: ArrivedTransfer) => isExchange(outflows, arrived, txHash);
    const own = arrived.transfers.filter((transfer) => !isPassing(transfer));
    const risen = rises[index];
    if (risen === undefined) return own.length > 0 ? [{ ...arrived, transfers: own }] : [];
    const fitting = fitTransfers(own, risen ?? 0n);
    if (fitting !== own) {
      const facts = { wallet, token, block: block.number, stated: sumOf(own), risen };
      deps.log.warn(facts, "a token states more than the wallet's balance rose by");
    }
    const passing = arrived.transfers.filter(isPassing);
    const stayed = fitTransfers(passing, (risen ?? 0n) - sumOf(fitting));
    const transfers = [...fitting, ...stayed].toSorted((a, b) => a.logIndex - b.logIndex);
    return transfers.length > 0 ? [{ ...arrived, transfers }] : [];
  });
  return [...verified, ...arrivals.filter(({ token }) => isNative(token))];
}

/**
 * By how much each balance rose in the block; null where the token's contract did not state both. Empty where the node no longer
 * has the state of the block or of its parent, as after a long standstill: then the logs are all there is, and a balance
 * is looked at before anything moves. And what left wallets in the block.
 */
async function readRises(
  deps: ScannerDeps,
  balances: BalancesAtBlock,
  block: BlockRef,
  stated: readonly ArrivedValue[],
): Promise<{
  readonly rises: readonly (bigint | null)[];
  readonly outflows: readonly Outflow[];
}> {
  const { chain, log } = deps;
  const after = await balances.listTokenBalances(block.hash, stated);
  const before = after && (await balances.listTokenBalances(block.parentHash, stated));
  const outflows = await chain.listOutflows(block);
  if (!before) {
    log.warn(
      { block: block.number },
      "the node no longer has this block's state: logs are believed",
    );
    return { rises: [], outflows };
  }
  const rises = stated.map((arrived, index) => {
    const [then, now] = [before[index] ?? null, after[index] ?? null];
    return then === null || now === null
      ? null
      : now - then + sumOf(outflows.filter((one) => isOf(one, arrived)));
  });
  return { rises, outflows };
}

/** Whether a transaction swept another token of the wallet, for which a pool may have given this one. */
function isExchange(
  outflows: readonly Outflow[],
  { wallet, token }: ArrivedValue,
  txHash: TxHash | null,
): boolean {
  return outflows.some(
    (one) =>
      one.kind === "swept" && one.txHash === txHash && one.wallet === wallet && one.token !== token,
  );
}

function isOf(outflow: Outflow, { wallet, token }: ArrivedValue): boolean {
  return outflow.wallet === wallet && outflow.token === token;
}

/** The transfers as they are when they fit; else each with its share of what did arrive, to the unit. */
export function fitTransfers(
  transfers: readonly ArrivedTransfer[],
  risen: bigint,
): readonly ArrivedTransfer[] {
  const stated = sumOf(transfers);
  if (stated <= risen) return transfers;
  if (risen <= 0n) return [];
  let sum = 0n;
  return transfers.flatMap((transfer) => {
    const shared = (sum * risen) / stated;
    sum += transfer.amount;
    const amount = (sum * risen) / stated - shared;
    return amount > 0n ? [{ ...transfer, amount }] : [];
  });
}

function sumOf(amounts: readonly { readonly amount: bigint }[]): bigint {
  return amounts.reduce((sum, { amount }) => sum + amount, 0n);
}
