/**
 * What arrived in one block. The log of a token is a hint: a contract may state any transfer, keep a part of it, or move
 * nothing at all. What counts is by how much the balance of the wallet rose in the block, read at the hashes of the block
 * and of its parent, for all wallets of ours that a transfer names together.
 *
 * Invariant: the deposits of a wallet and token in a block are never more than that balance rose by, with what was swept
 * or refunded in the same block added to it and what the escrow gave back taken from it.
 */
import type { BlockRef, Outflow, Transfer } from "../chains/port.ts";
import { isNative } from "../core/hex.ts";
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
  if (stated.length === 0) return [...arrivals];
  const rises = await readRises(deps, block, stated);
  const verified = stated.flatMap((arrived, index) => {
    const risen = rises[index];
    if (risen === undefined) return [arrived];
    const transfers = fitTransfers(arrived.transfers, risen ?? 0n);
    if (transfers !== arrived.transfers) {
      const { wallet, token } = arrived;
      const facts = { wallet, token, block: block.number, stated: sumOf(arrived.transfers), risen };
      deps.log.warn(facts, "a token states more than the wallet's balance rose by");
    }
    return transfers.length > 0 ? [{ ...arrived, transfers }] : [];
  });
  return [...verified, ...arrivals.filter(({ token }) => isNative(token))];
}

/**
 * By how much each balance rose in the block; null where the token's contract did not state both. Empty where the node no longer
 * has the state of the block or of its parent, as after a long standstill: then the logs are all there is, and a balance
 * is looked at before anything moves.
 */
async function readRises(
  deps: ScannerDeps,
  block: BlockRef,
  stated: readonly ArrivedValue[],
): Promise<(bigint | null)[]> {
  const { chain, log } = deps;
  const after = await chain.listTokenBalances(block.hash, stated);
  const before = after && (await chain.listTokenBalances(block.parentHash, stated));
  if (!before) {
    log.warn(
      { block: block.number },
      "the node no longer has this block's state: logs are believed",
    );
    return [];
  }
  const outflows = await chain.listOutflows(block);
  return stated.map((arrived, index) => {
    const [then, now] = [before[index] ?? null, after[index] ?? null];
    return then === null || now === null
      ? null
      : now - then + sumOf(outflows.filter((one) => isOf(one, arrived)));
  });
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
