/** Sender accounts, and their spending. */
import { sql } from "kysely";
import { type Address, toAddress } from "../core/hex.ts";
import { formatStamp } from "../core/stamp.ts";
import type { Db } from "../db/schema.ts";

/** A lane, and what its newest transactions cost. */
export interface LaneSpending {
  readonly chainId: number;
  readonly address: Address;
  readonly purpose: string;
  /** Base units of the chain's coin that a day costs, at the pace of the newest transactions; null without two of them. */
  readonly perDay: bigint | null;
}

/** Transactions of a lane whose cost counts. */
const NEWEST = 200;
const DAY_S = 86_400;

/** Lists the lanes that ever ran, with their spending. Lanes without nonces (Solana) have no pace. */
export async function listLaneSpending(db: Db, nowMs: number): Promise<readonly LaneSpending[]> {
  const { rows } = await sql<{
    chain_id: number;
    address: string;
    purpose: string;
    per_day: string | null;
  }>`
    select lanes.chain_id, lanes.address, lanes.purpose, spent.per_day::text
      from lanes left join lateral (
        select trunc(sum(gas_cost) * ${DAY_S}
                 / greatest(extract(epoch from ${formatStamp(nowMs)}::timestamptz - min(created_at)), 60)::numeric) as per_day
          from (select gas_cost, created_at from transactions
                 where chain_id = lanes.chain_id and lane = lanes.address and nonce is not null and gas_cost is not null
                 order by nonce desc limit ${NEWEST}) as newest
        having count(*) > 1
      ) as spent on true
     order by lanes.chain_id, lanes.purpose, lanes.address`.execute(db);
  return rows.map((row) => ({
    chainId: row.chain_id,
    address: toAddress(row.address),
    purpose: row.purpose,
    perDay: row.per_day === null ? null : BigInt(row.per_day),
  }));
}
