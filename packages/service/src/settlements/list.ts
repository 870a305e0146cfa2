import {
  categoryOf,
  isTerminal,
  phaseOf,
  type SettlementStatus,
  type Swap,
} from "@sluice/sdk/wire";
import { displayTxHash } from "../core/base58.ts";
import { type Address, toAddress, type TxHash } from "../core/hex.ts";
import { errorOf } from "./store/row.ts";
import { compileOnce, type Places } from "../db/compiled.ts";
import type { Db, Tx } from "../db/schema.ts";

/** Filters of a page; undefined matches every settlement. */
export interface SwapFilter {
  readonly status?: SettlementStatus | undefined;
  readonly wallet?: Address | undefined;
  readonly userId?: string | undefined;
  readonly chainId?: number | undefined;
  readonly token?: Address | undefined;
  /** Hash of the sweep or of the delivery. */
  readonly txHash?: TxHash | undefined;
  /** Created at or after. */
  readonly from?: string | undefined;
  /** Created before. */
  readonly to?: string | undefined;
}

interface PageValues extends SwapFilter {
  readonly integratorId: string;
  readonly rows: number;
  readonly cursor: string | undefined;
}

/** Reads a page and one row more, which shows whether another page follows. */
const readPage = compileOnce((db, page: Places<PageValues>) => {
  const { status, wallet, userId, chainId, token, txHash, cursor, from, to } = page;
  let query = selectSwaps(db)
    .where("settlements.integrator_id", "=", page.integratorId)
    .orderBy("settlements.created_at", "desc")
    .limit(page.rows);
  if (cursor !== undefined) query = query.where("settlements.created_at", "<", cursor);
  if (token !== undefined) query = query.where("settlements.token", "=", token);
  if (txHash !== undefined) {
    query = query.where((eb) =>
      eb.or([
        eb("settlements.swap_tx_hash", "=", txHash),
        eb("settlements.delivery_tx_hash", "=", txHash),
      ]),
    );
  }
  if (from !== undefined) query = query.where("settlements.created_at", ">=", from);
  if (to !== undefined) query = query.where("settlements.created_at", "<", to);
  if (status !== undefined) query = query.where("settlements.status", "=", status);
  if (wallet !== undefined) query = query.where("settlements.wallet", "=", wallet);
  if (userId !== undefined) query = query.where("settlements.user_id", "=", userId);
  if (chainId !== undefined) query = query.where("settlements.chain_id", "=", chainId);
  return query;
});

/** Returns a page of an integrator's settlements, newest first, strictly older than `cursor`. */
export async function listSwaps(
  db: Db,
  integratorId: string,
  page: {
    readonly limit: number;
    readonly cursor?: string | undefined;
    readonly filter?: SwapFilter;
    readonly display: (address: Address) => string;
  },
): Promise<{ items: Swap[]; nextCursor: string | null }> {
  const { limit, cursor, filter } = page;
  const rows = await readPage(db, { ...filter, integratorId, rows: limit + 1, cursor });
  const items = rows.slice(0, limit).map((row) => describeSwap(row, page.display));
  const more = rows.length > limit;
  return { items, nextCursor: more ? (items.at(-1)?.createdAt ?? null) : null };
}

/** Rows per statement of an export. Fewer than of other exports, since the details sort the deposits of each. */
const EXPORT_PAGE = 100;

/** Yields pages of an integrator's settlements of a time range, oldest first. Each page is one statement by an index. */
export async function* iterateSwaps(
  db: Db,
  integratorId: string,
  {
    from,
    to,
    display,
  }: Pick<SwapFilter, "from" | "to"> & { readonly display: (address: Address) => string },
): AsyncGenerator<readonly Swap[], void> {
  let after: string | undefined;
  for (;;) {
    let query = selectSwaps(db)
      .where("settlements.integrator_id", "=", integratorId)
      .orderBy("settlements.created_at")
      .limit(EXPORT_PAGE);
    // The stamps of an integrator's settlements are unique.
    if (after !== undefined) query = query.where("settlements.created_at", ">", after);
    else if (from !== undefined) query = query.where("settlements.created_at", ">=", from);
    if (to !== undefined) query = query.where("settlements.created_at", "<", to);
    const rows = await query.execute();
    if (rows.length > 0) yield rows.map((row) => describeSwap(row, display));
    after = rows.length < EXPORT_PAGE ? undefined : rows.at(-1)?.created_at;
    if (after === undefined) return;
  }
}

/** Returns one settlement of an integrator; null for an unknown id and for another integrator's settlement alike. */
export async function findSwap(
  db: Db | Tx,
  integratorId: string,
  { id, display }: { readonly id: string; readonly display: (address: Address) => string },
): Promise<Swap | null> {
  const row = await selectSwaps(db)
    .where("settlements.integrator_id", "=", integratorId)
    .where("settlements.id", "=", id)
    .executeTakeFirst();
  return row ? describeSwap(row, display) : null;
}

type SwapRow = Awaited<ReturnType<ReturnType<typeof selectSwaps>["execute"]>>[number];

function describeSwap(row: SwapRow, display: (address: Address) => string): Swap {
  const show = (text: string) => display(toAddress(text));
  // CAST: held by the column's check constraint.
  const status = row.status as SettlementStatus;
  return {
    id: row.id,
    status,
    phase: phaseOf(status),
    category: categoryOf(status),
    terminal: isTerminal(status),
    chainId: row.chain_id,
    tokenAddress: show(row.token),
    amount: row.amount,
    swapTxHash: row.swap_tx_hash && displayTxHash(row.swap_tx_hash),
    error: errorOf(row),
    retryCount: row.retry_count,
    walletAddress: show(row.wallet),
    userId: row.user_id,
    destChain: String(row.dest_chain),
    destWallet: show(row.dest_wallet),
    destToken: show(row.dest_token),
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  };
}

function selectSwaps(db: Db | Tx) {
  return db
    .selectFrom("settlements")
    .innerJoin("addresses", "addresses.id", "settlements.address_id")
    .select([
      "settlements.id",
      "settlements.status",
      "settlements.chain_id",
      "settlements.token",
      "settlements.amount",
      "settlements.swap_tx_hash",
      "settlements.error_code",
      "settlements.error_message",
      "settlements.error_retryable",
      "settlements.error_details",
      "settlements.retry_count",
      "settlements.wallet",
      "settlements.created_at",
      "settlements.updated_at",
      "addresses.user_id",
      "addresses.dest_chain",
      "addresses.dest_wallet",
      "addresses.dest_token",
    ]);
}
