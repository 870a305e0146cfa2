/** How far scanners were behind the heads of their nodes, by minute, for charts. */
import { sql } from "kysely";
import { formatStamp } from "../core/stamp.ts";
import type { Db } from "../db/schema.ts";

const MINUTE_MS = 60_000;
/** The longest chart shows 30 days. */
const KEPT_MS = 31 * 24 * 60 * MINUTE_MS;

/** The most blocks that a scanner was behind in one span of time. */
export interface Lag {
  /** The span's place, counted from the oldest. */
  readonly place: number;
  readonly chainId: number;
  readonly blocks: number;
}

/** Records the most of a minute, and deletes what no chart of the chain shows any more. */
export async function recordLag(
  db: Db,
  {
    chainId,
    blocks,
    nowMs,
  }: {
    readonly chainId: number;
    readonly blocks: bigint;
    readonly nowMs: number;
  },
): Promise<void> {
  const minute = formatStamp(Math.floor(nowMs / MINUTE_MS) * MINUTE_MS);
  await sql`
    with old as(
      delete from scanner_lags where chain_id = ${chainId} and minute < ${formatStamp(nowMs - KEPT_MS)}
    )
    insert into scanner_lags as known (chain_id, minute, blocks) values (${chainId}, ${minute}, ${blocks})
    on conflict (chain_id, minute) do update set blocks = excluded.blocks
     where known.blocks < excluded.blocks`.execute(db);
}

/** Returns the most of each chain in spans of `spanMs` from `fromMs` on; none where no scanner ran. */
export async function listLags(
  db: Db,
  { fromMs, spanMs }: { readonly fromMs: number; readonly spanMs: number },
): Promise<readonly Lag[]> {
  const { rows } = await sql<{ place: number; chain_id: number; blocks: bigint }>`
    select floor((extract(epoch from minute) * 1000 - ${fromMs}::float8) / ${spanMs}::float8)::integer as place,
           chain_id, max(blocks) as blocks
      from scanner_lags where minute >= to_timestamp(${fromMs}::float8 / 1000)
     group by 1, 2`.execute(db);
  return rows.map(({ place, chain_id: chainId, blocks }) => ({
    place,
    chainId,
    blocks: Number(blocks),
  }));
}
