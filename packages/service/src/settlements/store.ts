import { type Selectable, sql } from "kysely";
import {
  categoryOf,
  type ErrorCode,
  isTerminal,
  phaseOf,
  type SettlementStatus,
  type StatusChangedData,
} from "@sluice/sdk/wire";
import { assert } from "../core/assert.ts";
import { kindOfChain } from "../core/chain-registry.ts";
import { displayTxHash } from "../core/base58.ts";
import { type Address, toAddress, toHex32, toTxHash, type TxHash } from "../core/hex.ts";
import type { Clock, Random } from "../core/ports.ts";
import { formatStamp } from "../core/stamp.ts";
import type { Db, SettlementsTable, Tx } from "../db/schema.ts";
import { appendEvent, lockStamps } from "../events/index.ts";
import { chainLabel, type Metrics } from "../telemetry/metrics.ts";
import { type FeeTerms, TOO_SMALL_FOR_FEES } from "../fees/index.ts";
import type { Reservation, RouteKind, Sweep } from "../routes/index.ts";
import { firstStatus, LIFECYCLE, type Trigger } from "./lifecycle.ts";
import type { Settlement, SettlementError, Step } from "./types.ts";

export interface StoreDeps {
  readonly clock: Clock;
  readonly random: Random;
  /** How an address is written on the wire. */
  readonly displayAddress: (address: Address) => string;
  readonly metrics: Metrics;
}

/** One asset in one wallet. */
export interface Holding {
  readonly chainId: number;
  readonly wallet: Address;
  readonly token: Address;
}

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

