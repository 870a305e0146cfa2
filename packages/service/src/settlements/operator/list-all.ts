/** Lists the settlements of every integrator, for operators. */
import { type Expression, sql, type SqlBool } from "kysely";
import { type Address, toAddress, type TxHash } from "../../core/hex.ts";
import type { Db } from "../../db/schema.ts";
import { errorOf } from "../store/row.ts";
import type { SettlementError } from "../types.ts";

/** Filters of a page; undefined matches every settlement. */
export interface OperatorFilter {
  /** A status, or `open` for those that have not ended, or `failing` for those that are retried. */
  readonly status?: string | undefined;
  readonly integratorId?: string | undefined;
  readonly chainId?: number | undefined;
  readonly wallet?: Address | undefined;
  readonly userId?: string | undefined;
  /** Hash of a deposit, the sweep or the delivery. */
  readonly txHash?: TxHash | undefined;
  /** Amounts in base units, one per token: those of which a deposit has one. */
  readonly amounts?: readonly AmountOf[] | undefined;
}

/** An amount of a token, in base units. */
export interface AmountOf {
  readonly chainId: number;
  readonly token: Address;
  readonly amount: bigint;
}

/** A settlement in the list. */
export interface OperatorListed {
  readonly id: string;
  readonly status: string;
  readonly integrator: string;
  readonly chainId: number;
  readonly token: Address;
  /** Base units; null before anything was swept or planned. */
  readonly amount: bigint | null;
  readonly destChain: number;
  readonly wallet: Address;
  readonly userId: string;
  readonly error: SettlementError | null;
  readonly retryCount: number;
  readonly createdAt: string;
  readonly updatedAt: string;
}

/** Place in the list: creation time and id of the last settlement of a page. */
export interface OperatorCursor {
  readonly at: string;
  readonly id: string;
}

/**
 * Returns a page, newest first. Each integrator's newest are found by an index and merged, so that a page costs the same
 * whatever the history holds.
 */
export async function listAllSettlements(
  db: Db,
  {
    filter,
    limit,
    after,
  }: {
    readonly filter: OperatorFilter;
    readonly limit: number;
    readonly after?: OperatorCursor | undefined;
  },
): Promise<readonly OperatorListed[]> {
  const conditions = conditionsOf(filter, after);
  const all = sql.join(conditions, sql` and `);
  const { rows } = await sql<Row>`
    select found.*, integrators.name as integrator, addresses.dest_chain
      from integrators
      cross join lateral (
        select * from settlements s where s.integrator_id = integrators.id and ${all}
         order by s.created_at desc, s.id desc limit ${limit}) as found
      join addresses on addresses.id = found.address_id
     where ${filter.integratorId === undefined ? sql`true` : sql`integrators.id = ${filter.integratorId}`}
     order by found.created_at desc, found.id desc limit ${limit}`.execute(db);
  return rows.map((row) => ({
    id: row.id,
    status: row.status,
    integrator: row.integrator,
    chainId: row.chain_id,
    token: toAddress(row.token),
    amount: row.amount === null ? null : BigInt(row.amount),
    destChain: row.dest_chain,
    wallet: toAddress(row.wallet),
    userId: row.user_id,
    error: errorOf(row),
    retryCount: row.retry_count,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  }));
}

type Row = Parameters<typeof errorOf>[0] & {
  readonly id: string;
  readonly status: string;
  readonly integrator: string;
  readonly chain_id: number;
  readonly token: string;
  readonly amount: string | null;
  readonly dest_chain: number;
  readonly wallet: string;
  readonly user_id: string;
  readonly retry_count: number;
  readonly created_at: string;
  readonly updated_at: string;
};

const RETRIED = ["failed_deploy", "failed_swap", "failed_settle", "deferred"] as const;

function conditionsOf(
  { status, chainId, wallet, userId, txHash, amounts }: OperatorFilter,
  after: OperatorCursor | undefined,
): readonly Expression<SqlBool>[] {
  const conditions: Expression<SqlBool>[] = [sql<boolean>`true`];
  if (status === "open") {
    conditions.push(sql<boolean>`s.status not in ('completed', 'dead')`);
  } else if (status === "failing") {
    conditions.push(sql<boolean>`s.status in (${sql.join([...RETRIED])})`);
  } else if (status !== undefined) {
    conditions.push(sql<boolean>`s.status = ${status}`);
  }
  if (chainId !== undefined) conditions.push(sql<boolean>`s.chain_id = ${chainId}`);
  if (wallet !== undefined) conditions.push(sql<boolean>`s.wallet = ${wallet}`);
  if (userId !== undefined) conditions.push(sql<boolean>`s.user_id = ${userId}`);
  if (txHash !== undefined) {
    // A union, so that each part is found by its index.
    conditions.push(sql<boolean>`s.id in (
      select id from settlements where integrator_id = integrators.id and swap_tx_hash = ${txHash}
      union all
      select id from settlements where integrator_id = integrators.id and delivery_tx_hash = ${txHash}
      union all
      select settlement_id from deposits where integrator_id = integrators.id and tx_hash = ${txHash})`);
  }
  if (amounts !== undefined) {
    const alternatives = amounts.map(
      (of) =>
        sql<boolean>`(amount = ${of.amount} and chain_id = ${of.chainId} and token = ${of.token})`,
    );
    conditions.push(sql<boolean>`s.id in (
      select settlement_id from deposits
       where integrator_id = integrators.id
         and (${sql.join([sql<boolean>`false`, ...alternatives], sql` or `)}))`);
  }
  if (after !== undefined) {
    conditions.push(
      sql<boolean>`(s.created_at, s.id) < (${after.at}::timestamptz, ${after.id}::uuid)`,
    );
  }
  return conditions;
}
