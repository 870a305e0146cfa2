/**
 * A search through an account's history, newest first. Anybody can make a history long, one transaction fee per entry,
 * so the requests of one search are limited; the next search resumes where it stopped.
 */
import type { Address } from "../../core/hex.ts";
import { rpcUnavailable } from "../rpc/errors.ts";
import type { HistoryEntry, TransactionAnswer } from "./answers.ts";
import { HISTORY_PAGE, type SolanaNode } from "./node.ts";

/** Most requests of one search. */
export const CALLS_MAX = 60;
/** Unfinished searches kept per node, the newest ones. */
const SEARCHES_KEPT = 200;

export interface Search {
  /** Identifies the search, so that it can be resumed. */
  readonly name: string;
  readonly account: Address;
  readonly minSlot: bigint;
  /** Text that the memo in the history entry must contain; other transactions are not fetched. */
  readonly text: string;
  /** The oldest slot to search. */
  readonly fromSlot?: bigint;
  readonly isHit: (transaction: TransactionAnswer) => boolean;
  /** Returns whether the hits so far, newest first, suffice. */
  readonly isEnough: (hits: readonly TransactionAnswer[]) => boolean;
}

/**
 * Finds successful transactions of an account, newest first, to the end of its history or until `isEnough`. Throws
 * RPC_UNAVAILABLE also when one search cannot finish; calling it again resumes it.
 */
export type SearchHistory = (
  node: SolanaNode,
  search: Search,
) => Promise<readonly TransactionAnswer[]>;

/** A part of a history that is not searched yet, between two of its transactions. */
interface Gap {
  readonly kind: "gap";
  /** Undefined from the newest on. */
  before: string | undefined;
  /** Undefined to the oldest. */
  readonly until: string | undefined;
}

interface Hit {
  readonly kind: "hit";
  readonly transaction: TransactionAnswer;
}

/** The progress of a search. */
interface Progress {
  /** The newest searched transaction. */
  newest: string | undefined;
  /** Hits and unsearched gaps, newest first. */
  pieces: (Gap | Hit)[];
}

/** Creates a search with its own progress memory. */
export function createHistorySearch(): SearchHistory {
  const kept = new WeakMap<SolanaNode, Map<string, Progress>>();

  function progressOf(node: SolanaNode): Map<string, Progress> {
    const searches = kept.get(node) ?? new Map<string, Progress>();
    kept.set(node, searches);
    return searches;
  }

  function keep(node: SolanaNode, name: string, progress: Progress): void {
    const searches = progressOf(node);
    searches.delete(name);
    searches.set(name, progress);
    const [oldest] = searches.keys();
    if (searches.size > SEARCHES_KEPT && oldest !== undefined) searches.delete(oldest);
  }

  return async (node, search) => {
    const { name } = search;
    const known = progressOf(node).get(name);
    const progress: Progress = known
      ? { newest: known.newest, pieces: known.pieces.map((piece) => ({ ...piece })) }
      : { newest: undefined, pieces: [] };
    const isKept = known !== undefined;
    // Transactions since the last search.
    progress.pieces.unshift({ kind: "gap", before: undefined, until: progress.newest });
    const calls = createBudget();
    try {
      const hits = await close(node, search, progress, calls);
      // A search without hits starts over: the node may have had an incomplete history.
      if (isKept && hits.length > 0) keep(node, name, progress);
      else progressOf(node).delete(name);
      return hits;
    } catch (error) {
      if (isKept || calls.isUsedUp()) keep(node, name, progress);
      throw error;
    }
  };
}

type Budget = ReturnType<typeof createBudget>;

function createBudget() {
  let calls = 0;
  return {
    isUsedUp: () => calls >= CALLS_MAX,
    async spend<T>(node: SolanaNode, call: () => Promise<T>): Promise<T> {
      if (calls >= CALLS_MAX)
        throw rpcUnavailable(node.chainId, "history too long, searched in parts");
      calls += 1;
      return call();
    },
  };
}

/** Searches gaps, newest first, until the hits before the next gap suffice. */
async function close(
  node: SolanaNode,
  search: Search,
  progress: Progress,
  budget: Budget,
): Promise<readonly TransactionAnswer[]> {
  for (;;) {
    const { pieces } = progress;
    const at = pieces.findIndex(({ kind }) => kind === "gap");
    const gap = pieces[at];
    const hits = pieces
      .slice(0, at === -1 ? undefined : at)
      .flatMap((piece) => (piece.kind === "hit" ? [piece.transaction] : []));
    if (gap?.kind !== "gap" || search.isEnough(hits)) return hits;
    await searchPage(node, gap, { search, progress, budget });
  }
}

/** Searches one page of a gap. The progress is updated after each entry. */
async function searchPage(
  node: SolanaNode,
  gap: Gap,
  {
    search,
    progress,
    budget,
  }: { readonly search: Search; readonly progress: Progress; readonly budget: Budget },
): Promise<void> {
  const { account, minSlot, fromSlot = 0n } = search;
  const { pieces } = progress;
  const isNewest = gap.before === undefined;
  const { before } = gap;
  const entries = await budget.spend(node, () => node.listHistory(account, { before, minSlot }));
  for (const [index, entry] of entries.entries()) {
    if (entry.signature === gap.until) {
      pieces.splice(pieces.indexOf(gap), 1);
      return;
    }
    if (entry.slot < fromSlot) {
      pieces.splice(pieces.indexOf(gap));
      return;
    }
    const hit = await findHit(node, entry, { search, budget });
    if (hit) pieces.splice(pieces.indexOf(gap), 0, { kind: "hit", transaction: hit });
    gap.before = entry.signature;
    if (isNewest && index === 0) progress.newest = entry.signature;
    if (hit) return;
  }
  if (entries.length < HISTORY_PAGE) pieces.splice(pieces.indexOf(gap), 1);
}

async function findHit(
  node: SolanaNode,
  entry: HistoryEntry,
  { search, budget }: { readonly search: Search; readonly budget: Budget },
): Promise<TransactionAnswer | null> {
  if (!entry.succeeded || !entry.memo?.includes(search.text)) return null;
  const transaction = await budget.spend(node, () =>
    node.getTransaction(entry.signature, "finalized"),
  );
  if (transaction === null)
    throw rpcUnavailable(node.chainId, "a transaction of a history is missing");
  return search.isHit(transaction) ? transaction : null;
}
