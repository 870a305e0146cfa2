/** Creates settlements and changes their status. Nothing else writes that column. */
import {
  categoryOf,
  isTerminal,
  phaseOf,
  type SettlementStatus,
  type StatusChangedData,
} from "@sluice/sdk/wire";
import { sql } from "kysely";
import { assert } from "../../core/assert.ts";
import { displayTxHash } from "../../core/base58.ts";
import type { Address, TxHash } from "../../core/hex.ts";
import type { Clock, Random } from "../../core/ports.ts";
import { formatStamp } from "../../core/stamp.ts";
import { gatherCalls } from "../../db/gather.ts";
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

/** A settlement to create. */
export interface NewSettlement extends Holding {
  readonly integratorId: string;
  readonly addressId: string;
  /** Null on a chain where wallets are not deployed. */
  readonly walletDeployed: boolean | null;
  /** Base units, for display; null when no arrival was seen. */
  readonly amount: bigint | null;
}

/** Creates a settlement and returns its id. Appends no event. Assumes the lock of the holding. */
export async function insertSettlement(
  tx: Tx,
  deps: StoreDeps,
  settlement: NewSettlement,
): Promise<string> {
  const [id] = await insertSettlements(tx, deps, [settlement]);
  assert(id !== undefined, "each settlement has an id");
  return id;
}

