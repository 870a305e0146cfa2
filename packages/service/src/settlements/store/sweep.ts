/** Stores the result of a settlement's mined sweep, its block, and its finality. */
import { sql } from "kysely";
import type { Receipt } from "../../chains/port/index.ts";
import { assert } from "../../core/assert.ts";
import type { TxHash } from "../../core/hex.ts";
import { formatStamp } from "../../core/stamp.ts";
import { gatherCalls, gatherWrites } from "../../db/gather.ts";
import { literals } from "../../db/literals.ts";
import type { Db, Tx } from "../../db/schema.ts";
import type { Holding } from "../../deposits/index.ts";
import { dueFrom } from "../../jobs/due.ts";
import type { Delivered, Sweep } from "../../routes/index.ts";
import type { Settlement } from "../types.ts";
import type { StoreDeps } from "./transition.ts";

/** Where a sweep was mined: its hash, and the number and hash of its block. */
export type Mined = Pick<Receipt, "txHash" | "blockNumber" | "blockHash">;

/** Returns whether a sweep is in another block than the recorded one, where it may have taken another amount. */
export function isMoved(settlement: Settlement, mined: Mined): boolean {
  return mined.txHash !== settlement.swapTxHash || mined.blockHash !== settlement.sweptBlockHash;
}

/**
 * Records the result of the mined sweep and moves to the delivery step. The status stays; the version grows. Returns
 * false when the settlement was changed concurrently.
 */
export async function recordSweep(
  tx: Tx,
  deps: StoreDeps,
  settlement: Settlement,
  swept: {
    readonly sweep: Sweep;
    readonly receipt: Mined;
    readonly final: boolean;
  },
): Promise<boolean> {
  const updatedAt = formatStamp(deps.clock.now());
  return recordGathered(tx, { settlement, ...swept, updatedAt });
}

const recordGathered = gatherCalls(
  async (
    tx,
    all: readonly {
      readonly settlement: Settlement;
      readonly sweep: Sweep;
      readonly receipt: Mined;
      readonly final: boolean;
      readonly updatedAt: string;
    }[],
  ): Promise<boolean[]> => {
    const { rows } = await sql<{ id: string }>`
      update "settlements" as changed
         set step = 'deliver', swept_amount = given.amount, swept_block = given.block, swept_block_hash = given.block_hash,
             swept_log_index = given.log_index, swept_up_to = given.up_to, sweep_final = given.final,
             min_out = given.least, swap_fee = given.kept, delivery_id = given.delivery, swap_tx_hash = given.hash,
             version = changed.version + 1, updated_at = given.at
        from unnest(
               ${all.map(({ settlement }) => settlement.id)}::uuid[],
               ${all.map(({ settlement }) => settlement.version)}::integer[],
               ${all.map(({ sweep }) => sweep.amount)}::numeric[],
               ${all.map(({ receipt }) => receipt.blockNumber)}::bigint[],
               ${all.map(({ receipt }) => receipt.blockHash)}::text[],
               ${all.map(({ sweep }) => sweep.logIndex)}::integer[],
               ${all.map(({ sweep }) => sweep.upTo ?? null)}::bigint[],
               ${all.map(({ final }) => final)}::boolean[],
               ${all.map(({ sweep }) => sweep.minOut)}::numeric[],
               ${all.map(({ sweep }) => sweep.swapFee ?? null)}::numeric[],
               ${all.map(({ sweep }) => sweep.deliveryId)}::text[],
               ${all.map(({ receipt }) => receipt.txHash)}::text[],
               ${all.map(({ updatedAt }) => updatedAt)}::timestamptz[]
             ) as given (of, seen, amount, block, block_hash, log_index, up_to, final, least, kept, delivery, hash, at)
       where changed.id = given.of and changed.version = given.seen
      returning changed.id`.execute(tx);
    const recorded = new Set(rows.map(({ id }) => id));
    // Of two of a settlement the first is recorded, since its version is another then.
    return all.map(({ settlement }) => recorded.delete(settlement.id));
  },
);

/** Stores the hash of a mined sweep for display, before its receipt is verified. It is not part of the state. */
export async function recordSwapTransaction(
  db: Db,
  settlement: Settlement,
  txHash: TxHash,
): Promise<void> {
  if (settlement.swapTxHash !== txHash) await writeSwapTransaction(db, settlement.id, txHash);
}

const writeSwapTransaction = gatherWrites<string, TxHash>(async (db, hashes) => {
  await sql`
    update "settlements" as swept set swap_tx_hash = given.hash
      from (select id, given.hash from settlements
              join unnest(${[...hashes.keys()]}::uuid[], ${[...hashes.values()]}::text[]) as given (key, hash)
                on id = given.key
             where step = 'sweep' order by id for update of settlements) as given
     where swept.id = given.id`.execute(db);
});

/**
 * Removes a recorded sweep whose block was orphaned, and returns to the sweep step, which follows the transaction again.
 * Returns false when the settlement was changed concurrently.
 */
