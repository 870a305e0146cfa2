/**
 * Details of settlements: the facts beside a `status_changed` event, from one statement. The fees are those that the triggers of
 * the ledger post for the same rows.
 */
import {
  DETAILS_DEPOSITS_MAX,
  type DetailsDeposit,
  type SettlementFees,
  type StatusChangedDetails,
} from "@sluice/sdk/wire";
import { sql } from "kysely";
import { displayTxHash } from "../core/base58.ts";
import { type Address, toAddress } from "../core/hex.ts";
import { gather } from "../db/gather.ts";
import type { Db, Tx } from "../db/schema.ts";

/** A deposit in the statement's answer. Numbers are text, since JSON has none of that size. */
export interface DepositRow {
  readonly id: string;
  readonly amount: string;
  readonly tx_hash: string | null;
  readonly sender: string | null;
  readonly block_number: string;
}

interface DetailsRow {
  readonly id: string;
  readonly address_id: string;
  readonly user_id: string;
  readonly label: string | null;
  readonly metadata: Readonly<Record<string, string>> | null;
  readonly status: string;
  readonly amount: string | null;
  readonly route: string | null;
  readonly swap_tx_hash: string | null;
  readonly dest_chain: number;
  readonly dest_wallet: string;
  readonly dest_token: string;
  readonly min_out: string | null;
  readonly swept_amount: string | null;
  readonly delivered_amount: string | null;
  readonly delivery_tx_hash: string | null;
  readonly fee_service: string | null;
  readonly fee_gas: string | null;
  readonly fee_bridge: string | null;
  readonly deposits: readonly DepositRow[] | null;
}

/** Details of a settlement, and the rows of the deposits that they list. */
export interface ReadDetails {
  readonly details: StatusChangedDetails;
  readonly rows: readonly DepositRow[];
  /** Amount that was swept; null before. */
  readonly sweptAmount: string | null;
}

/** Returns the details of a settlement. Assumes that it exists. */
export async function readDetails(
  db: Db | Tx,
  settlementId: string,
  display: (address: Address) => string,
): Promise<ReadDetails> {
  const row = await findRow(db, settlementId);
  if (!row) throw new RangeError(`expected the settlement ${settlementId}`);
  return describeDetails(row, display);
}

const findRow = gather(
  async (db, ids: readonly string[]) =>
    (await selectDetails(db, ids)).map((row) => [row.id, row] as const),
  (row) => row,
);

/** Returns the details of settlements by their ids, from one statement. */
export async function listDetails(
  db: Db | Tx,
  settlementIds: readonly string[],
  display: (address: Address) => string,
): Promise<ReadonlyMap<string, ReadDetails>> {
  const rows = await selectDetails(db, settlementIds);
  return new Map(rows.map((row) => [row.id, describeDetails(row, display)]));
}

async function selectDetails(
  db: Db | Tx,
  settlementIds: readonly string[],
): Promise<readonly DetailsRow[]> {
  // The fees: of a lock its own; of a bridge what was kept before the burn and after it; else what the sweep kept. Gas comes
  // first, the rest is the service's.
  const { rows } = await sql<DetailsRow>`
    select s.id, s.address_id, a.user_id, n.label, n.metadata, s.status,
           coalesce(s.swept_amount, s.planned_amount, s.amount)::text as amount, s.route, s.swap_tx_hash,
           a.dest_chain, a.dest_wallet, a.dest_token, s.min_out::text, s.delivered_amount::text, s.delivery_tx_hash,
           s.swept_amount::text,
           fees.service::text as fee_service, fees.gas::text as fee_gas, fees.bridge::text as fee_bridge, held.deposits
    from settlements s
    join addresses a on a.id = s.address_id
    left join address_notes n on n.address_id = s.address_id
    left join deliveries d on d.id = s.delivery_id
    left join lateral (
      select t.fee, t.bridge_fee from bridge_transfers t
      where t.settlement_id = s.id and t.state in ('delivered', 'final')
      order by t.created_at desc limit 1
    ) t on true
    left join lateral (select coalesce(s.swap_fee, s.swept_amount - s.delivered_amount) as own) kept
      on s.delivery_id is null and t.fee is null
    left join lateral (select coalesce(t.fee, kept.own) as total) taken on true
    left join lateral (
      select coalesce(d.fee_gas, least(coalesce(s.fee_flat, 0), taken.total)) as gas,
             coalesce(d.fee_service, taken.total - least(coalesce(s.fee_flat, 0), taken.total)) as service,
             coalesce(t.bridge_fee, 0) as bridge
    ) fees on true
    left join lateral (
      select json_agg(one) as deposits from (
        select id, amount::text, tx_hash, sender, block_number::text from deposits
        where settlement_id = s.id and orphaned_at is null
        order by settlement_id, block_number, log_index limit ${DETAILS_DEPOSITS_MAX + 1}
      ) one
    ) held on true
    where s.id = any(${[...settlementIds]}::uuid[])`.execute(db);
  return rows;
}

function describeDetails(row: DetailsRow, display: (address: Address) => string): ReadDetails {
  const show = (text: string) => display(toAddress(text));
  const deposits = row.deposits ?? [];
  const listed = deposits.slice(0, DETAILS_DEPOSITS_MAX);
  const details: StatusChangedDetails = {
    depositAddressId: row.address_id,
    userId: row.user_id,
    label: row.label,
    metadata: { ...row.metadata },
    settlementId: row.id,
    deposits: listed.map((one) => describeDeposit(one, display)),
    moreDeposits: deposits.length > DETAILS_DEPOSITS_MAX,
    amount: row.amount,
    // CAST: held by the column's check constraint.
    route: row.route as StatusChangedDetails["route"],
    sweepTxHash: row.swap_tx_hash && displayTxHash(row.swap_tx_hash),
    destChain: String(row.dest_chain),
    destWallet: show(row.dest_wallet),
    destToken: show(row.dest_token),
    promisedAmount: row.min_out,
    deliveredAmount: row.delivered_amount,
    deliveryTxHash: row.delivery_tx_hash && displayTxHash(row.delivery_tx_hash),
    fees: row.status === "completed" ? feesOf(row) : null,
  };
  return { details, rows: listed, sweptAmount: row.swept_amount };
}

/** Returns the fees of a completed settlement; null for one from before its parts were recorded. */
function feesOf(row: DetailsRow): SettlementFees | null {
  const { fee_service: service, fee_gas: gas, fee_bridge: bridge } = row;
  return service === null || gas === null ? null : { service, gas, bridge: bridge ?? "0" };
}

function describeDeposit(row: DepositRow, display: (address: Address) => string): DetailsDeposit {
  return {
    id: row.id,
    amount: row.amount,
    txHash: row.tx_hash && displayTxHash(row.tx_hash),
    sender: row.sender === null ? null : display(toAddress(row.sender)),
    blockNumber: Number(row.block_number),
  };
}
