/**
 * The table `moves`: one row per move of a treasury. A row is committed together with the intent of its transaction, and
 * its state follows that transaction and, between chains, the settlement of the deposit that it made.
 */
import { type Selectable, sql } from "kysely";
import { type Address, toAddress } from "../core/hex.ts";
import { formatStamp } from "../core/stamp.ts";
import type { Db, MovesTable, Tx } from "../db/schema.ts";
import type { Direction } from "./directions.ts";

/**
 * `asked`: by an operator, and not planned yet. `planned`: its transaction is queued, or not final. `moved`: final on the
 * source, on its way. `stranded`: its settlement is dead, until somebody retries or refunds it. `arrived`: in the inventory.
 * `returned`: back in the treasury. `failed`: its transaction moved nothing.
 */
export type MoveState = (typeof MOVE_STATES)[number];
export const MOVE_STATES = [
  "asked",
  "planned",
  "moved",
  "stranded",
  "arrived",
  "returned",
  "failed",
  "cancelled",
] as const;

/** The states of a move that has not ended. */
const OPEN: readonly MoveState[] = ["asked", "planned", "moved", "stranded"];

/** A move of a treasury. */
export interface Move extends Direction {
  readonly id: string;
  /** Base units of the treasury's token. */
  readonly amount: bigint;
  readonly state: MoveState;
  /** Null if the service planned it. */
  readonly operator: string | null;
  readonly reason: string;
  /** Why it cannot be planned now; null while nothing is known. */
  readonly error: string | null;
  readonly createdAt: string;
  readonly endedAt: string | null;
}

export type NewMove = Omit<Move, "error" | "createdAt" | "endedAt">;

/** Inserts a move: `asked`, or `planned` together with its intent. */
export async function insertMove(db: Db | Tx, move: NewMove): Promise<void> {
  await db
    .insertInto("moves")
    .values({
      id: move.id,
      src_chain: move.srcChain,
      token: move.token,
      to_address: move.to,
      dest_chain: move.destChain,
      dest_token: move.destToken,
      amount: move.amount.toString(),
      state: move.state,
      operator: move.operator,
      reason: move.reason,
    })
    .execute();
}

/** Moves a row to its next state. Returns false if it changed meanwhile. */
export async function setState(
  db: Db | Tx,
  { id, state }: Pick<Move, "id" | "state">,
  { next, nowMs }: { readonly next: MoveState; readonly nowMs: number },
): Promise<boolean> {
  const result = await db
    .updateTable("moves")
    .set({
      state: next,
      error_text: null,
      ended_at: OPEN.includes(next) ? null : formatStamp(nowMs),
    })
    .where("id", "=", id)
    .where("state", "=", state)
    .executeTakeFirst();
  return result.numUpdatedRows === 1n;
}

/** Records why a move that was asked for cannot be planned now. */
export async function setError(db: Db, id: string, error: string): Promise<void> {
  await db
    .updateTable("moves")
    .set({ error_text: error })
    .where("id", "=", id)
    .where("state", "=", "asked")
    .execute();
}

/** Cancels a move that was asked for and is not planned. Returns false if there is none. */
export async function cancelMove(
  db: Db,
  {
    id,
    operator,
    nowMs,
  }: { readonly id: string; readonly operator: string; readonly nowMs: number },
): Promise<boolean> {
  const result = await db
    .updateTable("moves")
    .set({ state: "cancelled", cancelled_by: operator, ended_at: formatStamp(nowMs) })
    .where("id", "=", id)
    .where("state", "=", "asked")
    .executeTakeFirst();
  return result.numUpdatedRows === 1n;
}

/** Lists the moves that have not ended, oldest first: of one treasury's chain, or of all. */
export async function listOpen(
  db: Db | Tx,
  { srcChain }: { readonly srcChain?: number | undefined } = {},
): Promise<readonly Move[]> {
  const rows = await db
    .selectFrom("moves")
    .selectAll()
    .where("ended_at", "is", null)
    .$if(srcChain !== undefined, (query) => query.where("src_chain", "=", srcChain ?? 0))
    .orderBy("created_at")
    .orderBy("id")
    .execute();
  return rows.map(parseMove);
}

/** Lists the newest moves, the newest first. */
export async function listNewest(db: Db, limit: number): Promise<readonly Move[]> {
  const rows = await db
    .selectFrom("moves")
    .selectAll()
    .orderBy("created_at", "desc")
    .orderBy("id")
    .limit(limit)
    .execute();
  return rows.map(parseMove);
}

/**
 * Has new moves toward an inventory wait for one another until the transaction ends: two treasuries would both fill the
 * same gap.
 */
export async function lockDestination(
  tx: Tx,
  { destChain, destToken }: { readonly destChain: number; readonly destToken: Address },
): Promise<void> {
  const key = `${destChain}:${destToken}`;
  await sql`select pg_advisory_xact_lock(18, hashtext(${key}))`.execute(tx);
}

function parseMove(row: Selectable<MovesTable>): Move {
  return {
    id: row.id,
    srcChain: row.src_chain,
    token: toAddress(row.token),
    to: toAddress(row.to_address),
    destChain: row.dest_chain,
    destToken: toAddress(row.dest_token),
    amount: BigInt(row.amount),
    // CAST: held by the column's check constraint.
    state: row.state as MoveState,
    operator: row.operator,
    reason: row.reason,
    error: row.error_text,
    createdAt: row.created_at,
    endedAt: row.ended_at,
  };
}
