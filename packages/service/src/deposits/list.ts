import type {
  Deposit,
  DepositFinalityState,
  IgnoredReason,
  SettlementStatus,
} from "@sluice/sdk/wire";
import { type AliasableExpression, type RawBuilder, sql } from "kysely";
import { displayTxHash } from "../core/base58.ts";
import { type Address, toAddress, type TxHash } from "../core/hex.ts";
import type { Db } from "../db/schema.ts";
import { outcomeOf, TAKEN_BY } from "./outcome.ts";

/** Position of the last deposit of a page; the next page continues after it. */
export interface DepositCursor {
  readonly detectedAt: string;
  readonly id: string;
}

/** Filters of a page; undefined matches every deposit. */
export interface DepositFilter {
  readonly wallet?: Address | undefined;
  readonly chainId?: number | undefined;
  readonly txHash?: TxHash | undefined;
  readonly userId?: string | undefined;
  readonly token?: Address | undefined;
  readonly settlementId?: string | undefined;
  readonly queued?: boolean | undefined;
  /** State of the block. */
  readonly finality?: DepositFinalityState | undefined;
  /** Detected at or after. */
  readonly from?: string | undefined;
  /** Detected before. */
  readonly to?: string | undefined;
}

/** Form of the deposits that are read. */
export interface DepositView {
  readonly display: (address: Address) => string;
  /** The newest scanned and the newest final block of a deposit's chain, as SQL about the row of `deposits`. */
  readonly heights: {
    readonly tip: AliasableExpression<bigint | null>;
    readonly final: AliasableExpression<bigint | null>;
    /** Ids of an integrator's deposits above the final block of their chains, few at any time. */
    readonly unfinal: (integratorId: string) => RawBuilder<string>;
  };
  /** The status of a deposit's settlement, as SQL about the row of `deposits`; null without one. */
  readonly status: AliasableExpression<string | null>;
}

/** Returns a page of an integrator's deposits, newest first, after `cursor`. */
export async function listDeposits(
  db: Db,
  integratorId: string,
  page: DepositView & {
    readonly limit: number;
    readonly cursor: DepositCursor | undefined;
    readonly filter: DepositFilter;
  },
): Promise<{ items: Deposit[]; nextCursor: string | null }> {
  let query = selectDeposits(db, integratorId, page)
    .orderBy("deposits.detected_at", "desc")
    .orderBy("deposits.id", "desc")
    .limit(page.limit + 1);
  const { cursor, filter } = page;
  if (cursor) {
    // Several deposits may share a millisecond: the id orders them.
    query = query.where(
      sql<boolean>`(deposits.detected_at, deposits.id)
        < (${cursor.detectedAt}::timestamptz, ${cursor.id}::uuid)`,
    );
  }
  const { wallet, chainId, txHash, userId, token, settlementId, queued, from, to } = filter;
  if (wallet !== undefined) query = query.where("deposits.wallet", "=", wallet);
  if (chainId !== undefined) query = query.where("deposits.chain_id", "=", chainId);
  if (txHash !== undefined) query = query.where("deposits.tx_hash", "=", txHash);
  if (userId !== undefined) query = query.where("deposits.user_id", "=", userId);
  if (token !== undefined) query = query.where("deposits.token", "=", token);
  if (settlementId !== undefined) query = query.where("deposits.settlement_id", "=", settlementId);
  if (queued !== undefined) query = query.where("deposits.queued", "=", queued);
  const { finality } = filter;
  if (finality !== undefined) {
    query = query.where("deposits.orphaned_at", finality === "orphaned" ? "is not" : "is", null);
  }
  const { final, unfinal } = page.heights;
  if (finality === "final") query = query.where(sql<boolean>`deposits.block_number <= ${final}`);
  if (finality === "confirming") {
    query = query.where("deposits.id", "in", sql<string>`(${unfinal(integratorId)})`);
  }
  if (from !== undefined) query = query.where("deposits.detected_at", ">=", from);
  if (to !== undefined) query = query.where("deposits.detected_at", "<", to);
  const rows = await query.execute();
  const items = rows.slice(0, page.limit).map((row) => describeDeposit(row, page.display));
  const last = rows.length > page.limit ? items.at(-1) : undefined;
  return { items, nextCursor: last ? `${last.detectedAt}_${last.id}` : null };
}

