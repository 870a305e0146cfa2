/** What happened to an account, read backwards from its history. */
import type { Address } from "../../core/hex.ts";
import { OperatingError } from "../../core/errors.ts";
import type { HistoryEntry, TransactionAnswer } from "./answers.ts";
import { HISTORY_PAGE, type SolanaNode } from "./node.ts";

/** Pages that are looked through: anybody may add to a history, at the price of a transaction each. */
const PAGES_MAX = 50;

/** A transaction of a history. */
export interface Found {
  readonly entry: HistoryEntry;
  readonly transaction: TransactionAnswer;
}

/**
 * Transactions of an account that succeeded and whose memo has a text in it, which nodes keep beside the history; newest
 * first, until `visit` says that it is enough. Throws RPC_UNAVAILABLE when the history is too long to be seen to its end.
 */
export async function searchHistory(
  node: SolanaNode,
  search: {
    readonly account: Address;
    readonly minSlot: bigint;
    readonly text: string;
    /** Nothing older is looked at. */
    readonly fromSlot?: bigint;
    readonly visit: (found: Found) => "go on" | "enough";
  },
): Promise<void> {
  const { account, minSlot, text, fromSlot = 0n, visit } = search;
  let before: string | undefined;
  for (let pages = 0; pages < PAGES_MAX; pages += 1) {
    const entries = await node.listHistory(account, { before, minSlot });
    for (const entry of entries) {
      if (entry.slot < fromSlot) return;
      if (!entry.succeeded || !entry.memo?.includes(text)) continue;
      const transaction = await node.getTransaction(entry.signature, "finalized");
      if (transaction === null) throw unfinished(node, "a transaction of a history is missing");
      if (visit({ entry, transaction }) === "enough") return;
    }
    const last = entries.at(-1);
    if (last === undefined || entries.length < HISTORY_PAGE) return;
    before = last.signature;
  }
  throw unfinished(node, "history too long");
}

function unfinished({ chainId }: SolanaNode, reason: string): OperatingError {
  return new OperatingError("RPC_UNAVAILABLE", "The chain's node did not give a usable answer.", {
    details: { chainId, reason },
  });
}
