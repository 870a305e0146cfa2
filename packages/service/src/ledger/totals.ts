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
/** Lines of one statement, which ends long before the timeout of statements. */
const LINES_AT_ONCE = 200_000n;

type Sums = ReadonlyMap<string, Total>;

/** The sums of the lines up to an id, begun at a time. */
interface Kept {
  readonly until: bigint;
  readonly atMs: number;
  readonly sums: Sums;
}

/**
 * Creates the reader of the totals. The first read adds up the whole ledger, in parts, and remembers the sums of older lines:
 * further reads only add the lines since. Totals of zero are left out.
 */
export function createTotals({
  db,
  clock,
  linesAtOnce = LINES_AT_ONCE,
}: {
  readonly db: Db;
  readonly clock: Clock;
  readonly linesAtOnce?: bigint;
}): { read(): Promise<readonly Total[]> } {
  let kept: Kept = { until: 0n, atMs: clock.now(), sums: new Map() };
  let reading: Promise<readonly Total[]> | undefined;

  async function readOnce(): Promise<readonly Total[]> {
    const nowMs = clock.now();
    if (nowMs - kept.atMs > ANEW_MS) kept = { until: 0n, atMs: nowMs, sums: new Map() };
    const settled = await findSettled(db, kept.until, nowMs);
    // The parts that were added up stay, also where a later part fails.
    while (kept.until < settled) {
      const end = kept.until + linesAtOnce;
      const until = end < settled ? end : settled;
      kept = { ...kept, until, sums: await addLines(db, kept.sums, { after: kept.until, until }) };
    }
    const sums = await addLines(db, kept.sums, { after: kept.until, until: null });
    return [...sums]
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .flatMap(([, total]) => (total.amount === 0n ? [] : [total]));
  }

  return {
    // Reads at the same time are one: two would add the same lines twice.
    read: () =>
      (reading ??= readOnce().finally(() => {
        reading = undefined;
      })),
  };
}

/** Returns the newest line that is old enough for all before it to be committed. */
async function findSettled(db: Db, after: bigint, nowMs: number): Promise<bigint> {
  const { rows } = await sql<{ id: bigint | null }>`
    select max(id) as id from ledger_lines
     where id > ${after} and at < to_timestamp(${nowMs - SETTLED_MS}::float8 / 1000)`.execute(db);
  return BigInt(rows[0]?.id ?? after);
}

/** Adds the lines after an id, up to another one or all, to sums. */
async function addLines(
  db: Db,
  sums: Sums,
  { after, until }: { readonly after: bigint; readonly until: bigint | null },
): Promise<Sums> {
  const { rows } = await sql<{
    chain_id: number;
    account: string;
    token: string;
    amount: string;
  }>`
    select chain_id, account, token, sum(amount)::text as amount from ledger_lines
     where id > ${after} and (${until}::bigint is null or id <= ${until}) group by 1, 2, 3`.execute(
    db,
  );
  const added = new Map(sums);
  for (const { chain_id: chainId, account, token, amount } of rows) {
    const key = `${chainId} ${account} ${token}`;
    const before = added.get(key)?.amount ?? 0n;
    added.set(key, { chainId, account, token, amount: before + BigInt(amount) });
  }
  return added;
}
