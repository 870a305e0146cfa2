/**
 * Payouts before finality, as the settler counts them. Invariant: the payouts of a source chain that are counted are worth
 * at most its exposure, at the moment of each count, and a payout is counted before its signature is requested.
 */
import { type Selectable, sql } from "kysely";
import { type Hex32, toHex32 } from "../../../core/hex.ts";
import { formatStamp } from "../../../core/stamp.ts";
import { gather, gatherCalls } from "../../../db/gather.ts";
import type { Database, Db, Tx } from "../../../db/schema.ts";

/** A payout that is counted. */
export interface EarlyPayout {
  readonly deliveryId: Hex32;
  readonly srcChain: number;
  /** US dollars times 1e18. */
  readonly worth: bigint;
  /** End of the payout window that was requested last, in Unix seconds. */
  readonly usableUntil: bigint;
  /** Whether it is paid, and later blocks than its lock's are final without it. */
  readonly isMissing: boolean;
}

/** What an early payout waits for: room in the exposure of its chain, or for an operator to open the chain's. */
export type EarlyWait = "exposure" | "opening";

/**
 * Counts a payout, before its signature is requested. Returns what it waits for, without counting it, if the chain's exposure
 * has no room for it or its early payouts are closed; null if it is counted. Counts of one chain wait for each other.
 */
export async function count(
  tx: Tx,
  payout: Omit<EarlyPayout, "isMissing">,
  exposure: bigint,
): Promise<EarlyWait | null> {
  const { deliveryId, srcChain, worth, usableUntil } = payout;
  await sql`select pg_advisory_xact_lock(14, ${srcChain})`.execute(tx);
  const { rows } = await sql<{ counted: string; closed: boolean }>`
    select (select coalesce(sum(worth), 0)::text from early_payouts
             where src_chain = ${srcChain} and delivery_id <> ${deliveryId}) as counted,
           exists (select from early_closures where src_chain = ${srcChain} and opened_at is null) as closed`.execute(
    tx,
  );
  const [row] = rows;
  if (!row || row.closed) return "opening";
  if (BigInt(row.counted) + worth > exposure) return "exposure";
  await sql`
    insert into early_payouts (delivery_id, src_chain, worth, usable_until)
    values (${deliveryId}, ${srcChain}, ${worth}::numeric, ${usableUntil}::bigint)
    on conflict (delivery_id) do update
      set worth = greatest(early_payouts.worth, excluded.worth),
          usable_until = greatest(early_payouts.usable_until, excluded.usable_until)`.execute(tx);
  return null;
}

/** Returns the count of a payout; null if it is not counted. */
export const find = gather(async (db, deliveryIds: readonly Hex32[]) => {
  const rows = await db
    .selectFrom("early_payouts")
    .selectAll()
    .where(sql<boolean>`delivery_id = any(${deliveryIds}::text[])`)
    .execute();
  return rows.map((row) => [row.delivery_id, row] as const);
}, parsePayout);

function parsePayout(row: Selectable<Database["early_payouts"]>): EarlyPayout {
  return {
    deliveryId: toHex32(row.delivery_id),
    srcChain: row.src_chain,
    worth: BigInt(row.worth),
    usableUntil: BigInt(row.usable_until),
    isMissing: row.missing_at !== null,
  };
}

/** No longer counts a payout: its lock is final, it can no longer be made, or an operator accepted its loss. */
export const uncount = gatherCalls(async (db, deliveryIds: readonly Hex32[]) => {
  await db.deleteFrom("early_payouts").where("delivery_id", "in", deliveryIds).execute();
  return deliveryIds.map(() => undefined);
});

/** Records that the lock of a payout is missing, and closes the early payouts of its chain. Returns false if it was known. */
export async function recordMissing(
  tx: Tx,
  { deliveryId, srcChain }: Pick<EarlyPayout, "deliveryId" | "srcChain">,
  nowMs: number,
): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable("early_payouts")
    .set({ missing_at: formatStamp(nowMs) })
    .where("delivery_id", "=", deliveryId)
    .where("missing_at", "is", null)
    .executeTakeFirst();
  if (numUpdatedRows === 0n) return false;
  await close(tx, { srcChain, operator: null, reason: `the lock of ${deliveryId} is missing` });
  return true;
}

/** Returns what the counted payouts of a chain are worth, in US dollars times 1e18. */
export async function sumCounted(db: Db, srcChain: number): Promise<bigint> {
  const { sum } = await db
    .selectFrom("early_payouts")
    .select(({ fn }) => fn.sum<string | null>("worth").as("sum"))
    .where("src_chain", "=", srcChain)
    .executeTakeFirstOrThrow();
  return BigInt(sum ?? 0);
}

