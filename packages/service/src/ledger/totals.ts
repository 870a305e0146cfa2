/** What each account of the ledger holds. */
import { sql } from "kysely";
import type { Clock } from "../core/ports.ts";
import type { Db } from "../db/schema.ts";

/** The balance of one kind of account in one token, in base units; below zero where the account gave. */
export interface Total {
  readonly chainId: number;
  readonly account: string;
  readonly token: string;
  readonly amount: bigint;
}

/** Lines are committed within this time after they were written. */
const SETTLED_MS = 600_000;
/** After this time everything is added up again. */
const ANEW_MS = 86_400_000;

/**
 * Creates the reader of the totals. The first read adds up the whole ledger, and remembers the sums of older lines: further
 * reads only add the lines since. Totals of zero are left out.
 */
export function createTotals({ db, clock }: { readonly db: Db; readonly clock: Clock }): {
  read(): Promise<readonly Total[]>;
} {
  let kept = { until: 0n, atMs: clock.now(), sums: new Map<string, Total>() };
  return {
    async read() {
      const nowMs = clock.now();
      if (nowMs - kept.atMs > ANEW_MS) kept = { until: 0n, atMs: nowMs, sums: new Map() };
      const { rows } = await sql<{
        is_settled: boolean;
        newest: bigint;
        chain_id: number;
        account: string;
        token: string;
        amount: string;
      }>`
        with settled as(
          select coalesce(max(id), ${kept.until}::bigint) as id from ledger_lines
           where id > ${kept.until} and at < to_timestamp(${nowMs - SETTLED_MS}::float8 / 1000)
        )
        select l.id <= settled.id as is_settled, settled.id as newest, chain_id, account, token,
               sum(amount)::text as amount
          from settled, ledger_lines l where l.id > ${kept.until} group by 1, 2, 3, 4, 5`.execute(
        db,
      );
      const sums = new Map(kept.sums);
      const open = rows.filter((row) => !row.is_settled);
      for (const row of rows.filter((one) => one.is_settled)) add(sums, row);
      const until = rows[0]?.newest ?? kept.until;
      kept = { ...kept, until: BigInt(until), sums: new Map(sums) };
      for (const row of open) add(sums, row);
      return [...sums]
        .toSorted(([a], [b]) => (a < b ? -1 : 1))
        .flatMap(([, total]) => (total.amount === 0n ? [] : [total]));
    },
  };
}

function add(
  sums: Map<string, Total>,
  row: {
    readonly chain_id: number;
    readonly account: string;
    readonly token: string;
    readonly amount: string;
  },
): void {
  const { chain_id: chainId, account, token } = row;
  const key = `${chainId} ${account} ${token}`;
  const before = sums.get(key)?.amount ?? 0n;
  sums.set(key, { chainId, account, token, amount: before + BigInt(row.amount) });
}
