/** Maps the columns of `settlements` to `Settlement` and back. Only this file knows both sides. */
import type { ErrorCode, SettlementStatus } from "@sluice/sdk/wire";
import type { Selectable } from "kysely";
import type { ErrorDetails } from "../../core/errors.ts";
import { type Address, toAddress, toHex32, toTxHash, type TxHash } from "../../core/hex.ts";
import { formatStamp } from "../../core/stamp.ts";
import type { SettlementsTable } from "../../db/schema.ts";
import type { FeeTerms } from "../../fees/index.ts";
import type { RouteKind } from "../../routes/index.ts";
import type { Settlement, SettlementError, Step } from "../types.ts";

/** Returns the error that a row contains; null when it contains none. */
export function errorOf(row: {
  readonly error_code: string | null;
  readonly error_message: string | null;
  readonly error_retryable: boolean | null;
  readonly error_details: ErrorDetails | null;
}): SettlementError | null {
  if (row.error_code === null) return null;
  return {
    // CAST: written from an operating error, whose code is one of the closed set.
    code: row.error_code as ErrorCode,
    message: row.error_message ?? "",
    retryable: row.error_retryable ?? false,
    ...(row.error_details === null ? {} : { details: row.error_details }),
  };
}

/** Returns the stored fee terms. The three columns are null together. */
function feeOf(row: Selectable<SettlementsTable>): FeeTerms | null {
  const { fee_bps: bps, fee_flat: flat, fee_bridge: bridge } = row;
  if (bps === null || flat === null || bridge === null) return null;
  return { bps, flat: BigInt(flat), bridge: BigInt(bridge) };
}

/** Converts a row to a settlement. Amounts are base units. */
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
    plannedUpTo: row.planned_up_to,
    fee: feeOf(row),
    sweptAmount: bigintOf(row.swept_amount),
    sweptBlockHash: row.swept_block_hash === null ? null : toHex32(row.swept_block_hash),
    sweptLogIndex: row.swept_log_index,
    minOut: bigintOf(row.min_out),
    deliveryId: row.delivery_id === null ? null : toHex32(row.delivery_id),
    swapTxHash: row.swap_tx_hash === null ? null : toTxHash(row.swap_tx_hash),
    retryCount: row.retry_count,
    triesUsed: row.attempts_used,
    successorPromised: row.successor_promised,
    retryAtMs: row.retry_at === null ? null : Date.parse(row.retry_at),
    createdAtMs: Date.parse(row.created_at),
    updatedAtMs: Date.parse(row.updated_at),
    nextCheckAt: row.next_check_at,
  };
}

/** Fields that a transition changes besides the status; undefined fields stay as they are. */
export interface Change {
  readonly step?: Step;
  readonly route?: RouteKind;
  readonly routeContract?: Address;
  readonly deploysSent?: number;
  readonly sweepsSent?: number;
  readonly plannedAmount?: bigint | null;
  readonly plannedUpTo?: bigint | null;
  readonly fee?: FeeTerms;
  readonly deployTxHash?: TxHash;
  readonly swapTxHash?: TxHash;
  readonly deliveryTxHash?: TxHash;
  readonly deliveredAmount?: bigint;
  readonly retryCount?: number;
  readonly triesUsed?: number;
  readonly retryAtMs?: number | null;
  readonly nextCheckAtMs?: number | null;
}

/** Converts a change to the columns of an update. */
export function columnsOf(change: Change) {
  const stamp = (ms: number | null | undefined) =>
    ms === undefined ? undefined : ms === null ? null : formatStamp(ms);
  const columns = {
    step: change.step,
    route: change.route,
    route_contract: change.routeContract,
    deploys_sent: change.deploysSent,
    sweeps_sent: change.sweepsSent,
    planned_amount: change.plannedAmount,
    planned_up_to: change.plannedUpTo,
    fee_bps: change.fee?.bps,
    fee_flat: change.fee?.flat,
    fee_bridge: change.fee?.bridge,
    deploy_tx_hash: change.deployTxHash,
    swap_tx_hash: change.swapTxHash,
    delivery_tx_hash: change.deliveryTxHash,
    delivered_amount: change.deliveredAmount,
    retry_count: change.retryCount,
    attempts_used: change.triesUsed,
    retry_at: stamp(change.retryAtMs),
    next_check_at: stamp(change.nextCheckAtMs),
  };
  // Kysely leaves out undefined columns and writes null for null.
  return columns;
}
