/** Reads settlements, and locks them or their holding. */
import { type DepositAddress, getAddressById } from "../../addresses/index.ts";
import type { ErrorCode, SettlementStatus } from "@sluice/sdk/wire";
import { type Selectable, sql } from "kysely";
import { toAddress, toHex32, toTxHash } from "../../core/hex.ts";
import type { Holding } from "../../deposits/index.ts";
import type { ErrorDetails } from "../../core/errors.ts";
import type { Db, SettlementsTable, Tx } from "../../db/schema.ts";
import type { FeeTerms } from "../../fees/index.ts";
import type { RouteKind } from "../../routes/index.ts";
import type { Settlement, SettlementError, Step } from "../types.ts";

/** Holds a holding until the end of the transaction: what is decided about it is decided one at a time. */
export async function lockHolding(tx: Tx, holding: Holding): Promise<void> {
  const key = `${holding.chainId}:${holding.wallet}:${holding.token}`;
  await sql`select pg_advisory_xact_lock(8, hashtext(${key}))`.execute(tx);
}

/** The one settlement of a holding that is not final, or null. */
export async function getActive(db: Db | Tx, holding: Holding): Promise<Settlement | null> {
  const row = await selectHolding(db, holding)
    .where("status", "not in", ["completed", "dead"])
    .executeTakeFirst();
  return row ? parseSettlement(row) : null;
}

/** The settlement whose mined sweep comes after a position on the chain, and so took what stood there. */
export async function getSweptAfter(
  db: Db | Tx,
  holding: Holding,
  position: { readonly block: bigint; readonly logIndex: number },
): Promise<Settlement | null> {
  const row = await selectHolding(db, holding)
    .where(sql<boolean>`(taken_block, taken_log_index) > (${position.block}, ${position.logIndex})`)
    .orderBy("taken_block")
    .orderBy("taken_log_index")
    .limit(1)
    .executeTakeFirst();
  return row ? parseSettlement(row) : null;
}

export async function getSettlement(db: Db | Tx, id: string): Promise<Settlement | null> {
  const row = await db
    .selectFrom("settlements")
    .selectAll()
    .where("id", "=", id)
    .executeTakeFirst();
  return row ? parseSettlement(row) : null;
}

/** How many settlements a holding has ever had. */
export async function countSettlements(
  db: Db | Tx,
  holding: Pick<Holding, "chainId" | "wallet" | "token">,
): Promise<bigint> {
  const { count } = await db
    .selectFrom("settlements")
    .select((eb) => eb.fn.countAll<bigint>().as("count"))
    .where("chain_id", "=", holding.chainId)
    .where("wallet", "=", holding.wallet)
    .where("token", "=", holding.token)
    .executeTakeFirstOrThrow();
  return count;
}

/** Reads the deposit address that a settlement sweeps. */
export async function readAddressOf(db: Db, id: string): Promise<DepositAddress> {
  const { address_id } = await db
    .selectFrom("settlements")
    .select("address_id")
    .where("id", "=", id)
    .executeTakeFirstOrThrow();
  return getAddressById(db, address_id);
}

/** Locks a settlement's row and reads it. */
export async function lockSettlement(tx: Tx, id: string): Promise<Settlement> {
  const row = await tx
    .selectFrom("settlements")
    .selectAll()
    .where("id", "=", id)
    .forUpdate()
    .executeTakeFirstOrThrow();
  return parseSettlement(row);
}

/** The error of a failing, deferred or dead settlement; null of any other. */
export async function getError(db: Db | Tx, id: string): Promise<SettlementError | null> {
  const row = await db
    .selectFrom("settlements")
    .select(["error_code", "error_message", "error_retryable", "error_details"])
    .where("id", "=", id)
    .executeTakeFirstOrThrow();
  return errorOf(row);
}

/** Returns the error that a row of a settlement shows; null where it shows none. */
export function errorOf(row: {
  readonly error_code: string | null;
  readonly error_message: string | null;
  readonly error_retryable: boolean | null;
  readonly error_details: ErrorDetails | null;
}): SettlementError | null {
  if (row.error_code === null) return null;
  return {
    // CAST: written from an operating error, whose code is of the closed set.
    code: row.error_code as ErrorCode,
    message: row.error_message ?? "",
    retryable: row.error_retryable ?? false,
    ...(row.error_details === null ? {} : { details: row.error_details }),
  };
}

function selectHolding(db: Db | Tx, holding: Holding) {
  return db
    .selectFrom("settlements")
    .selectAll()
    .where("chain_id", "=", holding.chainId)
    .where("wallet", "=", holding.wallet)
    .where("token", "=", holding.token);
}

/** The three columns are null together. */
function feeOf(row: Selectable<SettlementsTable>): FeeTerms | null {
  const { fee_bps: bps, fee_flat: flat, fee_bridge: bridge } = row;
  if (bps === null || flat === null || bridge === null) return null;
  return { bps, flat: BigInt(flat), bridge: BigInt(bridge) };
}

export function parseSettlement(row: Selectable<SettlementsTable>): Settlement {
  const bigintOf = (text: string | null) => (text === null ? null : BigInt(text));
  return {
    id: row.id,
    integratorId: row.integrator_id,
    addressId: row.address_id,
    chainId: row.chain_id,
    wallet: toAddress(row.wallet),
    token: toAddress(row.token),
    // CAST: held by the column's check constraint.
    status: row.status as SettlementStatus,
    // CAST: held by the column's check constraint.
    step: row.step as Step,
    version: row.version,
    // CAST: held by the column's check constraint.
    route: row.route as RouteKind | null,
    routeContract: row.route_contract === null ? null : toAddress(row.route_contract),
    deploysSent: row.deploys_sent,
    sweepsSent: row.sweeps_sent,
    plannedAmount: bigintOf(row.planned_amount),
    fee: feeOf(row),
    sweptAmount: bigintOf(row.swept_amount),
    sweptBlock: row.swept_block,
    sweptLogIndex: row.swept_log_index,
    minOut: bigintOf(row.min_out),
    deliveryId: row.delivery_id === null ? null : toHex32(row.delivery_id),
    swapTxHash: row.swap_tx_hash === null ? null : toTxHash(row.swap_tx_hash),
    retryCount: row.retry_count,
    attemptsUsed: row.attempts_used,
    successorPromised: row.successor_promised,
    retryAtMs: row.retry_at === null ? null : Date.parse(row.retry_at),
  };
}
