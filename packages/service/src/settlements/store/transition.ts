/** Creates settlements and changes their status. Nothing else writes that column. */
import { categoryOf, isTerminal, phaseOf, type StatusChangedData } from "@sluice/sdk/wire";
import { sql } from "kysely";
import { assert } from "../../core/assert.ts";
import { displayTxHash } from "../../core/base58.ts";
import type { Address, TxHash } from "../../core/hex.ts";
import type { Clock, Random } from "../../core/ports.ts";
import { formatStamp } from "../../core/stamp.ts";
import type { Tx } from "../../db/schema.ts";
import type { Holding } from "../../deposits/index.ts";
import { appendEvent, lockStamps } from "../../events/index.ts";
import { chainLabel, type Metrics } from "../../telemetry/metrics.ts";
import { readDetails } from "../details.ts";
import { firstStatus, LIFECYCLE, type Trigger } from "../lifecycle.ts";
import type { Settlement, SettlementError } from "../types.ts";
import { type Change, columnsOf } from "./row.ts";

export interface StoreDeps {
  readonly clock: Clock;
  readonly random: Random;
  /** Returns an address in the spelling of the wire. */
  readonly displayAddress: (address: Address) => string;
  readonly metrics: Metrics;
}

/** Creates a settlement and returns its id. Appends no event. Assumes the lock of the holding. */
export async function insertSettlement(
  tx: Tx,
  deps: StoreDeps,
  settlement: Holding & {
    readonly integratorId: string;
    readonly addressId: string;
    /** Null on a chain where wallets are not deployed. */
    readonly walletDeployed: boolean | null;
    /** Base units, for display; null when no arrival was seen. */
    readonly amount: bigint | null;
  },
): Promise<string> {
  const { clock, random } = deps;
  const id = random.uuid();
  const now = formatStamp(clock.now());
  const status = firstStatus(settlement.walletDeployed);
  await lockStamps(tx, settlement.integratorId);
  await tx
    .insertInto("settlements")
    .values({
      id,
      integrator_id: settlement.integratorId,
      address_id: settlement.addressId,
      chain_id: settlement.chainId,
      wallet: settlement.wallet,
      token: settlement.token,
      status,
      step: status === "pending_deploy" ? "deploy" : "sweep",
      amount: settlement.amount,
      next_check_at: now,
      created_at: sql<string>`next_stamp((select created_at from settlements
        where integrator_id = ${settlement.integratorId} order by created_at desc limit 1))`,
      updated_at: now,
    })
    .execute();
  return id;
}

/**
 * Changes a status; nothing else does. Writes the new status by compare-and-set on status and version, a row of history
 * and the event, in the caller's transaction, as its last statement where possible. Returns false, with nothing
 * written, when the settlement was changed since it was read; the caller then starts from the row again.
 */
export async function transition(
  tx: Tx,
  deps: StoreDeps,
  settlement: Settlement,
  args: {
    readonly trigger: Trigger;
    readonly change?: Change;
    readonly error?: SettlementError;
    /** Transaction hash of the event, where the interface has one. */
    readonly txHash?: TxHash | null;
  },
): Promise<boolean> {
  const { trigger, change = {}, error, txHash = null } = args;
  const cell = LIFECYCLE[settlement.status][trigger];
  assert("to" in cell, `${settlement.status} takes ${trigger}`);
  const status = cell.to;
  assert(
    (error !== undefined) === (categoryOf(status) === "retrying" || status === "dead"),
    "a settlement has an error exactly while it is failing, deferred or dead",
  );
  const now = formatStamp(deps.clock.now());
  const result = await tx
    .with("moved", (db) =>
      db
        .updateTable("settlements")
        .set({
          ...columnsOf(change),
          status,
          version: settlement.version + 1,
          error_code: error?.code ?? null,
          error_message: error?.message ?? null,
          error_retryable: error?.retryable ?? null,
          error_details: error?.details ? JSON.stringify(error.details) : null,
          updated_at: now,
        })
        .where("id", "=", settlement.id)
        .where("status", "=", settlement.status)
        .where("version", "=", settlement.version)
        .returning(["id", "version", "status", "error_code"]),
    )
    .insertInto("settlement_transitions")
    .columns(["settlement_id", "version", "from_status", "to_status", "error_code", "tx_hash"])
    .expression((from) =>
      from
        .selectFrom("moved")
        .select(["id", "version", sql<string>`${settlement.status}`.as("from_status"), "status"])
        .select(["error_code", sql<string | null>`${txHash}::text`.as("tx_hash")]),
    )
    .executeTakeFirst();
  if (result.numInsertedOrUpdatedRows !== 1n) return false;
  const data: StatusChangedData = {
    queueItemId: settlement.id,
    chainId: settlement.chainId,
    tokenAddress: deps.displayAddress(settlement.token),
    walletAddress: deps.displayAddress(settlement.wallet),
    status,
    prevStatus: settlement.status,
    phase: phaseOf(status),
    category: categoryOf(status),
    terminal: isTerminal(status),
    retryCount: change.retryCount ?? settlement.retryCount,
    txHash: txHash && displayTxHash(txHash),
    error: error ? { ...error, ...(error.details ? { details: { ...error.details } } : {}) } : null,
  };
  const { details } = await readDetails(tx, settlement.id, deps.displayAddress);
  await appendEvent(tx, deps.random, {
    integratorId: settlement.integratorId,
    type: "status_changed",
    data,
    details,
  });
  deps.metrics.eventsAppended.inc({ type: "status_changed" });
  const chain = chainLabel(settlement.chainId);
  deps.metrics.transitions.inc({ chain, status });
  if (status === "completed") {
    const seconds = (deps.clock.now() - settlement.createdAtMs) / 1_000;
    deps.metrics.settlementSeconds.observe({ chain, route: settlement.route ?? "none" }, seconds);
  }
  return true;
}
