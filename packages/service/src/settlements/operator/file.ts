/** Reads all recorded facts about one settlement, so that an operator can see why it is in its state. */
import { type DepositAddress, getAddressById } from "../../addresses/index.ts";
import type { Db } from "../../db/schema.ts";
import { listDepositsOf, type ShownDeposit } from "../../deposits/index.ts";
import { type FeeItems, itemise } from "../../fees/index.ts";
import {
  listDeliveries,
  listTransfers,
  type ShownDelivery,
  type ShownTransfer,
} from "../../routes/index.ts";
import { listTransactions, type ShownTransaction } from "../../transactions/index.ts";
import { getError, getSettlement } from "../store/read.ts";
import type { Settlement, SettlementError } from "../types.ts";
import { listActions, type RecordedAction } from "./actions.ts";
import { findOpenRefund } from "./refunds.ts";

export interface SettlementFile {
  readonly settlement: Settlement;
  readonly address: DepositAddress;
  readonly integrator: string;
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly error: SettlementError | null;
  /** Time of the next retry of a failing settlement. */
  readonly retryAt: string | null;
  /** Time of the next poll; of a dead settlement, of the next poll for a refund. */
  readonly nextCheckAt: string | null;
  /** Fees of the last planned or mined sweep, in base units; null before one is planned. */
  readonly fees: FeeItems | null;
  readonly deliveredAmount: bigint | null;
  readonly deliveryTxHash: string | null;
  readonly history: readonly ShownTransition[];
  readonly deposits: readonly ShownDeposit[];
  readonly transactions: readonly ShownTransaction[];
  readonly deliveries: readonly ShownDelivery[];
  readonly transfers: readonly ShownTransfer[];
  readonly actions: readonly RecordedAction[];
  /** Intent of a refund of the holding that may still be mined, by settlement or by address; null when there is none. */
  readonly openRefund: string | null;
}

export interface ShownTransition {
  readonly at: string;
  readonly from: string;
  readonly to: string;
  readonly errorCode: string | null;
  readonly txHash: string | null;
}

/** Returns the file of a settlement; null when the id is unknown. */
export async function readSettlementFile(db: Db, id: string): Promise<SettlementFile | null> {
  // One snapshot: the service keeps writing while the file is read.
  return db
    .transaction()
    .setIsolationLevel("repeatable read")
    .execute(async (tx) => {
      const settlement = await getSettlement(tx, id);
      if (!settlement) return null;
      const row = await tx
        .selectFrom("settlements")
        .innerJoin("integrators", "integrators.id", "settlements.integrator_id")
        .selectAll("settlements")
        .select("integrators.name")
        .where("settlements.id", "=", id)
        .executeTakeFirstOrThrow();
      const address = await getAddressById(tx, settlement.addressId);
      return {
        settlement,
        address,
        fees: itemiseOf(settlement, address),
        integrator: row.name,
        createdAt: row.created_at,
        updatedAt: row.updated_at,
        error: await getError(tx, id),
        retryAt: row.retry_at,
        nextCheckAt: row.next_check_at,
        deliveredAmount: row.delivered_amount === null ? null : BigInt(row.delivered_amount),
        deliveryTxHash: row.delivery_tx_hash,
        history: await listHistory(tx, id),
        deposits: await listDepositsOf(tx, settlement),
        transactions: await listTransactions(tx, id),
        deliveries: await listDeliveries(tx, id),
        transfers: await listTransfers(tx, id),
        actions: await listActions(tx, id),
        openRefund: await findOpenRefund(tx, settlement),
      };
    });
}

/** Returns the fees of a settlement by the terms of its sweep; null before one is planned. */
export function itemiseOf(settlement: Settlement, { commitment }: DepositAddress): FeeItems | null {
  const { fee, sweptAmount, plannedAmount } = settlement;
  const amount = sweptAmount ?? plannedAmount;
  return fee && amount !== null ? itemise(amount, fee, commitment.maxFeeBps) : null;
}

async function listHistory(db: Db, id: string): Promise<ShownTransition[]> {
  const rows = await db
    .selectFrom("settlement_transitions")
    .selectAll()
    .where("settlement_id", "=", id)
    .orderBy("version")
    .execute();
  return rows.map((row) => ({
    at: row.at,
    from: row.from_status,
    to: row.to_status,
    errorCode: row.error_code,
    txHash: row.tx_hash,
  }));
}