/** Creates a settlement, without an event: there is no status before the first. The caller holds the holding. */
export async function insertSettlement(
  tx: Tx,
  deps: StoreDeps,
  settlement: Holding & {
    readonly integratorId: string;
    readonly addressId: string;
    readonly walletDeployed: boolean;
    /** For display; null where nothing was seen to arrive. */
    readonly amount: bigint | null;
  },
): Promise<string> {
  const { clock, random } = deps;
  const id = random.uuid();
  const now = formatStamp(clock.now());
  const status = firstStatus(kindOfChain(settlement.chainId), settlement.walletDeployed);
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

/** What a transition changes besides the status. */
export interface Change {
  readonly step?: Step;
  readonly route?: RouteKind;
  readonly routeContract?: Address;
  readonly deploysSent?: number;
  readonly sweepsSent?: number;
  readonly plannedAmount?: bigint | null;
  readonly fee?: FeeTerms;
  readonly deployTxHash?: TxHash;
  readonly swapTxHash?: TxHash;
  readonly deliveryTxHash?: TxHash;
  readonly deliveredAmount?: bigint;
  readonly retryCount?: number;
  readonly attemptsUsed?: number;
  readonly retryAtMs?: number | null;
  readonly nextCheckAtMs?: number | null;
}

/**
 * The only way a status changes: compare-and-set on status and version, a row of history, and the event, in the
 * caller's transaction, whose last statement this should be. Returns false, with nothing written, when somebody else
 * changed the settlement since it was read; the caller then looks again.
 */
export async function transition(
  tx: Tx,
  deps: StoreDeps,
  settlement: Settlement,
  args: {
    readonly trigger: Trigger;
    readonly change?: Change;
    readonly error?: SettlementError;
    /** The transaction that the event names, where the interface names one. */
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
    .executeTakeFirst();
  if (result.numUpdatedRows !== 1n) return false;
  await tx
    .insertInto("settlement_transitions")
    .values({
      settlement_id: settlement.id,
      version: settlement.version + 1,
      from_status: settlement.status,
      to_status: status,
      error_code: error?.code ?? null,
      tx_hash: txHash,
    })
    .execute();
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
  await appendEvent(tx, deps.random, {
    integratorId: settlement.integratorId,
    type: "status_changed",
    data,
  });
  deps.metrics.eventsAppended.inc({ type: "status_changed" });
  deps.metrics.transitions.inc({ chain: chainLabel(settlement.chainId), status });
  return true;
}

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
export async function noteSwapTransaction(
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

/** Completed settlements whose sweep is not known to be final, the longest untouched first. */
export async function listToFollow(db: Db, limit: number): Promise<Settlement[]> {
  const rows = await db
    .selectFrom("settlements")
    .selectAll()
    .where("status", "=", "completed")
    .where("sweep_final", "=", false)
    .orderBy("updated_at")
    .limit(limit)
    .execute();
  return rows.map(parseSettlement);
}

/** Settlements that wait for inventory and are not due yet, the longest waiting first. */
export async function listWaitingForInventory(
  db: Db,
  args: { readonly nowMs: number; readonly limit: number },
): Promise<Settlement[]> {
  const rows = await db
    .selectFrom("settlements")
    .selectAll()
    .where("status", "in", ["failed_swap", "failed_settle", "deferred"])
    .where("step", "=", "sweep")
    .where("error_code", "=", "INSUFFICIENT_BALANCE")
    .where(sql<string>`error_details ->> 'reason'`, "in", WAITS_FOR_INVENTORY)
    .where("retry_at", ">", formatStamp(args.nowMs))
    .orderBy("created_at")
    .limit(args.limit)
    .execute();
  return rows.map(parseSettlement);
}

const WAITS_FOR_INVENTORY = ["inventory_too_low", "daily_cap_reached"] satisfies Reservation[];

/** Settlements that wait until gas costs less and are not due yet, the longest waiting first. */
export async function listWaitingForGas(
  db: Db,
  args: { readonly nowMs: number; readonly limit: number },
): Promise<Settlement[]> {
  const rows = await db
    .selectFrom("settlements")
    .selectAll()
    .where("status", "in", ["failed_deploy", "failed_swap", "failed_settle", "deferred"])
    .where("step", "in", ["deploy", "sweep"])
    .where((eb) =>
      eb.or([
        eb("error_code", "=", "FEE_NOT_COVERED"),
        eb.and([
          eb("error_code", "=", "AMOUNT_TOO_SMALL"),
          eb(sql<string>`error_details ->> 'reason'`, "=", TOO_SMALL_FOR_FEES),
        ]),
      ]),
    )
    .where("retry_at", ">", formatStamp(args.nowMs))
    .orderBy("created_at")
    .limit(args.limit)
    .execute();
  return rows.map(parseSettlement);
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

/** Takes settlements of a chain that are due, and puts them off by `leaseMs` so that no other worker takes them meanwhile. */
export async function claimDue(
  db: Db,
  args: {
    readonly chainId: number;
    readonly nowMs: number;
    readonly leaseMs: number;
    readonly limit: number;
  },
): Promise<string[]> {
  const rows = await db
    .updateTable("settlements")
    .set({ next_check_at: formatStamp(args.nowMs + args.leaseMs) })
    .where("id", "in", (due) =>
      due
        .selectFrom("settlements")
        .select("id")
        .where("chain_id", "=", args.chainId)
        .where("status", "not in", ["completed", "dead"])
        .where("next_check_at", "<=", formatStamp(args.nowMs))
        .orderBy("next_check_at")
        .limit(args.limit)
        .forUpdate()
        .skipLocked(),
    )
    .returning("id")
    .execute();
  return rows.map((row) => row.id);
}

/** Says when to look again; does not count as a change. */
export async function putOff(db: Db | Tx, id: string, atMs: number): Promise<void> {
  await db
    .updateTable("settlements")
    .set({ next_check_at: formatStamp(atMs) })
    .where("id", "=", id)
    .where("status", "not in", ["completed", "dead"])
    .execute();
}

/** Has a settlement tried again at once: what it waited for may have changed. */
export async function hurry(tx: Tx, id: string, nowMs: number): Promise<void> {
  await tx
    .updateTable("settlements")
    .set({ next_check_at: formatStamp(nowMs), retry_at: null })
    .where("id", "=", id)
    .where("status", "not in", ["completed", "dead"])
    .execute();
}

/** The error of a failing, deferred or dead settlement; null of any other. */
export async function getError(db: Db | Tx, id: string): Promise<SettlementError | null> {
  const row = await db
    .selectFrom("settlements")
    .select(["error_code", "error_message", "error_retryable", "error_details"])
    .where("id", "=", id)
    .executeTakeFirstOrThrow();
  if (row.error_code === null) return null;
  return {
    // CAST: written from an operating error, whose code is of the closed set.
    code: row.error_code as ErrorCode,
    message: row.error_message ?? "",
    retryable: row.error_retryable ?? false,
    ...(row.error_details === null ? {} : { details: row.error_details }),
  };
}

/** A settlement that ended without moving its deposits. */
export interface DeadSettlement extends Holding {
  readonly id: string;
  /** Since when it is dead, or when an operator last did something about it. */
  readonly sinceMs: number;
}

/** Dead settlements whose deposits may have been refunded and that are to be looked at. */
export async function listDeadDue(
  db: Db,
  args: { readonly nowMs: number; readonly limit: number },
): Promise<DeadSettlement[]> {
  const rows = await db
    .selectFrom("settlements")
    .select(["id", "chain_id", "wallet", "token", "updated_at"])
    .select((eb) =>
      eb
        .selectFrom("operator_actions")
        .whereRef("settlement_id", "=", "settlements.id")
        .select((inner) => inner.fn.max("at").as("at"))
        .as("acted_at"),
    )
    .where("status", "=", "dead")
    .where("next_check_at", "<=", formatStamp(args.nowMs))
    .orderBy("next_check_at")
    .limit(args.limit)
    .execute();
  return rows.map((row) => ({
    id: row.id,
    chainId: row.chain_id,
    wallet: toAddress(row.wallet),
    token: toAddress(row.token),
    sinceMs: Math.max(Date.parse(row.updated_at), Date.parse(row.acted_at ?? row.updated_at)),
  }));
}

/** Says when a dead settlement is next looked at for a refund; null for never. */
export async function watchForRefund(db: Db | Tx, id: string, atMs: number | null): Promise<void> {
  await db
    .updateTable("settlements")
    .set({ next_check_at: atMs === null ? null : formatStamp(atMs) })
    .where("id", "=", id)
    .where("status", "=", "dead")
    .execute();
}

/** Notes that a dead settlement's deposits went back: the status is final, what is known about it is not. */
export async function recordRefunded(
  db: Db,
  id: string,
  refund: { readonly txHash: TxHash },
): Promise<void> {
  const details = JSON.stringify({ reason: "refunded", txHash: displayTxHash(refund.txHash) });
  await db
    .updateTable("settlements")
    .set({
      error_details: sql<string>`coalesce(error_details, '{}'::jsonb) || ${details}::jsonb`,
      next_check_at: null,
    })
    .where("id", "=", id)
    .where("status", "=", "dead")
    .execute();
}

function selectHolding(db: Db | Tx, holding: Holding) {
  return db
    .selectFrom("settlements")
    .selectAll()
    .where("chain_id", "=", holding.chainId)
    .where("wallet", "=", holding.wallet)
    .where("token", "=", holding.token);
}

function columnsOf(change: Change) {
  const stamp = (ms: number | null | undefined) =>
    ms === undefined ? undefined : ms === null ? null : formatStamp(ms);
  const columns = {
    step: change.step,
    route: change.route,
    route_contract: change.routeContract,
    deploys_sent: change.deploysSent,
    sweeps_sent: change.sweepsSent,
    planned_amount: change.plannedAmount,
    fee_bps: change.fee?.bps,
    fee_flat: change.fee?.flat,
    fee_bridge: change.fee?.bridge,
    deploy_tx_hash: change.deployTxHash,
    swap_tx_hash: change.swapTxHash,
    delivery_tx_hash: change.deliveryTxHash,
    delivered_amount: change.deliveredAmount,
    retry_count: change.retryCount,
    attempts_used: change.attemptsUsed,
    retry_at: stamp(change.retryAtMs),
    next_check_at: stamp(change.nextCheckAtMs),
  };
  // kysely leaves out what is undefined and writes null where null is given.
  return columns;
}

/** The three columns are null together. */
function feeOf(row: Selectable<SettlementsTable>): FeeTerms | null {
  const { fee_bps: bps, fee_flat: flat, fee_bridge: bridge } = row;
  if (bps === null || flat === null || bridge === null) return null;
  return { bps, flat: BigInt(flat), bridge: BigInt(bridge) };
}

function parseSettlement(row: Selectable<SettlementsTable>): Settlement {
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