export async function forgetSweep(tx: Tx, settlement: Settlement): Promise<boolean> {
  const result = await tx
    .updateTable("settlements")
    .set({
      step: "sweep",
      swept_amount: null,
      swept_block: null,
      swept_block_hash: null,
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
    .where("status", "not in", literals(["completed", "dead"]))
    .executeTakeFirst();
  return result.numUpdatedRows === 1n;
}

/**
 * Records the final position and result of a completed settlement's sweep; null when the sweep finally reverted: then it took
 * nothing, delivered nothing itself, and the ledger posts back what it had posted.
 */
export async function recordFinalSweep(
  tx: Tx,
  settlement: Settlement,
  final: {
    readonly receipt: Mined;
    readonly logIndex: number;
    /** The last block whose deposits it took in full; undefined for all that arrived before it. */
    readonly upTo: bigint | undefined;
    /** The result, where the final block is not the recorded one; with the delivery, where the sweep is the delivery. */
    readonly done: {
      readonly sweep: Sweep;
      readonly delivered: Pick<Delivered, "txHash" | "amount"> | null;
    } | null;
  } | null,
): Promise<void> {
  await tx
    .updateTable("settlements")
    .set({
      sweep_final: true,
      ...(final === null && {
        swept_amount: 0n,
        // What inventory paid stays paid.
        delivered_amount: sql<string>`case when delivery_id is null then 0 else delivered_amount end`,
        // Zero, or still null for a sweep without a pool swap.
        swap_fee: sql<string | null>`swap_fee * 0`,
      }),
      ...(final && {
        swap_tx_hash: final.receipt.txHash,
        swept_block: final.receipt.blockNumber,
        swept_block_hash: final.receipt.blockHash,
        swept_log_index: final.logIndex,
        swept_up_to: final.upTo ?? null,
      }),
      ...(final?.done && {
        swept_amount: final.done.sweep.amount,
        delivery_id: final.done.sweep.deliveryId,
        swap_fee: final.done.sweep.swapFee ?? null,
      }),
      ...(final?.done?.delivered && {
        delivery_tx_hash: final.done.delivered.txHash,
        delivered_amount: final.done.delivered.amount,
      }),
    })
    .where("id", "=", settlement.id)
    .execute();
}

/**
 * Handles a delivery, in the transaction that records it. An active settlement is polled at once; its new version fails a
 * completion by an earlier delivery. A completed one takes over the amount and the transaction: a reorg undid the delivery
 * that completed it.
 */
export function recordDelivery(tx: Tx, delivered: Delivered, nowMs: number): Promise<void> {
  return recordDeliveries(tx, { delivered, nowMs });
}

const recordDeliveries = gatherCalls(
  async (tx, all: readonly { readonly delivered: Delivered; readonly nowMs: number }[]) => {
    const { rows } = await sql<{ id: string }>`
      update settlements as woken set version = woken.version + 1, next_check_at = ${dueFrom(sql`held.at`)}
        from (select id, given.at
                from settlements join unnest(
                  ${all.map(({ delivered }) => delivered.settlementId)}::uuid[],
                  ${all.map(({ nowMs }) => formatStamp(nowMs))}::timestamptz[]
                ) as given (key, at) on id = given.key
               where status not in ('completed', 'dead') order by id for update of settlements) as held
       where woken.id = held.id returning woken.id`.execute(tx);
    const woken = new Set(rows.map(({ id }) => id));
    const completed = all.filter(({ delivered }) => !woken.has(delivered.settlementId));
    for (const { delivered } of completed) await recordTakeover(tx, delivered);
    return all.map(() => undefined);
  },
);

async function recordTakeover(
  tx: Db | Tx,
  { settlementId, deliveryId, txHash, amount }: Delivered,
): Promise<void> {
  await tx
    .updateTable("settlements")
    .set({ delivery_tx_hash: txHash, delivered_amount: amount })
    .where("id", "=", settlementId)
    .where("status", "=", "completed")
    // The payout of another lock is not this settlement's.
    .where("delivery_id", "is not distinct from", deliveryId)
    .execute();
}

/** Follows completed sweeps above a height again, after final blocks were replaced. */
export async function reopenSweeps(
  tx: Tx,
  above: { readonly chainId: number; readonly height: bigint },
): Promise<void> {
  await tx
    .updateTable("settlements")
    .set({ sweep_final: false })
    .where("chain_id", "=", above.chainId)
    .where("status", "=", "completed")
    .where("swept_block", ">", above.height)
    .execute();
}

/**
 * Follows the completed parts of a holding again whose sweeps are not before a block: a deposit or an outflow there
 * that was left out, and is recorded now, changes their ends.
 */
export async function reopenParts(
  tx: Tx,
  { chainId, wallet, token }: Holding,
  since: { readonly block: bigint; readonly nowMs: number },
): Promise<void> {
  await tx
    .updateTable("settlements")
    .set({ sweep_final: false, next_check_at: formatStamp(since.nowMs) })
    .where("chain_id", "=", chainId)
    .where("wallet", "=", wallet)
    .where("token", "=", token)
    .where("status", "=", "completed")
    .where("planned_up_to", "is not", null)
    .where("swept_amount", ">", "0")
    .where("swept_block", ">=", since.block)
    .execute();
}

/** Records that a deposit which arrived too late for the sweep was promised another settlement. */
export async function promiseSuccessor(tx: Tx, settlement: Settlement): Promise<void> {
  const result = await tx
    .updateTable("settlements")
    .set({ successor_promised: true, version: settlement.version + 1 })
    .where("id", "=", settlement.id)
    .where("version", "=", settlement.version)
    .executeTakeFirst();
  assert(result.numUpdatedRows === 1n, "the settlement was locked before the promise");
}
