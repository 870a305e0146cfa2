/** Records the actions of operators. The table is append-only. */
import type { Address } from "../../core/hex.ts";
import type { Db, Tx } from "../../db/schema.ts";
import type { Settlement } from "../types.ts";

export type OperatorAction = "retry" | "refund";

export interface RecordedAction {
  readonly action: OperatorAction;
  readonly operator: string;
  readonly reason: string;
  readonly fromStatus: string;
  readonly fromStep: string;
  /** Settlement that a retry of a dead one queued; null otherwise. */
  readonly successorId: string | null;
  /** Refund authority; null for a retry. */
  readonly refundTo: string | null;
  readonly at: string;
}

/** Records an action, in the transaction that performs it. */
export async function recordAction(
  tx: Tx,
  settlement: Pick<Settlement, "id" | "status" | "step">,
  action: {
    readonly action: OperatorAction;
    readonly operator: string;
    readonly reason: string;
    readonly successorId?: string;
    readonly refundTo?: Address;
  },
): Promise<void> {
  await tx
    .insertInto("operator_actions")
    .values({
      settlement_id: settlement.id,
      action: action.action,
      operator: action.operator,
      reason: action.reason,
      from_status: settlement.status,
      from_step: settlement.step,
      successor_id: action.successorId ?? null,
      refund_to: action.refundTo ?? null,
    })
    .execute();
}

/** Returns the operator actions on a settlement, oldest first. */
export async function listActions(db: Db | Tx, settlementId: string): Promise<RecordedAction[]> {
  const rows = await db
    .selectFrom("operator_actions")
    .selectAll()
    .where("settlement_id", "=", settlementId)
    .orderBy("id")
    .execute();
  return rows.map((row) => ({
    // CAST: held by the column's check constraint.
    action: row.action as OperatorAction,
    operator: row.operator,
    reason: row.reason,
    fromStatus: row.from_status,
    fromStep: row.from_step,
    successorId: row.successor_id,
    refundTo: row.refund_to,
    at: row.at,
  }));
}
