/**
 * Verifies the transfers of one block against balances. A token's log is a hint: the contract may log any transfer, keep a
 * part of it, or move nothing. The credited amount is the rise of the wallet's balance, read at the hashes of the block and
 * its parent, in one request each for all wallets.
 *
 * Invariant: the deposits of a wallet and token in a block never exceed the rise of that balance, plus sweeps and refunds in
 * the same block, minus locks that the escrow returned.
 *
 * A sweep may receive the output of a pool swap in the wallet and burn it for a bridge in the same transaction. Such a
 * transfer only passes through: it is credited last, and not at all where balances cannot be read.
 */
import type { BalancesAtBlock, BlockRef, Outflow, Transfer } from "../chains/port/index.ts";
import { isNative, type TxHash } from "../core/hex.ts";
import type { ArrivedTransfer, ArrivedValue } from "../deposits/index.ts";
import type { ScannerDeps } from "./deps.ts";

/** Groups the transfers of a block by wallet and token, in log order. */
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

/**
 * Returns the arrivals with amounts that the balances confirm. Native coin needs no check: the value of a successful
 * transaction is a fact of the chain.
 */
export async function verifyArrivals(
  deps: ScannerDeps,
  block: BlockRef,
  {
    arrivals,
    outflows,
  }: {
    readonly arrivals: readonly ArrivedValue[];
    /** The outflows of the block. */
    readonly outflows: readonly Outflow[];
  },
): Promise<ArrivedValue[]> {
  const stated = arrivals.filter(({ token }) => !isNative(token));
  const { balances } = deps.chain;
  // Chains without balances at a block (Solana) compute transfers from balances before and after each transaction.
  if (stated.length === 0 || balances.kind === "final") return [...arrivals];
  const rises = await readRises(deps, balances, { block, stated, outflows });
  const verified = stated.flatMap((arrived, index) => {
    const { wallet, token } = arrived;
    const passesThrough = ({ txHash }: ArrivedTransfer) => isSwapOutput(outflows, arrived, txHash);
    const own = arrived.transfers.filter((transfer) => !passesThrough(transfer));
    const risen = rises[index];
    if (risen === undefined) return own.length > 0 ? [{ ...arrived, transfers: own }] : [];
    const fitting = fitTransfers(own, risen ?? 0n);
    if (fitting !== own) {
      const facts = { wallet, token, block: block.number, stated: sumOf(own), risen };
      deps.log.warn(facts, "token log exceeds the rise of the balance");
    }
    const passed = arrived.transfers.filter(passesThrough);
    const stayed = fitTransfers(passed, (risen ?? 0n) - sumOf(fitting));
    const transfers = [...fitting, ...stayed].toSorted((a, b) => a.logIndex - b.logIndex);
    return transfers.length > 0 ? [{ ...arrived, transfers }] : [];
  });
  return [...verified, ...arrivals.filter(({ token }) => isNative(token))];
}

/**
 * Returns the rise of each balance in the block, in base units: null if the token's `balanceOf` fails. Returns an empty list
 * if the node has pruned the state of the block or its parent, as after a long outage: then the logs are credited, and the
 * live balance is checked before anything is swept.
 */
async function readRises(
  { log }: ScannerDeps,
  balances: BalancesAtBlock,
  {
    block,
    stated,
    outflows,
  }: {
    readonly block: BlockRef;
    readonly stated: readonly ArrivedValue[];
    readonly outflows: readonly Outflow[];
  },
): Promise<readonly (bigint | null)[]> {
  const [after, before] = await Promise.all([
    balances.listTokenBalances(block.hash, stated),
    balances.listTokenBalances(block.parentHash, stated),
  ]);
  if (!before || !after) {
    log.warn({ block: block.number }, "node has pruned the block's state, crediting token logs");
    return [];
  }
  return stated.map((arrived, index) => {
    const [then, now] = [before[index] ?? null, after[index] ?? null];
    return then === null || now === null
      ? null
      : now - then + sumOf(outflows.filter((one) => isOf(one, arrived)));
  });
}

/** Reports whether a transaction swept another token of the wallet, so that a transfer may be the output of a pool swap. */
function isSwapOutput(
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

/**
 * Returns the transfers if their sum does not exceed the rise; otherwise scales them so that their sum is exactly the rise,
 * and drops those of zero.
 */
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