/** Creates settlements and returns their ids, in order. Appends no events. Assumes the locks of the holdings. */
export async function insertSettlements(
  tx: Tx,
  { clock, random }: StoreDeps,
  settlements: readonly NewSettlement[],
): Promise<readonly string[]> {
  const now = formatStamp(clock.now());
  const rows = settlements.map((one, place) => {
    const status = firstStatus(one.walletDeployed);
    return {
      place,
      id: random.uuid(),
      integrator_id: one.integratorId,
      address_id: one.addressId,
      chain_id: one.chainId,
      wallet: one.wallet,
      token: one.token,
      status,
      step: status === "pending_deploy" ? "deploy" : "sweep",
      amount: one.amount?.toString() ?? null,
    };
  });
  // One after another in the order of their ids, so that two transactions never wait for each other.
  for (const id of [...new Set(rows.map((row) => row.integrator_id))].toSorted()) {
    await lockStamps(tx, id);
  }
  // The stamps of an integrator follow each other by a millisecond each.
  await sql`
    with given as materialized (
      select *, row_number() over (partition by integrator_id order by place) - 1 as turn
        from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as row (place integer, id uuid, integrator_id uuid,
          address_id uuid, chain_id integer, wallet text, token text, status text, step text, amount numeric)
    ), first as materialized (
      select owner.integrator_id, next_stamp((
               select created_at from settlements where settlements.integrator_id = owner.integrator_id
                order by created_at desc limit 1)) as stamp
        from (select distinct integrator_id from given) as owner
    )
    insert into "settlements" (id, integrator_id, address_id, chain_id, wallet, token, status, step, amount,
        next_check_at, created_at, updated_at)
    select given.id, given.integrator_id, address_id, chain_id, wallet, token, status, step, amount,
           ${now}::timestamptz, first.stamp + turn * interval '1 millisecond', ${now}::timestamptz
      from given join first on first.integrator_id = given.integrator_id
     order by place`.execute(tx);
  return rows.map(({ id }) => id);
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
  const isMoved = await move(tx, {
    settlement,
    status,
    txHash,
    columns: {
      ...columnsOf(change),
      error_code: error?.code,
      error_message: error?.message,
      error_retryable: error?.retryable,
      error_details: error?.details,
      updated_at: formatStamp(deps.clock.now()),
    },
  });
  if (!isMoved) return false;
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

/** A change of a status, with the other columns that change: null for null, and what is left out stays. */
interface Move {
  readonly settlement: Settlement;
  readonly status: SettlementStatus;
  readonly txHash: TxHash | null;
  readonly columns: Readonly<Record<string, unknown>>;
}

/**
 * Changes those of the settlements whose status and version are unchanged, with a row of history each, in one statement. Locks
 * them in the order of their ids. Of two changes of a settlement the first is made, since its version is another then.
 */
const move = gatherCalls(async (tx, moves: readonly Move[]): Promise<boolean[]> => {
  const first = new Map(moves.toReversed().map((one) => [one.settlement.id, one]));
  const all = [...first.values()];
  const { rows } = await sql<{ id: string }>`
    with "moved" as materialized (
      update "settlements" as changed
         set status = given.next, version = changed.version + 1, error_code = change ->> 'error_code',
             error_message = change ->> 'error_message', error_retryable = (change ->> 'error_retryable')::boolean,
             error_details = change -> 'error_details', updated_at = (change ->> 'updated_at')::timestamptz,
             step = coalesce(change ->> 'step', step), route = coalesce(change ->> 'route', route),
             route_contract = coalesce(change ->> 'route_contract', route_contract),
             deploys_sent = coalesce((change ->> 'deploys_sent')::integer, deploys_sent),
             sweeps_sent = coalesce((change ->> 'sweeps_sent')::integer, sweeps_sent),
             fee_bps = coalesce((change ->> 'fee_bps')::integer, fee_bps),
             fee_flat = coalesce((change ->> 'fee_flat')::numeric, fee_flat),
             fee_bridge = coalesce((change ->> 'fee_bridge')::numeric, fee_bridge),
             deploy_tx_hash = coalesce(change ->> 'deploy_tx_hash', deploy_tx_hash),
             swap_tx_hash = coalesce(change ->> 'swap_tx_hash', swap_tx_hash),
             delivery_tx_hash = coalesce(change ->> 'delivery_tx_hash', delivery_tx_hash),
             delivered_amount = coalesce((change ->> 'delivered_amount')::numeric, delivered_amount),
             retry_count = coalesce((change ->> 'retry_count')::integer, retry_count),
             attempts_used = coalesce((change ->> 'attempts_used')::integer, attempts_used),
             planned_amount = case when change ? 'planned_amount'
               then (change ->> 'planned_amount')::numeric else planned_amount end,
             planned_up_to = case when change ? 'planned_up_to'
               then (change ->> 'planned_up_to')::bigint else planned_up_to end,
             retry_at = case when change ? 'retry_at' then (change ->> 'retry_at')::timestamptz else retry_at end,
             next_check_at = case when change ? 'next_check_at'
               then (change ->> 'next_check_at')::timestamptz else next_check_at end
        from (select held.id as found, given.* from "settlements" as held
                join unnest(
                  ${all.map(({ settlement }) => settlement.id)}::uuid[],
                  ${all.map(({ settlement }) => settlement.version)}::integer[],
                  ${all.map(({ settlement }) => settlement.status)}::text[],
                  ${all.map(({ status }) => status)}::text[],
                  ${all.map(({ columns }) => toJson(columns))}::jsonb[],
                  ${all.map(({ txHash }) => txHash)}::text[]
                ) as given (of, seen, previous, next, change, hash)
                  on held.id = given.of and held.version = given.seen and held.status = given.previous
               order by held.id for update of held) as given
       where changed.id = given.found
      returning changed.id, changed.version, given.previous, changed.status, changed.error_code, given.hash
    )
    insert into "settlement_transitions" (settlement_id, version, from_status, to_status, error_code, tx_hash)
    select id, version, previous, status, error_code, hash from moved
    returning settlement_id as id`.execute(tx);
  const moved = new Set(rows.map(({ id }) => id));
  return moves.map((one) => first.get(one.settlement.id) === one && moved.has(one.settlement.id));
});

/** Whole numbers of any size are text. */
function toJson(columns: Readonly<Record<string, unknown>>): string {
  return JSON.stringify(columns, (_, value: unknown) =>
    typeof value === "bigint" ? value.toString() : value,
  );
}