/** Reports whether the early payouts of a chain are closed. */
export async function isClosed(db: Db, srcChain: number): Promise<boolean> {
  const row = await db
    .selectFrom("early_closures")
    .select("id")
    .where("src_chain", "=", srcChain)
    .where("opened_at", "is", null)
    .executeTakeFirst();
  return row !== undefined;
}

/** An operator's act, on record. */
export interface Act {
  readonly operator: string;
  readonly reason: string;
}

/**
 * Closes the early payouts of a chain: its payouts wait for finality until an operator opens them. Returns false if they are
 * closed already.
 */
export async function close(
  db: Db | Tx,
  {
    srcChain,
    operator,
    reason,
  }: { readonly srcChain: number; readonly operator: string | null; readonly reason: string },
): Promise<boolean> {
  const { rows } = await sql`
    insert into early_closures (src_chain, reason, closed_by) values (${srcChain}, ${reason}, ${operator})
    on conflict (src_chain) where opened_at is null do nothing returning id`.execute(db);
  return rows.length > 0;
}

/** Opens the early payouts of a chain again. Returns false if they are not closed. */
export async function open(
  db: Db,
  srcChain: number,
  { operator, reason, nowMs }: Act & { readonly nowMs: number },
): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable("early_closures")
    .set({ opened_by: operator, open_reason: reason, opened_at: formatStamp(nowMs) })
    .where("src_chain", "=", srcChain)
    .where("opened_at", "is", null)
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

/** Records that an operator accepts the loss of a payout whose lock is missing, and no longer counts it. Returns false if it is not missing. */
export async function acceptLoss(
  db: Db,
  deliveryId: Hex32,
  { operator, reason }: Act,
): Promise<boolean> {
  return db.transaction().execute(async (tx) => {
    const missing = await tx
      .deleteFrom("early_payouts")
      .where("delivery_id", "=", deliveryId)
      .where("missing_at", "is not", null)
      .returning("worth")
      .executeTakeFirst();
    if (!missing) return false;
    await tx
      .insertInto("early_losses")
      .values({ delivery_id: deliveryId, worth: missing.worth, operator, reason })
      .execute();
    return true;
  });
}

/** Reports whether an operator accepted that the lock of a payout never became final. */
export async function isLost(db: Db, deliveryId: Hex32): Promise<boolean> {
  return (await findLoss(db, deliveryId)) !== null;
}

const findLoss = gather(
  async (db, deliveryIds: readonly Hex32[]) => {
    const rows = await db
      .selectFrom("early_losses")
      .select("delivery_id")
      .where(sql<boolean>`delivery_id = any(${deliveryIds}::text[])`)
      .where("recovered_at", "is", null)
      .execute();
    return rows.map((row) => [row.delivery_id, row] as const);
  },
  (row) => row,
);

/** Ends the loss of a payout whose lock came back. Returns false if there was none. */
export async function recover(tx: Tx, deliveryId: Hex32, nowMs: number): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable("early_losses")
    .set({ recovered_at: formatStamp(nowMs) })
    .where("delivery_id", "=", deliveryId)
    .where("recovered_at", "is", null)
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

/** The early payouts of a source chain, as operators see them. */
export interface EarlyState {
  readonly srcChain: number;
  /** US dollars times 1e18. */
  readonly counted: bigint;
  readonly payouts: number;
  /** Null while they are open. */
  readonly closed: { readonly at: string; readonly reason: string } | null;
  readonly missing: readonly {
    readonly deliveryId: string;
    readonly settlementId: string;
    readonly worth: bigint;
    readonly since: string;
  }[];
}

/** Returns the state of the early payouts of some chains. */
export async function readStates(
  db: Db,
  chainIds: readonly number[],
): Promise<readonly EarlyState[]> {
  const closures = await db
    .selectFrom("early_closures")
    .selectAll()
    .where("opened_at", "is", null)
    .execute();
  const rows = await db
    .selectFrom("early_payouts")
    .innerJoin("deliveries", "deliveries.id", "early_payouts.delivery_id")
    .select(["delivery_id", "settlement_id", "early_payouts.src_chain", "worth", "missing_at"])
    .orderBy("counted_at")
    .execute();
  return chainIds.map((srcChain) => {
    const own = rows.filter((row) => row.src_chain === srcChain);
    const closure = closures.find((row) => row.src_chain === srcChain);
    return {
      srcChain,
      counted: own.reduce((sum, { worth }) => sum + BigInt(worth), 0n),
      payouts: own.length,
      closed: closure ? { at: closure.closed_at, reason: closure.reason } : null,
      missing: own.flatMap(
        ({ delivery_id: deliveryId, settlement_id: settlementId, worth, missing_at: since }) =>
          since === null ? [] : [{ deliveryId, settlementId, worth: BigInt(worth), since }],
      ),
    };
  });
}
