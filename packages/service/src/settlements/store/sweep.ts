/** Records what the mined sweep of a settlement did, in which block, and whether that is final. */
import { assert } from "../../core/assert.ts";
import type { TxHash } from "../../core/hex.ts";
import { formatStamp } from "../../core/stamp.ts";
import type { Db, Tx } from "../../db/schema.ts";
import type { Sweep } from "../../routes/index.ts";
import type { Settlement } from "../types.ts";
import type { StoreDeps } from "./transition.ts";

/** Records what the mined sweep did; the status stays, the version does not. */
export async function recordSweep(
  tx: Tx,
  deps: StoreDeps,
  settlement: Settlement,
  swept: {
    readonly sweep: Sweep;
    readonly txHash: TxHash;
    readonly block: bigint;
    readonly final: boolean;
  },
): Promise<boolean> {
  const { sweep, txHash, block, final } = swept;
  const result = await tx
    .updateTable("settlements")
    .set({
      step: "deliver",
      swept_amount: sweep.amount,
      swept_block: block,
      swept_log_index: sweep.logIndex,
      swept_up_to: sweep.upTo ?? null,
      sweep_final: final,
      min_out: sweep.minOut,
      swap_fee: sweep.swapFee ?? null,
      delivery_id: sweep.deliveryId,
      swap_tx_hash: txHash,
      version: settlement.version + 1,
      updated_at: formatStamp(deps.clock.now()),
    })
    .where("id", "=", settlement.id)
    .where("version", "=", settlement.version)
    .executeTakeFirst();
  return result.numUpdatedRows === 1n;
}

/** Shows the hash of a mined sweep before it is believed; no part of the settlement's state. */
export async function recordSwapTransaction(
  db: Db,
  settlement: Settlement,
  txHash: TxHash,
): Promise<void> {
  if (settlement.swapTxHash === txHash) return;
  await db
    .updateTable("settlements")
    .set({ swap_tx_hash: txHash })
    .where("id", "=", settlement.id)
    .where("step", "=", "sweep")
    .execute();
}

/** Forgets a recorded sweep whose block left the chain: it is followed from its transaction again. */
export async function forgetSweep(tx: Tx, settlement: Settlement): Promise<boolean> {
  const result = await tx
    .updateTable("settlements")
    .set({
      step: "sweep",
      swept_amount: null,
      swept_block: null,
      swept_log_index: null,
      swept_up_to: null,
      min_out: null,
      swap_fee: null,
      delivery_id: null,
      swap_tx_hash: null,
      version: settlement.version + 1,
    })
    .where("id", "=", settlement.id)
    .where("version", "=", settlement.version)
    .where("status", "not in", ["completed", "dead"])
    .executeTakeFirst();
  return result.numUpdatedRows === 1n;
}

/** Notes where the sweep of a completed settlement finally stands, and what it did there. */
export async function recordFinalSweep(
  tx: Tx,
  settlement: Settlement,
  final: {
    readonly txHash: TxHash;
    readonly block: bigint;
    readonly logIndex: number;
    /** What it did in another block than was recorded, and what it delivered where the sweep is the delivery. */
    readonly done: { readonly sweep: Sweep; readonly deliveredAmount: bigint | undefined } | null;
  } | null,
): Promise<void> {
  await tx
    .updateTable("settlements")
    .set({
      sweep_final: true,
      ...(final && {
        swap_tx_hash: final.txHash,
        swept_block: final.block,
        swept_log_index: final.logIndex,
      }),
      ...(final?.done && {
        swept_amount: final.done.sweep.amount,
        swap_fee: final.done.sweep.swapFee ?? null,
        delivered_amount: final.done.deliveredAmount,
      }),
    })
    .where("id", "=", settlement.id)
    .execute();
}

/** Notes that a deposit which came too late for the sweep was promised a settlement of its own. */
export async function promiseSuccessor(tx: Tx, settlement: Settlement): Promise<void> {
  const result = await tx
    .updateTable("settlements")
    .set({ successor_promised: true, version: settlement.version + 1 })
    .where("id", "=", settlement.id)
    .where("version", "=", settlement.version)
    .executeTakeFirst();
  assert(result.numUpdatedRows === 1n, "the settlement was locked before the promise");
}
