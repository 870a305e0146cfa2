/** Fees that the operator earned, over time. */
import { sql } from "kysely";
import type { Address } from "../core/hex.ts";
import type { Db } from "../db/schema.ts";

/** Fees of one token in one span of time, in base units. */
export interface Earned {
  /** The span's place, counted from the oldest. */
  readonly place: number;
  readonly chainId: number;
  readonly token: string;
  readonly amount: bigint;
}

/** Sums what settlements paid for service and gas, by token, in spans of `spanMs` from `fromMs` on. */
export async function listEarned(
  db: Db,
  { fromMs, spanMs }: { readonly fromMs: number; readonly spanMs: number },
): Promise<readonly Earned[]> {
  const { rows } = await sql<{ place: number; chain_id: number; token: string; amount: string }>`
    select floor((extract(epoch from at) * 1000 - ${fromMs}::float8) / ${spanMs}::float8)::integer as place,
           chain_id, token, sum(amount)::text as amount
      from ledger_lines
     where account = 'fees' and owner in ('service', 'gas') and at >= to_timestamp(${fromMs}::float8 / 1000)
     group by 1, 2, 3`.execute(db);
  return rows.map(({ place, chain_id: chainId, token, amount }) => ({
    place,
    chainId,
    token,
    amount: BigInt(amount),
  }));
}

/** Sums what settlements paid for service and gas in a token since the beginning, in base units. */
export async function sumFees(
  db: Db,
  { chainId, token }: { readonly chainId: number; readonly token: Address },
): Promise<bigint> {
  const { total } = await db
    .selectFrom("ledger_lines")
    .select(sql<string>`coalesce(sum(amount), 0)::text`.as("total"))
    .where("chain_id", "=", chainId)
    .where("account", "=", "fees")
    .where("owner", "in", ["service", "gas"])
    .where("token", "=", token)
    .executeTakeFirstOrThrow();
  return BigInt(total);
}
