/**
 * The part of a vault's balance that stood for a time. Solana serves no state of the past, so it is computed backwards from
 * the histories of the vault's accounts.
 */
import { type Address, NATIVE_SOL } from "../../core/hex.ts";
import type { Stood } from "../port/index.ts";
import { rpcUnavailable } from "../rpc/errors.ts";
import type { HistoryEntry, TransactionAnswer } from "./answers.ts";
import { gainOf } from "./effects.ts";
import { HISTORY_PAGE, type SolanaNode } from "./node.ts";

/** Most transactions that are read; anybody can make a history longer, at one fee per transaction. */
export const TRANSACTIONS_MAX = 40;

/**
 * Returns the final balance less all arrivals since a time, as one node reports it; a reason if there is none. Arrivals
 * after the read balance lower the result, which is the safe direction.
 */
export async function readStood(
  node: SolanaNode,
  minSlot: bigint,
  { token, wallet, sinceS }: Stood,
): Promise<bigint | "too_recent" | "moved_since" | "history_too_long"> {
  const { amount, slot, accounts } = await readHeld(node, minSlot, { token, wallet });
  let stood = amount;
  let read = 0;
  const seen = new Set<string>();
  for (const account of accounts) {
    const entries = await node.listHistory(account, { minSlot: slot });
    let isOver = entries.length < HISTORY_PAGE;
    for (const entry of entries) {
      if (!entry.succeeded || seen.has(entry.signature)) continue;
      if (read === TRANSACTIONS_MAX) return "history_too_long";
      read += 1;
      const { time, ...changes } = await readTransaction(node, entry);
      if (time < sinceS) {
        isOver = true;
        break;
      }
      seen.add(entry.signature);
      const gain = gainOf(changes, wallet, token);
      if (gain < 0n) return "moved_since";
      stood -= gain;
    }
    if (!isOver) return "history_too_long";
  }
  return stood > 0n ? stood : "too_recent";
}

/** Reads the balance, its slot, and the accounts whose histories show every change of it. */
async function readHeld(
  node: SolanaNode,
  minSlot: bigint,
  { token, wallet }: Pick<Stood, "token" | "wallet">,
): Promise<{
  readonly amount: bigint;
  readonly slot: bigint;
  readonly accounts: readonly Address[];
}> {
  if (token === NATIVE_SOL) {
    const { slot, accounts } = await node.readAccounts([wallet], minSlot);
    return { amount: accounts[0]?.lamports ?? 0n, slot, accounts: [wallet] };
  }
  const { slot, accounts } = await node.readTokenAccounts(wallet, token, minSlot);
  const own = accounts.filter(({ isShared }) => !isShared);
  return {
    amount: own.reduce((sum, one) => sum + one.amount, 0n),
    slot,
    // Every order that takes from the vault has its signature.
    accounts: [wallet, ...accounts.map(({ account }) => account)],
  };
}

async function readTransaction(
  node: SolanaNode,
  { signature }: HistoryEntry,
): Promise<TransactionAnswer & { readonly time: bigint }> {
  const found = await node.getTransaction(signature, "finalized");
  if (found === null) throw rpcUnavailable(node.chainId, "a transaction of a history is missing");
  if (found.time === null)
    throw rpcUnavailable(node.chainId, "the time of a transaction is missing");
  return { ...found, time: found.time };
}