/** Rows per statement of an export. */
const EXPORT_PAGE = 500;

/** Yields pages of an integrator's deposits of a time range, oldest first. Each page is one statement by an index. */
export async function* iterateDeposits(
  db: Db,
  integratorId: string,
  { from, to, ...view }: DepositView & Pick<DepositFilter, "from" | "to">,
): AsyncGenerator<readonly Deposit[], void> {
  let after: DepositCursor | undefined;
  for (;;) {
    let query = selectDeposits(db, integratorId, view)
      .orderBy("deposits.detected_at")
      .orderBy("deposits.id")
      .limit(EXPORT_PAGE);
    if (after) {
      query = query.where(
        sql<boolean>`(deposits.detected_at, deposits.id)
          > (${after.detectedAt}::timestamptz, ${after.id}::uuid)`,
      );
    } else if (from !== undefined) query = query.where("deposits.detected_at", ">=", from);
    if (to !== undefined) query = query.where("deposits.detected_at", "<", to);
    const rows = await query.execute();
    if (rows.length > 0) yield rows.map((row) => describeDeposit(row, view.display));
    after = rows.length < EXPORT_PAGE ? undefined : asCursor(rows.at(-1));
    if (!after) return;
  }
}

function asCursor(row: DepositRow | undefined): DepositCursor | undefined {
  return row && { detectedAt: row.detected_at, id: row.id };
}

/** Returns one deposit of an integrator; null for an unknown id and for another integrator's deposit alike. */
export async function findDeposit(
  db: Db,
  integratorId: string,
  { id, ...view }: DepositView & { readonly id: string },
): Promise<Deposit | null> {
  const row = await selectDeposits(db, integratorId, view)
    .where("deposits.id", "=", id)
    .executeTakeFirst();
  return row ? describeDeposit(row, view.display) : null;
}

function selectDeposits(db: Db, integratorId: string, { heights, status }: DepositView) {
  return db
    .selectFrom("deposits")
    .innerJoin("addresses", "addresses.id", "deposits.address_id")
    .leftJoin("address_notes", "address_notes.address_id", "deposits.address_id")
    .selectAll("deposits")
    .select(["addresses.user_id as owner", "address_notes.label", "address_notes.metadata"])
    .select([heights.tip.as("tip"), heights.final.as("final")])
    .select([status.as("settlement_status"), TAKEN_BY.as("taken_by")])
    .where("deposits.integrator_id", "=", integratorId);
}

type DepositRow = Awaited<ReturnType<ReturnType<typeof selectDeposits>["execute"]>>[number];

function describeDeposit(row: DepositRow, display: DepositView["display"]): Deposit {
  const { tip, final, block_number: block } = row;
  const isOrphaned = row.orphaned_at !== null;
  const isFinal = final !== null && block <= final;
  return {
    id: row.id,
    chainId: row.chain_id,
    walletAddress: display(toAddress(row.wallet)),
    userId: row.owner,
    tokenAddress: display(toAddress(row.token)),
    amount: row.amount,
    txHash: row.tx_hash && displayTxHash(row.tx_hash),
    sender: row.sender === null ? null : display(toAddress(row.sender)),
    blockNumber: Number(block),
    confirmations: isOrphaned ? 0 : confirmationsOf(tip, block),
    finality: isOrphaned ? "orphaned" : isFinal ? "final" : "confirming",
    confirmationsRequired:
      tip === null || final === null || final > tip ? null : Number(tip - final) + 1,
    queued: row.queued,
    // CAST: held by the column's check constraint.
    ignoredReason: row.ignored_reason as IgnoredReason | null,
    outcome: outcomeOf({
      isOrphaned,
      ignoredReason: row.ignored_reason,
      // CAST: held by the column's check constraint.
      status: row.settlement_status as SettlementStatus | null,
      takenBy: row.taken_by,
    }),
    queueItemId: row.settlement_id,
    depositAddressId: row.address_id,
    label: row.label,
    metadata: { ...row.metadata },
    detectedAt: row.detected_at,
  };
}

/** Returns the number of blocks from the deposit's block to the newest scanned one, both included; at least 1. */
function confirmationsOf(tip: bigint | null, blockNumber: bigint): number {
  const blocks = (tip ?? blockNumber) - blockNumber + 1n;
  return blocks < 1n ? 1 : Number(blocks);
}
